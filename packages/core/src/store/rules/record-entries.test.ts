import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entryNumber, type SessionId } from '../../base/ids.ts'
import { ADOPT_MAX, RECORD_BYTES_MAX } from '../bounds.ts'
import type { Store } from '../contract.ts'
import { create, newOperation, StoreFixture, said } from '../contract-suite/bench.ts'
import { openMemoryStore } from '../memory/open.ts'
import type { RecordEntries, RecordedStep } from '../record-commits.ts'

let store: Store
beforeEach(() => {
  store = openMemoryStore()
})
afterEach(async () => await store.close())

const record = (id: SessionId, what: RecordEntries['what'], more: Partial<RecordEntries> = {}) =>
  store.recordEntries({
    ...{ sessionId: id, source: 'program', key: 'k', operation: newOperation(), what, ...more },
  })
const records = (...bodies: string[]) => ({ kind: 'records', bodies }) as const
const turn = (...steps: RecordedStep[]) => ({ kind: 'turn', steps }) as const
const QUESTION = { kind: 'input', body: said('Which?'), tokens: 3 } as const
const ANSWER = { kind: 'assistant', calls: [], body: said('This.'), tokens: 2 } as const
const read = async (id: SessionId) =>
  await store.readEntries({ sessionId: id, from: entryNumber(1), to: entryNumber(2_000) })

describe('recordEntries', () => {
  it('takes a thousand entries at once and no more', async () => {
    const id = await create(store)
    const bodies = Array.from({ length: ADOPT_MAX }, () => 'x')
    await expect(record(id, records(...bodies, 'x'))).rejects.toThrow(/1 to 1000 entries/)
    await expect(record(id, turn())).rejects.toThrow(/1 to 1000 entries/)
    expect(await record(id, records(...bodies))).toEqual({ kind: 'recorded', entry: 1 })
    expect((await store.findSession(id))?.tail).toBe(ADOPT_MAX)
  })

  it('refuses an oversized record and reports its size and the limit', async () => {
    const id = await create(store)
    const outcome = await record(id, records('x'.repeat(RECORD_BYTES_MAX)))
    expect(outcome).toMatchObject({ kind: 'too-large', limit: RECORD_BYTES_MAX })
    expect((await store.findSession(id))?.tail).toBe(0)
  })

  it('accepts records during a turn, but no second turn', async () => {
    const fixture = await StoreFixture.open(store)
    await fixture.hear('Do it.')
    expect(await record(fixture.id, turn(QUESTION, ANSWER))).toEqual({ kind: 'in-use' })
    expect(await record(fixture.id, records('a'))).toEqual({ kind: 'recorded', entry: 2 })
    const [, kept] = await read(fixture.id)
    expect(kept).toMatchObject({ kind: 'record', body: '"a"', tokens: 0 })
  })

  it('stores the key in the first record or in the end of the turn', async () => {
    const id = await create(store)
    expect(await record(id, records('a', 'b'))).toEqual({ kind: 'recorded', entry: 1 })
    expect(await record(id, turn(QUESTION, ANSWER), { key: 't' })).toEqual({
      ...{ kind: 'recorded', entry: 5 },
    })
    const carriers = (await read(id)).filter(({ meta }) => 'keyHash' in meta)
    expect(carriers.map(({ number }) => number)).toEqual([1, 5])
    expect(await record(id, records('a', 'b'))).toEqual({ kind: 'duplicate', entry: 1 })
    expect(await record(id, records('a', 'c'))).toEqual({ kind: 'conflict', entry: 1 })
    // Another program may use the same key.
    expect(await record(id, records('a'), { source: 'other' })).toEqual({
      ...{ kind: 'recorded', entry: 6 },
    })
  })

  it('reports no entry for a key that was used by mail', async () => {
    const fixture = await StoreFixture.open(store)
    await fixture.admit(said('hi'), { source: 'program', key: 'k' })
    expect(await record(fixture.id, records('a'))).toEqual({ kind: 'conflict', entry: 0 })
  })

  it('appends each step of a turn and numbers the next turn', async () => {
    const id = await create(store)
    const call = { ...ANSWER, calls: ['c'] }
    const result = { kind: 'result', call: 'c', outcome: 'error', body: 'no', tokens: 7 } as const
    await record(id, turn(QUESTION, call, result, ANSWER))
    await record(id, turn(QUESTION, ANSWER), { key: 'next' })
    const entries = (await read(id)).map(({ kind, meta, tokens }) => ({ kind, meta, tokens }))
    expect(entries).toMatchObject([
      { kind: 'input', meta: { lane: 'user', mail: 0, blobs: [] }, tokens: 3 },
      { kind: 'assistant', meta: { turn: 1, upto: 1, renderer: 'recorded', calls: ['c'] } },
      { kind: 'result', meta: { call: 'c', outcome: 'error', blobs: [] }, tokens: 7 },
      { kind: 'assistant', meta: { turn: 1, upto: 3, calls: [] }, tokens: 2 },
      { kind: 'turn', meta: { turn: 1, ended: 'answered' }, tokens: 0 },
      { kind: 'input' },
      { kind: 'assistant', meta: { turn: 2, upto: 6 } },
      { kind: 'turn', meta: { turn: 2 } },
    ])
    const row = await store.findSession(id)
    expect([row?.turn, row?.seen, row?.tail]).toEqual([2, 7, 8])
    const adopted = (await store.readAudit({ sessionId: id, after: 0, limit: 10 })).filter(
      ({ kind }) => kind === 'entries adopted',
    )
    expect(adopted.map(({ facts }) => facts)).toMatchObject([
      { from: 1, to: 5, turn: 1 },
      { from: 6, to: 8, turn: 2 },
    ])
  })

  it('uses staged blobs, and records nothing if one is missing', async () => {
    const id = await create(store)
    const blob = { sessionId: id, mediaType: 'a/b', bytes: new Uint8Array([1, 2]) }
    const staged = await store.stageBlob(blob)
    if (staged.kind !== 'staged') throw new Error(staged.kind)
    const shown = { ...QUESTION, blobs: [staged.hash] }
    const missing = '0'.repeat(64)
    const torn = await record(id, turn(shown, { ...ANSWER, blobs: [missing] }))
    expect(torn).toEqual({ kind: 'blob-missing', hash: missing })
    expect((await store.findSession(id))?.tail).toBe(0)
    expect(await record(id, turn(shown, ANSWER))).toEqual({ kind: 'recorded', entry: 3 })
    const [input] = await read(id)
    expect(input?.meta).toMatchObject({ blobs: [staged.hash] })
  })
})
