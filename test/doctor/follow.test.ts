import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { repairHermes } from '../../packages/server/src/migration/hermes/repair/repair.ts'
import { EmptyHome } from './homes/empty-home.ts'
import { Chance } from './homes/random.ts'
import { bring } from './judges/bring.ts'
import { hermesTip, isClosedToWriters } from './judges/follow-rules.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-follow-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const HANDOFF = '[CONTEXT COMPACTION — REFERENCE ONLY] so far'
const FORKS = 12

/** A session that compaction closed, and children of every kind behind it. */
function writeFork(schema: number, seed: number): EmptyHome {
  const chance = new Chance(seed)
  const home = new EmptyHome(folder, schema)
  const start = 1_790_000_000
  home.session('root', { started_at: start, ended_at: start + 100, end_reason: 'compression' })
  for (let row = 0; row < 4; row++) home.row('root', 'user', `said ${row}`, start + row * 10)
  const names = Array.from({ length: chance.between(2, 5) }, (_, index) => `child${index}`)
  for (const [index, id] of names.entries()) {
    const parent = index > 2 && chance.holds(0.4) ? chance.pick(names.slice(0, index)) : 'root'
    const began = start + 100 + chance.between(0, 50) + chance.next()
    const end = chance.pick([null, null, 'compression', 'idle', 'ws_orphan_reap'])
    home.session(id, {
      ...{ parent_session_id: parent, started_at: began, end_reason: end },
      ended_at: end === null ? null : began + 200,
      model_config: chance.holds(0.15) ? `{"_branched_from": "${parent}"}` : null,
      ...(schema === 26 &&
        chance.holds(0.3) && { last_activity_at: began + chance.between(0, 900) }),
    })
    if (chance.holds(0.2)) continue
    home.row(id, 'user', HANDOFF, began + 0.5)
    for (let row = chance.between(0, 6); row > 0; row--) {
      home.row(id, 'user', `${id} ${row}`, began + 1 + chance.between(0, 300))
    }
  }
  return home
}

describe('after a compaction that went two ways', () => {
  it.each([11, 16, 26])(
    'says where Hermes of schema %i goes on, and repair agrees with it',
    async (schema) => {
      let forks = 0
      for (let seed = 1; seed <= FORKS; seed++) {
        const home = writeFork(schema, seed)
        const { path } = home
        home.close()
        const { profiles } = await diagnoseHermes(path)
        for (const { kind, facts, advice } of profiles[0]?.findings ?? []) {
          if (kind !== 'fork') continue
          forks += 1
          const tip = hermesTip(path, String(facts['parent']))
          expect([seed, facts['tip'], advice]).toEqual([
            seed,
            tip,
            expect.stringContaining(`Hermes follows ${tip}.`),
          ])
        }
        const to = join(folder, `repaired-${schema}-${seed}.db`)
        const { changes, left } = await repairHermes({ path, to })
        const closed = changes.flatMap((one) =>
          one.kind === 'branch-closed' || one.kind === 'shell-closed' ? [one.sessionId] : [],
        )
        const tip = hermesTip(to, 'root')
        expect([seed, closed.includes(tip), isClosedToWriters(to, tip)]).toEqual([
          seed,
          false,
          false,
        ])
        expect([seed, left.filter(({ kind }) => kind === 'fork')]).toEqual([seed, []])
      }
      expect(forks).toBeGreaterThan(FORKS / 3)
    },
  )
})

describe('a healthy store of 0.14', () => {
  it('may hold delegates without a mark, that died early or began just before the closing', async () => {
    const home = new EmptyHome(folder, 11)
    const start = 1_790_000_000
    home.session('root', { started_at: start, ended_at: start + 100, end_reason: 'compression' })
    home.row('root', 'user', 'do it', start)
    home.session('next', { parent_session_id: 'root', started_at: start + 100.001 })
    home.row('next', 'user', HANDOFF, start + 100.002)
    home.row('next', 'user', 'go on', start + 150)
    home.session('died', { parent_session_id: 'root', started_at: start + 50 })
    home.session('late', { parent_session_id: 'root', started_at: start + 98 })
    home.row('late', 'user', 'read the file', start + 98.5)
    home.row('late', 'assistant', 'it says so', start + 130)
    home.close()
    const { profiles } = await diagnoseHermes(home.path)
    expect(profiles[0]?.findings.filter(isFault)).toEqual([])
    const to = join(folder, 'delegates.db')
    expect((await repairHermes({ path: home.path, to })).changes).toEqual([])
  })
})

describe('a next session that began before the closing', () => {
  it.each([
    [11, [{ kind: 'closing-moved', sessionId: 'root', next: 'next' }]],
    [26, []],
  ])('is found by Hermes of schema %i after the repair', async (schema, changes) => {
    const home = new EmptyHome(folder, schema)
    const start = 1_790_000_000
    home.session('root', { started_at: start, ended_at: start + 100, end_reason: 'compression' })
    home.row('root', 'user', 'do it', start)
    home.session('next', { parent_session_id: 'root', started_at: start + 99 })
    home.row('next', 'user', HANDOFF, start + 99.5)
    home.row('next', 'user', 'go on', start + 150)
    home.close()
    const to = join(folder, `early-${schema}.db`)
    const report = await repairHermes({ path: home.path, to })
    expect(report.changes).toEqual(changes)
    expect(report.left).toEqual([])
    expect(hermesTip(to, 'root')).toBe('next')
  })
})

describe('rows written after the closing', () => {
  it.each([
    [0, ['root'], 'Nothing continues it'],
    [1, ['root', 'next'], 'The conversation continues as next'],
  ])('are missing elsewhere: the next session has %i rows', async (rows, ids, words) => {
    const home = new EmptyHome(folder, 26)
    const start = 1_790_000_000
    home.session('root', { started_at: start, ended_at: start + 100, end_reason: 'compression' })
    home.row('root', 'user', 'do it', start)
    home.session('next', { parent_session_id: 'root', started_at: start + 100.1 })
    if (rows > 0) home.row('next', 'user', HANDOFF, start + 100.2)
    home.row('root', 'user', 'and this', start + 150)
    home.close()
    const { profiles } = await diagnoseHermes(home.path)
    const late = profiles[0]?.findings.find(({ kind }) => kind === 'rows-after-closing')
    expect(late?.sessionIds).toEqual(ids)
    expect(late?.explanation).toContain(words)
  })
})

describe('a closing before the beginning', () => {
  it.each([11, 26])(
    'is reported as impossible, and no row of schema %i as late',
    async (schema) => {
      const home = new EmptyHome(folder, schema)
      const start = 1_790_000_000
      home.session('root', { started_at: start, ended_at: start - 900, end_reason: 'compression' })
      home.session('next', { started_at: start + 100, parent_session_id: 'root' })
      for (const at of [10, 20]) home.row('root', 'user', `said at ${at}`, start + at)
      home.row('next', 'user', HANDOFF, start + 100.1)
      home.row('next', 'user', 'said at 20', start + 20)
      home.close()
      const { profiles } = await diagnoseHermes(home.path)
      const faults = profiles[0]?.findings.filter(isFault)
      expect(faults?.map(({ kind }) => kind)).toEqual(['odd-ending'])
      expect(faults?.[0]?.explanation).toContain('it ended before it began')
      const to = join(folder, `backwards-${schema}.db`)
      expect((await repairHermes({ path: home.path, to })).changes).toEqual([])
      const report = await bring(home.path, openMemoryStore())
      expect(report.profiles[0]?.rows).toMatchObject({ in: 4, brought: 3, copies: 1 })
      expect(report.profiles[0]?.conversations.map(({ restored }) => restored)).toEqual([[]])
    },
  )
})

describe('a circle of parents', () => {
  it('is found, and repaired so that Hermes can write again', async () => {
    for (const schema of [11, 26]) {
      const home = new EmptyHome(folder, schema)
      const closed = { end_reason: 'compression', ended_at: 1_790_000_900 }
      home.session('one', { started_at: 1_790_000_000, ...closed })
      home.session('two', { started_at: 1_790_000_900, parent_session_id: 'one', ...closed })
      home.session('own', { started_at: 1_790_000_000 })
      home.exec(`update sessions set parent_session_id = 'two' where id = 'one'`)
      home.exec(`update sessions set parent_session_id = 'own' where id = 'own'`)
      home.row('one', 'user', 'hello', 1_790_000_001)
      home.row('two', 'user', HANDOFF, 1_790_000_901)
      home.close()
      const { profiles } = await diagnoseHermes(home.path)
      const circles = profiles[0]?.findings.filter(({ kind }) => kind === 'parent-circle')
      expect(circles?.map(({ sessionIds }) => sessionIds)).toEqual([['one', 'two'], ['own']])
      const to = join(folder, `circle-${schema}.db`)
      const { left } = await repairHermes({ path: home.path, to })
      expect(left).toEqual([])
      expect(isClosedToWriters(to, hermesTip(to, 'one'))).toBe(false)
    }
  })
})

describe('what two sessions hold', () => {
  const start = 1_790_000_000
  const copied = (home: EmptyHome) => {
    for (const id of ['gone', 'next']) home.row(id, 'user', 'the last word', start + 20)
    home.row('next', 'assistant', 'and on', start + 60)
  }

  it('appears once if the first session is gone, or ended for another reason', async () => {
    for (const reason of [null, 'session_reset', 'ws_orphan_reap', 'gone']) {
      const home = new EmptyHome(folder, 26)
      if (reason !== 'gone') {
        const ended_at = reason === null ? null : start + 900
        home.session('gone', { started_at: start, end_reason: reason, ended_at })
      }
      home.session('next', { started_at: start + 50, parent_session_id: 'gone' })
      home.row('gone', 'user', 'the first word', start + 10)
      home.row('next', 'user', HANDOFF, start + 50)
      copied(home)
      home.close()
      const { profiles } = await bring(home.path, openMemoryStore())
      const [profile] = profiles
      expect([reason, profile?.conversations.map(({ ids }) => ids)]).toEqual([
        reason,
        [['gone', 'next']],
      ])
      expect(profile?.rows).toMatchObject({ in: 5, brought: 4, copies: 1, left: 0 })
    }
  })
})
