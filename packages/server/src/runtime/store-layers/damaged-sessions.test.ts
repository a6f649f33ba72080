import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { entryNumber, type SessionId, sessionId } from '#core/base/ids'
import { SILENT } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import { StoreFixture } from '#core/store/contract-suite/bench'
import {
  mailOf,
  open as openRuntime,
  say,
  soon,
} from '../../../../../test/support/runtime-place.ts'
import { byHand, sqlitePlace } from '../../../../../test/support/sqlite-place.ts'

import { DamagedSessions } from './damaged-sessions.ts'

const { newPath, open } = sqlitePlace()
const LIMITS = { hardTokens: 16_000, pinTokens: 1_000, handoffTokens: 1_000, inputTokens: 1_000 }
const limits = {
  ...LIMITS,
  stepTokens: 1_000,
  outputTokens: 1_000,
  laneMailMax: 9,
  sourceMailMax: 9,
}
const [harmed, sound] = [sessionId('harmed'), sessionId('sound')]
const HARM = `drop trigger entry_changes_by_erasure_only;
  update entry set body = replace(body, 'hello', 'jello') where id >> 31 = 1`
const DAMAGED = { code: 'damaged-row' }
const ALL = { from: entryNumber(1), to: entryNumber(9) }

/** A store with two sessions; the test can corrupt an answer of the first. */
async function kept() {
  const path = newPath()
  const store = await open(path)
  for (const id of [harmed, sound]) {
    const fixture = await StoreFixture.open(store, { id, agent: 'main', limits })
    await fixture.exchange('hi', 'hello')
    await store.retireRunner({ runner: fixture.lease.runner })
  }
  await store.close()
  return { path, harm: () => byHand(path, HARM) }
}

async function serve(store: Store) {
  const told: object[] = []
  const log = (facts: object, text: string) => text.endsWith(' is damaged') && told.push(facts)
  const logger = { debug: log, info: log, warn: log, error: log }
  const { runtime } = await openRuntime({ store, logger })
  const problems = async () => (await runtime.health()).problems
  const tell = (id: SessionId) => runtime.session(id).admit(say('Go on.', `key of ${id}`))
  return { runtime, told, problems, tell }
}

it.each([
  ['small', undefined],
  ['large', 2 ** 40],
])('a changed row beside the sessions of a %s store is known from the start', async (_, bytes) => {
  const { path } = await kept()
  const before = await open(path)
  await before.putNote({ agent: 'main', scope: '', id: 'tea', text: 'green tea', origin: null })
  await before.close()
  byHand(path, `update note set text = 'black tea'`)
  const store = await open(path)
  const sized = bytes === undefined ? store : { ...store, readSize: async () => bytes }
  const { told, problems } = await serve(sized)
  expect(await problems()).toEqual([expect.stringMatching(/^note main {2}tea is not as /)])
  expect(told).toHaveLength(1)
})

describe('a session with damaged data', () => {
  it.each([
    ['small', undefined],
    ['large', 2 ** 40],
  ])(
    'in a %s store is known from the start, and takes nothing; others go on [I26]',
    async (_, bytes) => {
      const { path, harm } = await kept()
      harm()
      const store = await open(path)
      const sized = bytes === undefined ? store : { ...store, readSize: async () => bytes }
      const { runtime, told, problems, tell } = await serve(sized)
      expect(await problems()).toEqual([
        expect.stringMatching(/^Session harmed is damaged: .*hash/),
      ])
      expect(told).toEqual([expect.objectContaining({ sessionId: harmed })])
      await expect(tell(harmed)).rejects.toMatchObject({
        ...DAMAGED,
        message: expect.stringMatching(
          /session harmed is damaged: (?:it|entry \d+) has a body that does not match its hash\./,
        ),
      })
      expect((await store.findSession(harmed))?.mail).toBe(1)
      const mail = mailOf(await tell(sound))
      expect(await runtime.session(sound).reply(mail, soon())).toBeTruthy()
      expect((await runtime.health()).isReady).toBe(true)
    },
  )

  it.each([
    ['erasing', 'small', undefined],
    ['erasing', 'large', 2 ** 40],
    ['gone', 'small', undefined],
    ['gone', 'large', 2 ** 40],
  ])(
    '%s by its row alone, in a %s store, is known from the start, and keeps its text [I26]',
    async (state, _, bytes) => {
      const { path } = await kept()
      byHand(path, `update session set state = '${state}' where n = 1`)
      const store = await open(path)
      const sized = bytes === undefined ? store : { ...store, readSize: async () => bytes }
      const { runtime, told, problems, tell } = await serve(sized)
      expect(await problems()).toEqual([
        expect.stringContaining(`Session harmed is damaged: session row says state ${state}, but `),
      ])
      expect(told).toEqual([expect.objectContaining({ sessionId: harmed })])
      await expect(tell(harmed)).rejects.toMatchObject(DAMAGED)
      const read = runtime.session(harmed).transcript({ from: 1, to: 9 })
      await expect(read).rejects.toMatchObject(DAMAGED)
      expect(await runtime.session(sound).transcript({ from: 1, to: 9 })).toHaveLength(3)
      byHand(path, `update session set state = 'open' where n = 1`)
      const entries = await store.readEntries({ sessionId: harmed, ...ALL })
      expect(entries.map(({ body }) => body !== null)).toEqual([true, true, true])
    },
  )

  it('behind what the start of a large store had time for is found in the background', async () => {
    const { path } = await kept()
    byHand(path, HARM.replace('id >> 31 = 1', 'id >> 31 = 2'))
    const damaged = new DamagedSessions(SILENT)
    const store = damaged.heard({ ...(await open(path)), readSize: async () => 2 ** 40 })
    let now = 0
    await damaged.check(store, { ...systemClock, monotonic: () => (now += 60_000) })
    expect(damaged.problems).toEqual([])
    await expect
      .poll(() => damaged.problems)
      .toEqual([expect.stringMatching(/^Session sound is damaged: .*hash/)])
    await damaged.close()
  })

  it('that is damaged later is detected by the first read, which is refused', async () => {
    const { path, harm } = await kept()
    const { runtime, told, problems, tell } = await serve(await open(path))
    expect(await problems()).toEqual([])
    harm()
    const read = () => runtime.session(harmed).transcript({ from: 1, to: 9 })
    await expect(read()).rejects.toMatchObject(DAMAGED)
    await expect(read()).rejects.toMatchObject(DAMAGED)
    await expect(tell(harmed)).rejects.toMatchObject(DAMAGED)
    expect(await problems()).toHaveLength(1)
    expect(told).toHaveLength(1)
    expect(await runtime.session(sound).transcript({ from: 1, to: 9 })).toHaveLength(3)
  })

  it('stays in lists and hides no other session from a search', async () => {
    const { path, harm } = await kept()
    harm()
    const { runtime } = await serve(await open(path))
    const listed = await runtime.listSessions({ limit: 9 })
    expect(listed.map(({ id }) => id).sort()).toEqual([harmed, sound])
    const { found } = await runtime.search({ text: 'hello', limit: 9 })
    expect(found.map((hit) => hit.sessionId)).toEqual([sound])
  })
})
