import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Stores that Hermes' own code wrote: 0.14.0 (schema 11) and 0.20.5 (schema 26). */
const FIXTURES = join(import.meta.dirname, '../fixtures/hermes')

export const SAMPLE_SCHEMAS = [11, 26] as const

export function unpackSample(schema: (typeof SAMPLE_SCHEMAS)[number], folder: string): string {
  const name = `state-schema${schema}.db`
  const path = join(folder, name)
  writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, `${name}.gz`))))
  return path
}

/** Lines that 0.20.5 wrote. */
export const TAG_DRIFT_LOG = join(FIXTURES, 'agent-0.20.5-tag-drift.log')
