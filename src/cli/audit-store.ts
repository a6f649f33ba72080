import { existsSync } from 'node:fs'
import type { Witness } from '../events/witness.ts'
import { Connection, translate } from '../store/sqlite/connection.ts'
import { Reader } from '../store/sqlite/reader.ts'
import { readSchema } from '../store/sqlite/schema.ts'
import { UsageError } from './exit.ts'

/** Read-only, and never made: an audit must not leave a trace in what it looks at. */
export function openWitness(path: string): Witness & { close(): void } {
  if (!existsSync(path)) throw new UsageError(`${path} cannot be read: there is no such file.`)
  try {
    checkSchema(path)
    const reader = new Reader(path)
    return {
      listSessions: async (query) => reader.read('listSessions', query) as never,
      readAudit: async (query) => reader.read('readAudit', query) as never,
      verify: async (query) => reader.read('verify', query) as never,
      close: () => reader.close(),
    }
  } catch (error) {
    throw translate(error, path)
  }
}

function checkSchema(path: string): void {
  const connection = new Connection(path, { readOnly: true, busyMs: 2_000 })
  try {
    if (readSchema(connection.database, path) > 0) return
    throw new UsageError(`${path} holds no store: it is empty.`)
  } finally {
    connection.close()
  }
}
