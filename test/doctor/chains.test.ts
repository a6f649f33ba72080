import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { Surveyor } from '../../packages/server/src/migration/hermes/diagnose/survey.ts'
import { followRule } from '../../packages/server/src/migration/hermes/findings/follow.ts'
import { traceLineage } from '../../packages/server/src/migration/hermes/findings/lineage.ts'
import { gatherChains } from '../../packages/server/src/migration/hermes/import/chains.ts'
import { readChains } from '../../packages/server/src/migration/hermes/import/read-chains.ts'
import { readSessions, scanMessages } from '../../packages/server/src/migration/hermes/read/rows.ts'
import { readSchema } from '../../packages/server/src/migration/hermes/read/schema.ts'
import { columnsOf, nameOf } from './homes/hermes-columns.ts'
import { HermesModel, writeStore } from './homes/hermes-model.ts'
import { Chance } from './homes/random.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-chains-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SHAPE = {
  version: 30,
  sessionColumns: new Set(columnsOf(30).sessions.map(nameOf)),
  messageColumns: new Set(columnsOf(30).messages.map(nameOf)),
  hasRouting: true,
}
const HOMES = 40
const SECONDS = 4_000

describe('the chains of an import', () => {
  it('are those of the survey, even if only rows name the session that another continues', async () => {
    const seen = { chains: 0, linked: 0, apart: 0 }
    for (let seed = 1; seed <= HOMES; seed++) {
      const path = join(folder, `${seed}.db`)
      writeStore(entangled(new Chance(seed)), SHAPE, path)
      const database = new DatabaseSync(path, { readOnly: true })
      const schema = readSchema(database, path)

      const surveyor = new Surveyor(readSessions(database, schema))
      const ids = new Map<string, number[]>()
      for (const row of scanMessages(database, schema, path)) {
        surveyor.take(row)
        ids.set(row.sessionId, [...(ids.get(row.sessionId) ?? []), row.id])
      }
      const { sessions, homeless } = surveyor.end()
      const lineage = traceLineage({ sessions, rule: followRule(schema), anyEnd: true })
      const expected = [...gatherChains({ sessions, homeless: homeless.keys(), lineage })]

      const request = { database, schema, path, rowCount: seed, onRows: () => {} }
      const { chains, rowIds } = await readChains(request)
      expect([...chains], `seed ${seed}`).toEqual(expected)
      for (const id of [...sessions.keys(), ...homeless.keys()]) {
        expect([...rowIds.of(id)], `seed ${seed}, ${id}`).toEqual(ids.get(id) ?? [])
      }
      database.close()

      seen.chains += expected.length
      for (const { session, carried } of sessions.values()) {
        if (carried.count > 0 && lineage.rootOf(session.id) !== session.id) seen.linked += 1
        else if (session.parentId !== null) seen.apart += 1
      }
    }
    expect(seen.chains).toBeGreaterThan(HOMES)
    expect(seen.linked).toBeGreaterThan(HOMES / 2)
    expect(seen.apart).toBeGreaterThan(HOMES)
  })
})

/** Sessions that begin at any time of their parent's life, some with rows of it, old ones too. */
function entangled(chance: Chance): HermesModel {
  const model = new HermesModel()
  const names = Array.from({ length: chance.between(2, 12) }, (_, index) => `s${index}`)
  for (const [index, id] of names.entries()) {
    const parentId = chance.holds(0.8) ? chance.pick(names.slice(0, index + 1)) : null
    model.open(id, chance.between(0, SECONDS), { parentId })
    if (chance.holds(0.7)) model.close(id, chance.between(0, SECONDS), 'compression')
  }
  const count = chance.pick([30, 300, 3_000])
  for (let at = 0; at < count; at++) {
    const id = chance.holds(0.02) ? 'nobody' : chance.pick(names)
    const parent = model.sessions.get(id)?.parentId
    // Of any age: the parent may have said much since.
    const old = chance.holds(60 / count) ? model.rows[chance.between(0, model.rows.length)] : null
    if (old !== null && old !== undefined && old.sessionId === parent) model.copy(id, old)
    else {
      const content = chance.holds(0.01) ? '[CONTEXT SUMMARY]: before' : `row ${at}`
      const row = model.append(id, { role: 'user', content, at: at + chance.next() })
      if (chance.holds(0.1)) row.active = 0
      if (chance.holds(0.1)) row.compacted = 1
    }
  }
  return model
}
