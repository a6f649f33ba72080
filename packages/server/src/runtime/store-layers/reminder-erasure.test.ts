import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { entryNumber, sessionId } from '#core/base/ids'
import { callKey } from '#core/session/step'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { openSqliteStore } from '#core/store/sqlite/open'
import { scheduleTool } from '../../tools/schedule/schedule.ts'
import { propagateErasure } from './erasure-propagation.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-reminders-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const WORD = 'QUARTZ'
const countTokens = () => 1
const ENGINES: readonly [string, () => Promise<Store>][] = [
  ['in memory', async () => openMemoryStore()],
  ['on SQLite', () => openSqliteStore({ path: join(folder, `${randomUUID()}.db`) })],
]

/** A conversation with a secret word and two reminders, one of which repeats the word. */
async function reminded(inner: Store) {
  const store = propagateErasure({ store: inner, countTokens })
  const fixture = await StoreFixture.open(store)
  const tool = scheduleTool({ store, countTokens, clock: systemClock, timezone: 'UTC' })
  await fixture.hear(`My word is ${WORD}.`)
  const plan = async (text: string, call: string) => {
    const { entry } = await fixture.reply(`"schedule" ${text}`, { calls: [call] })
    const key = callKey(fixture.id, entry, call)
    const input = { action: 'add', text, every_seconds: 3_600 }
    const asking = { sessionId: fixture.id, agent: 'ada', turn: 1, entry, key, input }
    await tool.run(asking, new AbortController().signal)
    await fixture.results(call)
    return entry
  }
  const entry = await plan(`Say ${WORD} aloud.`, 'c1')
  await plan('Water the plants.', 'c2')
  const schedules = await inner.listSchedules({ sessionId: fixture.id, limit: 9 })
  const tainted = schedules.find(({ body }) => body.includes(WORD))
  if (tainted === undefined) throw new Error('nothing was planned')
  let { dueAt } = tainted
  const fire = async () => {
    const fired = await inner.fireSchedule({ id: tainted.id, dueAt, nextDueAt: dueAt + 1_000 })
    dueAt += 1_000
    if (fired.kind !== 'fired') throw new Error(fired.kind)
    return fired.mail
  }
  return { fixture, fire, spoken: [entryNumber(1), entry] }
}

const tellingOf = async (store: Store, { id }: StoreFixture) => {
  const range = { sessionId: id, from: entryNumber(1), to: entryNumber(99) }
  const mail = await store.listMail({ sessionId: id, limit: LIST_MAX })
  const said = [await store.readEntries(range), mail, await store.listSchedules({ limit: 9 })]
  return { isTold: JSON.stringify(said).includes(WORD), mail }
}

describe.each(ENGINES)('a reminder that an entry requested, %s,', (engine, openStore) => {
  it('is erased with it, pending or sent; other reminders stay', async () => {
    const store = await openStore()
    const { fixture, fire, spoken } = await reminded(store)
    // One was sent and is in the transcript, one is in the mailbox.
    const [come] = await fixture.deliver(await fire())
    await fire()
    expect(await fixture.erase(spoken)).toMatchObject({ kind: 'erased' })
    const asked = (await tellingOf(store, fixture)).mail.filter(
      ({ control }) => control === 'erase',
    )
    expect(asked.map(({ body }) => JSON.parse(body ?? ''))).toEqual([
      { entries: [come], reason: 'a reminder of what was erased' },
    ])
    expect(await fixture.erase([come ?? entryNumber(1)])).toMatchObject({ kind: 'erased' })
    expect((await tellingOf(store, fixture)).isTold).toBe(false)
    const left = await store.listSchedules({ sessionId: fixture.id, limit: 9 })
    expect(left.map(({ state, body }) => [state, body.includes('plants')])).toEqual([
      ['waiting', true],
    ])
    expect(await store.verify({})).toEqual([])
    await store.close()
    if (engine === 'on SQLite') expect(filesThatHold(WORD)).toEqual([])
  })

  it('is erased with it however often it was sent', async () => {
    const store = await openStore()
    const { fixture, fire, spoken } = await reminded(store)
    const come: (number | undefined)[] = []
    for (let times = 0; times < 120; times++) come.push(...(await fixture.deliver(await fire())))
    await fixture.erase(spoken)
    const { mail } = await tellingOf(store, fixture)
    const asked = mail.filter(({ control }) => control === 'erase')
    const entries = asked.flatMap(({ body }): number[] => JSON.parse(body ?? '').entries)
    expect(entries.sort((a, b) => a - b)).toEqual(come)
    await store.close()
  })
})

describe('erasing reminders', () => {
  it('requests the erasure of sent reminders once, however often it is retried', async () => {
    const store = openMemoryStore()
    const { fixture, fire, spoken } = await reminded(store)
    await fixture.deliver(await fire())
    const torn = {
      ...fixture.fenced(),
      entries: spoken,
      reason: 'x',
      tail: { number: 1, hash: '' },
    }
    for (let times = 0; times < 3; times++) await fixture.store.eraseEntries(torn as never)
    const { mail } = await tellingOf(store, fixture)
    expect(mail.filter(({ control }) => control === 'erase')).toHaveLength(1)
  })

  it('leaves schedules of other conversations and of other calls alone', async () => {
    const store = openMemoryStore()
    const { fixture } = await reminded(store)
    const other = await reminded(store)
    await other.fixture.erase([entryNumber(1)])
    const states = async (id: string) =>
      (await store.listSchedules({ sessionId: sessionId(id), limit: 9 })).map((row) => row.state)
    expect(await states(fixture.id)).toEqual(['waiting', 'waiting'])
    expect(await states(other.fixture.id)).toEqual(['waiting', 'waiting'])
  })
})

function filesThatHold(word: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .filter((name) => readFileSync(join(folder, name), 'latin1').toUpperCase().includes(word))
}
