import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'

const examples = join(import.meta.dirname, '..', '..', 'examples')

/** Runs examples by name, each on a store of its own that is kept for its next run. */
export function exampleRunner(): (name: string, ...args: readonly string[]) => Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'throughline-examples-'))
  afterAll(() => rmSync(place, { recursive: true, force: true }))
  return async (name, ...args) => {
    const file = join(examples, `${name}.ts`)
    const database = join(place, `${name}.db`)
    const { stdout } = await promisify(execFile)(process.execPath, [file, database, ...args])
    return stdout
  }
}

/** What a stream of events says, joined over its pieces. */
export function joined(output: string, field: 'text' | 'delta'): string {
  const events = [...output.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json))
  return events.flatMap((event) => event[field] ?? []).join('')
}
