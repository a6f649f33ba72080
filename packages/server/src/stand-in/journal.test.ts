import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { Journal } from './journal.ts'

const facts = (bodyText: string) => ({
  method: 'POST',
  path: '/v1',
  headers: {},
  bodyText,
  body: 1,
})
const socket = () => new EventEmitter() as Socket
const time = expect.any(Number)

describe('a journal', () => {
  it('tells of each request and its connection', () => {
    const journal = new Journal()
    const one = socket()
    journal.openSocket(one)
    expect(journal.last).toBeUndefined()
    const first = journal.openEntry(one, facts('a'))
    const second = journal.openEntry(one, facts('b'))
    const record = {
      id: 1,
      requests: 2,
      openedAtMs: time,
      closedAtMs: undefined,
      closedBy: undefined,
    }
    const open = {
      ...{ fault: undefined, status: undefined, outcome: 'open', startedAtMs: time },
      ...{ endedAtMs: undefined, socket: record },
    }
    expect(first).toStrictEqual({ ...facts('a'), ...open, number: 1, reused: false })
    expect(second).toStrictEqual({ ...facts('b'), ...open, number: 2, reused: true })
    expect([journal.entries, journal.last, journal.sockets]).toEqual([
      [first, second],
      second,
      [record],
    ])
    expect([
      journal.requests,
      journal.openRequests,
      journal.openSockets,
      journal.socketsOpened,
    ]).toEqual([...[2, 2, 1, 1]])
    first.outcome = 'answered'
    expect(journal.openRequests).toBe(1)
    expect(() => journal.openEntry(socket(), facts('c'))).toThrow('never opened')
  })

  it.each([
    ['client', ['end', 'close']],
    ['client', ['error', 'close']],
    ['stand-in', ['close', 'end']],
  ])('tells that the %s closed a connection first (%s)', async (closedBy, events) => {
    const journal = new Journal()
    const [one, other] = [socket(), socket()]
    for (const each of [one, other]) journal.openSocket(each)
    let isClosed = false
    const closed = journal.closed().then(() => {
      isClosed = true
    })
    for (const event of events) one.emit(event, new Error('gone'))
    expect(journal.sockets[0]).toMatchObject({ closedBy, closedAtMs: time })
    expect([journal.openSockets, journal.socketsOpened]).toEqual([1, 2])
    await Promise.resolve()
    expect(isClosed).toBe(false)
    other.emit('close')
    await closed
    expect(isClosed).toBe(true)
  })

  it('forgets past requests and closed connections, and counts on', () => {
    const journal = new Journal()
    const [one, other] = [socket(), socket()]
    for (const each of [one, other]) journal.openSocket(each)
    journal.openEntry(one, facts('a'))
    one.emit('close')
    journal.clear()
    expect([journal.entries, journal.sockets.map(({ id }) => id), journal.requests]).toEqual([
      [],
      [2],
      1,
    ])
    expect(journal.openEntry(other, facts('b')).number).toBe(2)
  })

  it('keeps the newest requests', () => {
    const journal = new Journal(2)
    const one = socket()
    journal.openSocket(one)
    const bodies = () => journal.entries.map(({ bodyText }) => bodyText.length)
    for (const size of [1, 2, 3]) journal.openEntry(one, facts('x'.repeat(size)))
    expect(bodies()).toEqual([2, 3])
    // 64 million characters are kept, however few the requests.
    const half = 'x'.repeat(32_000_000)
    for (const body of [half, half]) journal.openEntry(one, facts(body))
    expect(bodies()).toEqual([32_000_000, 32_000_000])
    journal.openEntry(one, facts('x'))
    expect(bodies()).toEqual([32_000_000, 1])
    journal.clear()
    for (const body of [half, half]) journal.openEntry(one, facts(body))
    expect(bodies()).toEqual([32_000_000, 32_000_000])
  })
})
