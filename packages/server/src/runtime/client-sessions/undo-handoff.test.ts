import { describe, expect, it } from 'vitest'
import { entryNumber } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import { openMemoryStore } from '#core/store/memory/open'
import {
  Client,
  compacted,
  compactions,
  entries,
  ID,
  LONG,
  recorder,
  WINDOW,
} from '../../../../../test/clients/recorded-client.ts'
import { until } from '../../../../../test/support/until.ts'
import { openRuntime } from '../open-runtime.ts'
import { undoHandoff } from './undo-handoff.ts'

/** As a person does who looks at the session now. */
async function undo(store: Store) {
  const { effective = entryNumber(0) } = (await store.findSession(ID)) ?? {}
  return await undoHandoff(store, ID, effective)
}

describe('the handoff of a client', () => {
  it('lists the handoffs of a client with their sizes, and reports what became of each message', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await compacted(client, store)
    const runtime = await openRuntime({ store, agents: [], runs: false, auxiliary: {} })
    const session = runtime.session(ID)
    const [made, ...others] = (await session.compactions({ limit: 9 })) ?? []
    expect(others).toEqual([])
    expect(made).toMatchObject({ state: 'committed', by: 'digest', trigger: 'background' })
    expect(made).toMatchObject({ isInEffect: true, isUndone: false, isAdopted: true, waitMs: 0 })
    expect(made?.spend).toMatchObject({ calls: 0 })
    const report = await session.compactionReport(entryNumber(made?.entry ?? 0))
    expect(report).toMatchObject({ by: 'digest', trigger: 'background', covers: made?.covers })
    expect(report?.tokensBefore).toBe(made?.tokensBefore)
    expect(report?.tokensAfter).toBe(made?.tokensAfter)
    expect(made?.tokensAfter).toBeLessThan(made?.tokensBefore ?? 0)
    const fates = new Set(report?.messages.map(({ fate }) => fate))
    expect([fates.has('kept'), fates.has('recallable'), fates.has('gone')]).toEqual([
      true,
      true,
      false,
    ])
    await runtime.close()
  })

  it('sends the whole history again once its handoff is undone, here and after a restart', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    expect(await compacted(client, store)).toContain('[handoff ')
    const undone = await undo(store)
    const made = (await entries(store)).find(({ kind }) => kind === 'compaction')
    expect(undone).toMatchObject({ kind: 'undone', compaction: made?.number })
    expect(await undo(store)).toMatchObject({ kind: 'refused' })
    // Over the threshold, and still no new handoff: the person wants the messages themselves.
    const whole = await client.turn('After', 'Yes', WINDOW * 0.8)
    expect(JSON.parse(whole).messages).toHaveLength(client.messages.length - 1)
    const again = new Client(recorder(store))
    again.messages = client.messages
    const later = await again.turn('And', 'so on', WINDOW * 0.8)
    expect(JSON.parse(later).messages).toHaveLength(client.messages.length - 1)
    await again.recorder.close()
    expect(await compactions(store)).toBe(1)
    expect(await store.verify({ sessionId: ID })).toEqual([])
  })

  it('sends the whole history when a request from before the undo is repeated', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await compacted(client, store)
    client.messages.push({ role: 'user', content: [{ type: 'text', text: 'Once more' }] })
    const before = await client.ask()
    expect(before.boundary).toBeGreaterThan(0)
    expect(await undo(store)).toMatchObject({ kind: 'undone' })
    const repeated = await client.ask()
    expect(repeated.boundary).toBe(0)
    expect(Buffer.concat([...repeated.send]).equals(client.body())).toBe(true)
  })

  it('drops a handoff that was being prepared while another one was undone', async () => {
    const store = openMemoryStore()
    const slow = Promise.withResolvers<never>()
    slow.promise.catch(() => {})
    let isSlow = false
    const summarize = () => (isSlow ? slow.promise : Promise.reject(new Error('none')))
    const client = new Client(recorder(store, { summarize }))
    await compacted(client, store)
    isSlow = true
    for (let at = 0; at < 3; at += 1) await client.turn(`More ${at}. ${LONG}`, `Answer ${at}.`)
    await client.turn('More', 'Yes', WINDOW * 0.7)
    const undone = await undo(store)
    slow.reject(new Error('none'))
    expect(undone).toMatchObject({ kind: 'undone' })
    await client.recorder.close()
    expect(await compactions(store)).toBe(1)
  })

  it('makes a new handoff when the history no longer fits after an undo', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await compacted(client, store)
    await undo(store)
    await client.turn('Almost', 'Yes', WINDOW * 0.91)
    const sent = await client.turn(`Too much. ${LONG}`, 'Yes')
    expect(sent).toContain('[handoff ')
    const runtime = await openRuntime({ store, agents: [], runs: false, auxiliary: {} })
    const made = await runtime.session(ID).compactions({ limit: 9 })
    expect(made?.map(({ isUndone, trigger }) => [isUndone, trigger])).toEqual([
      [false, 'preflight'],
      [true, 'background'],
    ])
    await runtime.close()
  })

  it('undoes only the handoff that was named, so that two people do not undo two', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await compacted(client, store)
    const older = (await store.findSession(ID))?.effective
    for (let at = 0; at < 4; at += 1) await client.turn(`More ${at}. ${LONG}`, `Answer ${at}.`)
    await client.turn('More', 'Yes', WINDOW)
    await until(async () => (await compactions(store)) === 2)
    const { effective = entryNumber(0) } = (await store.findSession(ID)) ?? {}
    expect(await undoHandoff(store, ID, effective)).toMatchObject({ kind: 'undone' })
    const late = await undoHandoff(store, ID, effective)
    expect(late).toMatchObject({ kind: 'refused', problem: expect.stringContaining('Someone') })
    expect((await store.findSession(ID))?.effective).toBe(older)
  })

  it('refuses an undo when the whole history does not fit the window', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await compacted(client, store)
    for (let at = 0; at < 30; at += 1) await client.turn(`More ${at}. ${LONG}`, `Answer ${at}.`)
    const { effective } = (await store.findSession(ID)) ?? {}
    expect(await undo(store)).toMatchObject({
      kind: 'refused',
      problem: expect.stringMatching(
        /would have about \d{1,3}(?:,\d{3})+ tokens, and the model's window has room/,
      ),
    })
    expect((await store.findSession(ID))?.effective).toBe(effective)
  })
})
