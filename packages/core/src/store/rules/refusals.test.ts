import { describe, expect, it } from 'vitest'
import { entryNumber, operationId, sessionId } from '../../base/ids.ts'
import type { StartAfresh } from '../commits.ts'
import type { Store } from '../contract.ts'
import { LIMITS, newOperation, StoreFixture, said } from '../contract-suite/bench.ts'
import { openMemoryStore } from '../memory/open.ts'

interface Given {
  readonly store: Store
  readonly fixture: StoreFixture
}

type Act = (given: Given) => Promise<unknown>

async function open(): Promise<Given> {
  const store = openMemoryStore()
  const route = { agent: 'ada', channel: 'chat', address: 'x' }
  const fixture = await StoreFixture.open(store, { route, id: sessionId('known') })
  return { store, fixture }
}

const HASH = 'a'.repeat(64)
const token = { id: 't', hash: HASH, principal: 'p', scopes: [], label: 'l', createdAt: 1 }
const putToken = { ...token, expiresAt: null }
const other = sessionId('other')
const note = { agent: 'ada', scope: 's', id: 'n', text: 'x', origin: null }

describe('a request that no caller may make', () => {
  const moment = 'The times of an access token must be whole numbers.'
  const schedule = { id: 's', sessionId: sessionId('known'), repeat: null, body: {}, tokens: 1 }
  it.each<[string, Act]>([
    ['There is no lane mail.', ({ fixture }) => fixture.tryAdmit({}, { lane: 'mail' as never })],
    [
      '`control` is required in the control lane and not allowed elsewhere.',
      ({ fixture }) => fixture.tryAdmit({}, { lane: 'control' }),
    ],
    [
      '`control` is required in the control lane and not allowed elsewhere.',
      ({ fixture }) => fixture.tryAdmit({}, { control: 'stop' }),
    ],
    [
      'The source and the key may have at most 512 characters.',
      ({ fixture }) => fixture.tryAdmit({}, { source: 'x'.repeat(513) }),
    ],
    [
      'The source and the key may have at most 512 characters.',
      ({ fixture }) => fixture.tryAdmit({}, { key: 'x'.repeat(513) }),
    ],
    [
      'tokens must be a whole number; found 0.5.',
      ({ fixture }) => fixture.tryAdmit({}, { tokens: 0.5 }),
    ],
    ['A delivery takes 1 to 256 items.', ({ fixture }) => fixture.deliver()],
    [
      'Erase 1 to 1000 entries at once.',
      ({ fixture }) => fixture.erase(Array.from({ length: 1_001 }, (_, at) => entryNumber(at + 1))),
    ],
    [
      'Two calls of one step have the same id.',
      async ({ fixture }) => {
        await fixture.hear('hello')
        await fixture.reply('hi', { calls: ['c', 'c'] })
      },
    ],
    [
      'An adoption takes 1 to 1000 entries.',
      ({ store, fixture }) => store.adoptEntries({ ...fixture.fenced(), entries: [] }),
    ],
    [moment, ({ store }) => store.putToken({ ...putToken, createdAt: 0.5 })],
    [moment, ({ store }) => store.putToken({ ...putToken, expiresAt: -1 })],
    [
      'Pass the SHA-256 of the access token in hex, never the token.',
      ({ store }) => store.putToken({ ...putToken, hash: 'secret' }),
    ],
    [
      'A schedule needs a due time and tokens as whole numbers; found 0.5 and 1.',
      ({ store }) => store.putSchedule({ ...schedule, dueAt: 0.5 } as never),
    ],
    [
      'A schedule needs a due time and tokens as whole numbers; found 1 and -1.',
      ({ store }) => store.putSchedule({ ...schedule, dueAt: 1, tokens: -1 } as never),
    ],
    [
      'A schedule needs an id of 1 to 64 letters, digits, _ or -.',
      ({ store }) => store.putSchedule({ ...schedule, id: 'a b', dueAt: 1 } as never),
    ],
    [
      'A schedule due at 5 is due next at a later whole number; found 5.',
      ({ store }) => store.fireSchedule({ id: 's', dueAt: 5, nextDueAt: 5 }),
    ],
    [
      'A schedule due at 5 is due next at a later whole number; found 5.5.',
      ({ store }) => store.fireSchedule({ id: 's', dueAt: 5, nextDueAt: 5.5 }),
    ],
    [
      'A note needs an id of 1 to 64 letters, digits, _ or -.',
      ({ store }) => store.putNote({ ...note, id: '' }),
    ],
    [
      'A note must have the scope of the session it comes from.',
      ({ store }) => {
        return store.putNote({
          ...note,
          origin: { sessionId: sessionId('known'), entry: 1 },
        } as never)
      },
    ],
    [
      'An access token needs an id of 1 to 64 letters, digits, _ or -.',
      ({ store }) => store.putToken({ ...putToken, id: 'a b' }),
    ],
    [
      'The principal of an access token needs an id of 1 to 64 letters, digits, _ or -.',
      ({ store }) => store.putToken({ ...putToken, principal: '' }),
    ],
    [
      'A title has at most 200 characters; found 201.',
      ({ store }) => store.setTitle({ sessionId: sessionId('known'), title: 'x'.repeat(201) }),
    ],
    [
      'A pin name has 1 to 64 letters, digits, _ or -.',
      ({ store, fixture }) => {
        const pin = { name: 'a b', change: 'set', body: said('x'), tokens: 1 }
        return store.pin({ ...fixture.fenced(), ...pin } as never)
      },
    ],
    [
      'The limit pinTokens must be a whole number from 0; found -1.',
      ({ store, fixture }) => {
        const limits = { ...LIMITS, pinTokens: -1 }
        return store.changeSettings({ ...fixture.fenced(), limits, body: {}, tokens: 1 } as never)
      },
    ],
    [
      "An entry's tokens must be a whole number from 0; found -1.",
      ({ store, fixture }) =>
        store.setTasks({ ...fixture.fenced(), body: [], tokens: -1 } as never),
    ],
    [
      'An adoption takes 1 to 1000 entries.',
      ({ store, fixture }) => {
        const entries = Array.from({ length: 1_001 }, () => ({}))
        return store.adoptEntries({ ...fixture.fenced(), entries } as never)
      },
    ],
    [
      'Record 1 to 1000 entries at once.',
      ({ store }) => {
        const what = { kind: 'turn', steps: [] }
        const at = {
          sessionId: sessionId('known'),
          source: 'x',
          key: 'k',
          operation: newOperation(),
        }
        return store.recordEntries({ ...at, what } as never)
      },
    ],
  ])('is thrown: %s', async (problem, act) => {
    const error = await act(await open()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'InvalidRequestError', message: problem })
  })
})

describe('a request that comes too late or finds nothing', () => {
  const afresh = {
    ...{ id: other, limits: LIMITS, policy: 'queue', source: 'chat', key: 'k', version: 1 },
    route: { agent: 'ada', channel: 'chat', address: 'x' },
  } as const satisfies Omit<StartAfresh, 'operation'>
  const blob = { mediaType: 'image/png', bytes: new Uint8Array([1]) }
  const from = { sessionId: sessionId('known') }
  const operation = operationId('o')
  it.each<[string, object, Act]>([
    ['unknown', {}, ({ store }) => store.stageBlob({ ...blob, sessionId: other })],
    [
      'gone',
      {},
      async ({ store }) => {
        await store.deleteSession({ ...from, operation, reason: 'asked' })
        return await store.stageBlob({ ...from, ...blob })
      },
    ],
    [
      'too-large',
      { bytes: 32 * 1024 * 1024 + 1, limit: 32 * 1024 * 1024 },
      ({ store }) => {
        return store.stageBlob({ ...from, ...blob, bytes: new Uint8Array(32 * 1024 * 1024 + 1) })
      },
    ],
    [
      'exists',
      {},
      ({ store }) => store.startAfresh({ ...afresh, ...from, id: from.sessionId, operation }),
    ],
    [
      'route-changed',
      { version: 1 },
      ({ store }) => store.startAfresh({ ...afresh, version: 2, operation }),
    ],
    [
      'route-changed',
      { version: 0 },
      ({ store }) => {
        const route = { ...afresh.route, address: 'y' }
        return store.startAfresh({ ...afresh, route, operation })
      },
    ],
    [
      'limits-refused',
      { hardTokens: 100, neededTokens: 1_000 },
      ({ store }) =>
        store.startAfresh({ ...afresh, limits: { ...LIMITS, hardTokens: 100 }, operation }),
    ],
    [
      'duplicate',
      { sessionId: other },
      async ({ store }) => {
        await store.startAfresh({ ...afresh, operation })
        return await store.startAfresh({ ...afresh, operation: newOperation() })
      },
    ],
    [
      'conflict',
      {},
      async ({ store }) => {
        await store.startAfresh({ ...afresh, operation })
        const route = { ...afresh.route, address: 'y' }
        return await store.startAfresh({ ...afresh, route, operation: newOperation() })
      },
    ],
    [
      'unknown',
      {},
      ({ store }) =>
        store.eraseRetained({ sessionId: other, entries: [entryNumber(1)], operation } as never),
    ],
    [
      'open',
      {},
      ({ store }) =>
        store.eraseRetained({ ...from, entries: [entryNumber(1)], operation } as never),
    ],
    [
      'not-imported',
      {},
      ({ store, fixture }) => {
        const entry = { kind: 'input', body: said('x'), tokens: 1, at: 1, row: null, lane: 'user' }
        return store.adoptEntries({ ...fixture.fenced(), entries: [entry] } as never)
      },
    ],
    ['unknown', {}, ({ store }) => store.removeToken({ id: 't' })],
    [
      'taken',
      {},
      async ({ store }) => {
        await store.putToken(putToken)
        return await store.putToken({ ...putToken, id: 'u' })
      },
    ],
    [
      'full',
      { limit: 500 },
      async ({ store }) => {
        for (let at = 0; at < 500; at++) {
          const hash = at.toString(16).padStart(64, '0')
          expect(await store.putToken({ ...putToken, id: `t${at}`, hash })).toEqual({
            kind: 'done',
          })
        }
        return await store.putToken(putToken)
      },
    ],
    [
      'full',
      { limit: 500 },
      async ({ store }) => {
        for (let at = 0; at < 500; at++) await store.putNote({ ...note, id: `n${at}` } as never)
        expect(await store.putNote({ ...note, id: 'n5' } as never)).toMatchObject({ kind: 'noted' })
        return await store.putNote(note as never)
      },
    ],
  ])('is answered: %s %j', async (kind, more, act) => {
    expect(await act(await open())).toEqual({ kind, ...more })
  })
})
