import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { generateHome } from './homes/generate.ts'
import { type StoreShape, writeStore } from './homes/hermes-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-columns-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Those that the doctor reads and a store of Hermes may lack. */
const COLUMNS = [
  ...['source', 'parent_session_id', 'ended_at', 'end_reason', 'model_config', 'session_key'].map(
    (name) => ['sessionColumns', name] as const,
  ),
  ...['tool_call_id', 'tool_calls', 'active', 'compacted', '_compressed_summary'].map(
    (name) => ['messageColumns', name] as const,
  ),
]
const homes = Array.from({ length: 24 }, (_, seed) => generateHome(seed, join(folder, `${seed}`)))

describe('a store that lacks a column', () => {
  it.each(COLUMNS)('lacking %s.%s leads to no finding', async (table, name) => {
    for (const home of homes) {
      const shape: StoreShape = {
        ...{ ...home.shape, hasIndex: false },
        [table]: new Set([...home.shape[table]].filter((column) => column !== name)),
      }
      writeStore(home.model, shape, join(home.path, 'state.db'))
      const { profiles } = await diagnoseHermes(home.path, { now: home.now })
      const expected = new Set<string>(home.expected.map(({ kind }) => kind))
      const invented = profiles.flatMap(({ findings }) =>
        findings.filter(
          ({ kind, severity, certainty }) =>
            severity !== 'note' && certainty === 'certain' && !expected.has(kind),
        ),
      )
      expect(invented.map(({ kind }) => [home.path, kind])).toEqual([])
      expect(profiles.map(({ store }) => store.kind)).toEqual(['read'])
    }
  })
})
