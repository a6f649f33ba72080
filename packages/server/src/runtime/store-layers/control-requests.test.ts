import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { LIMITS, StoreFixture } from '#core/store/contract-suite/bench'
import { parseBody } from '#core/store/integrity/damaged-row'
import { openMemoryStore } from '#core/store/memory/open'
import {
  ask,
  askToErase,
  ControlNotAdmittedError,
  readControls,
} from '../sessions/control-requests.ts'

async function open(limits = LIMITS) {
  const store = openMemoryStore()
  const { id } = await StoreFixture.open(store, { limits })
  const asked = async () => {
    const items = await store.listMail({ sessionId: id, limit: 100 })
    return items.map((item) => {
      const { source, lane, control, tokens } = item
      return { source, lane, control, tokens, body: parseBody('mail', item) }
    })
  }
  return { store, id, asked }
}

const control = { source: 'purge', lane: 'control', tokens: 0 }
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

it('a request to the holder of a session is control mail under a key of its own', async () => {
  const { store, id, asked } = await open()
  const request = { control: 'pin', body: { name: 'a', text: 'x' }, tokens: 5 }
  expect([await ask(store, id, request), await ask(store, id, request)]).toEqual([1, 2])
  const { body, ...mail } = { ...control, ...request }
  expect(await asked()).toEqual([
    { ...mail, body },
    { ...mail, body },
  ])
})

it('none is made of a session that is not there', async () => {
  const { store } = await open()
  expect(await ask(store, sessionId('none'), { control: 'stop', body: {}, tokens: 0 })).toBeNull()
})

it('one that the mailbox does not take is an error, which says what to do', async () => {
  const { store, id } = await open({ ...LIMITS, laneMailMax: 1 })
  const request = { control: 'compact', body: {}, tokens: 0 }
  await ask(store, id, request)
  const error = new ControlNotAdmittedError(id, 'full')
  await expect(ask(store, id, request)).rejects.toEqual(error)
  expect({ ...error, message: error.message }).toEqual({
    ...{ name: 'ControlNotAdmittedError', code: 'purge-not-asked', retryable: true },
    message: `The mailbox of session ${id} did not take the request (full); ask again later.`,
  })
})

it('erasures are asked for once each, at most 1,000 together, with their reason', async () => {
  const { store, id, asked } = await open()
  await askToErase(store, id, [], 'none')
  expect(await asked()).toEqual([])
  const erase = (entries: readonly number[], reason: string) => ({
    ...{ ...control, control: 'erase', body: { entries, reason } },
  })
  await askToErase(store, id, [3, 5], 'one')
  await askToErase(store, id, [3, 4, 5], 'two')
  await askToErase(store, id, [4, 3], 'three')
  expect(await asked()).toEqual([erase([3, 5], 'one'), erase([4], 'two')])
  await askToErase(store, id, numbers(1, 2_004), 'four')
  // Without those that wait already.
  expect((await asked()).slice(2)).toEqual([
    erase([1, 2, ...numbers(6, 1_003)], 'four'),
    erase(numbers(1_004, 2_003), 'four'),
    erase([2_004], 'four'),
  ])
})

it('what waits is read as the pin that it sets and the entries that it erases', async () => {
  const { store, id } = await open()
  const requests = [
    { control: 'pin', body: { name: 'a', text: 'x' } },
    { control: 'pin', body: { name: 'a', text: null } },
    { control: 'pin', body: { text: 'x' } },
    { control: 'erase', body: { entries: [3], name: 'a', text: 'x' } },
    { control: 'erase', body: { entries: 3 } },
    { control: 'compact', body: { entries: [3], name: 'a', text: 'x' } },
  ]
  for (const request of requests) await ask(store, id, { ...request, tokens: 0 })
  await store.admit({
    ...{ to: { sessionId: id }, source: 'chat', key: 'k', lane: 'user', body: {}, tokens: 1 },
  })
  expect(await readControls(store, id)).toEqual([
    { mail: 1, pin: { name: 'a', text: 'x' }, erases: [] },
    { mail: 2, pin: null, erases: [] },
    { mail: 3, pin: null, erases: [] },
    { mail: 4, pin: null, erases: [3] },
    { mail: 5, pin: null, erases: [] },
    { mail: 6, pin: null, erases: [] },
  ])
})
