import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { configure, SqliteConnection } from './connection.ts'
import { pragma } from './schema.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-connection-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a writing connection', () => {
  it('syncs each commit, enforces foreign keys, and overwrites deleted data', () => {
    const connection = new SqliteConnection(join(folder, 'store.db'), {
      readOnly: false,
      busyMs: 0,
    })
    configure(connection, { readOnly: false })
    const read = (name: string) => pragma(connection.database, name)
    expect(read('journal_mode')).toBe('wal')
    // 2 is `full`: the WAL is synced before a commit returns.
    expect(read('synchronous')).toBe(2)
    expect(read('foreign_keys')).toBe(1)
    expect(read('secure_delete')).toBe(1)
    expect(read('trusted_schema')).toBe(0)
    expect(read('cell_size_check')).toBe(1)
    connection.close()
  })
})
