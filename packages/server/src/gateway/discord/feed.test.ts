import type { APIMessage } from 'discord.js'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { Feed, type FeedEvent, isLater } from './feed.ts'

/** A channel with a history, and the messages taken from it. */
function channel(count: number) {
  const messages = Array.from({ length: count }, (_, at) => message(at + 1))
  const taken: string[] = []
  let failures = 0
  const feed = new Feed({
    clock: { ...systemClock, after: (_ms, callback) => systemClock.after(0, callback) },
    mark: async () => '0',
    read: async (after) => messages.filter(({ id }) => isLater(id, after)).slice(0, 100),
    take: async ({ kind, message: { id } }) => {
      if (failures-- > 0) throw new Error('not now')
      taken.push(kind === 'edit' ? `${id}*` : id)
    },
    report: () => undefined,
  })
  const fail = (times: number) => {
    failures = times
  }
  return { feed, messages, taken, fail }
}

function message(number: number): APIMessage {
  return { id: String(number) } as APIMessage
}

const event = (number: number, kind: FeedEvent['kind'] = 'message') => ({
  ...{ kind, message: message(number) },
})

async function rest(): Promise<void> {
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setTimeout(resolve, 1))
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1))

describe('Feed', () => {
  it('begins after its resume point, with messages older than the first live one', async () => {
    const { feed, taken } = channel(3)
    feed.push(event(3))
    await rest()
    expect(taken).toEqual(['1', '2', '3'])
  })

  it('reads across pages and takes no message twice', async () => {
    const { feed, taken } = channel(250)
    feed.catchUp()
    feed.push(event(250))
    feed.push(event(249))
    await rest()
    expect(taken).toEqual(numbers(250))
  })

  it('retries messages that could not be taken, in order', async () => {
    const { feed, taken, fail } = channel(0)
    feed.push(event(1))
    await rest()
    fail(3)
    for (const number of [2, 3]) feed.push(event(number))
    await rest()
    expect(taken).toEqual(['1', '2', '3'])
  })

  it('reads messages beyond its buffer from the history', async () => {
    const { feed, taken, messages, fail } = channel(0)
    fail(1)
    for (let number = 1; number <= 700; number++) {
      messages.push(message(number))
      feed.push(event(number))
    }
    await rest()
    expect(taken).toEqual(numbers(700))
  })

  it('reads on after the latest message, also if an earlier one came behind it', async () => {
    const read: string[] = []
    const feed = new Feed({
      clock: systemClock,
      mark: async () => '0',
      read: async (after) => {
        read.push(after)
        return []
      },
      take: async () => {},
      report: () => undefined,
    })
    for (const number of [9, 10, 2]) feed.push(event(number))
    await expect.poll(() => read).toEqual(['0'])
    feed.catchUp()
    await expect.poll(() => read).toEqual(['0', '10'])
    await feed.close()
  })

  it('takes messages that arrive out of order, and every edit', async () => {
    const { feed, taken } = channel(0)
    for (const number of [2, 1, 2]) feed.push(event(number))
    for (const _ of [1, 2]) feed.push(event(2, 'edit'))
    await rest()
    expect(taken).toEqual(['2', '1', '2*', '2*'])
  })
})

describe('isLater', () => {
  it.each(Array.from({ length: 12 }, (_, ticks) => ticks))(
    'takes a message that arrives %i ticks after the last one, while the feed becomes idle',
    async (ticks) => {
      const done = Promise.withResolvers<void>()
      const read = Promise.withResolvers<void>()
      let reads = 0
      const later = async (act: () => void) => {
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
        act()
      }
      const feed: Feed = new Feed({
        clock: systemClock,
        mark: async () => '0',
        read: async () => {
          reads += 1
          if (reads === 2) read.resolve()
          return []
        },
        take: async ({ message: { id } }) => {
          if (id === '1') void later(() => feed.push(event(2)))
          if (id === '2') void later(() => feed.catchUp())
          if (id === '2') done.resolve()
        },
        report: () => undefined,
      })
      feed.push(event(1))
      await done.promise
      await read.promise
      await feed.close()
    },
  )

  it('reports each retry delay, which grows, and its recovery', async () => {
    const [reports, waits]: [(string | null)[], number[]] = [[], []]
    let failures = 9
    const done = Promise.withResolvers<void>()
    const feed = new Feed({
      clock: {
        ...systemClock,
        after: (ms, callback) => {
          waits.push(ms)
          return systemClock.after(0, callback)
        },
      },
      mark: async () => '0',
      read: async () => [],
      take: async ({ message: { id } }) => {
        if (id === '1' && failures-- > 0) throw new TypeError('not now')
        if (id === '2') done.resolve()
      },
      report: (problem) => void reports.push(problem),
    })
    feed.push(event(1))
    feed.push(event(2))
    await done.promise
    await feed.close()
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    expect(reports.slice(0, -1)).toEqual(
      waits.map(() => expect.stringContaining('Messages wait, because they cannot be stored')),
    )
    expect(reports.at(-1)).toBeNull()
  })

  it('gives up reading a channel with thousands of missed messages, and says so', async () => {
    const reports: (string | null)[] = []
    const done = Promise.withResolvers<void>()
    let pages = 0
    const feed = new Feed({
      clock: systemClock,
      mark: async () => '0',
      read: async () => {
        pages += 1
        return Array.from({ length: 100 }, (_, at) => message(pages * 1_000 + at))
      },
      take: async ({ message: { id } }) => {
        if (id === '1') done.resolve()
      },
      report: (problem) => void reports.push(problem),
    })
    feed.push(event(1))
    await done.promise
    await feed.close()
    expect([pages, reports]).toEqual([
      50,
      ['A channel has more than 5000 missed messages; the rest is not read.'],
    ])
  })

  it('takes nothing once it is closed', async () => {
    const { feed, taken } = channel(3)
    await feed.close()
    feed.push(event(1))
    feed.catchUp()
    await rest()
    expect(taken).toEqual([])
  })

  it('compares ids of any length as numbers', () => {
    expect(isLater('10', '9')).toBe(true)
    expect(isLater('1439999999999999999', '1440000000000000000')).toBe(false)
    expect(isLater('7', '7')).toBe(false)
  })
})
