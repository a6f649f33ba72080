import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assistant, user } from '../../../../../test/support/builders.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import { compact } from '../compact.ts'

const WORDS =
  'pier plank rope tide harbour lamp crane gull anchor bolt deck mast sail wind keel'.split(' ')

/** Requests of these many words, each with an answer of as many. */
function talk(lengths: readonly number[], from: number): Message[] {
  return lengths.flatMap((length, at) => {
    const words = Array.from({ length }, (_, word) => WORDS[(at * 7 + word * (at + 3)) % 15])
    return [
      user(`Request ${from + at}: ${words.join(' ')}.`),
      assistant(`Done. ${words.join(' ')}`),
    ]
  })
}

/** The numbers of the user's messages that the handoff quotes or names, or the context contains. */
function known(messages: readonly Message[], requests: readonly number[]): readonly number[] {
  const handoff = messages.find((message) => message.role === 'handoff')?.handoff
  const whole = new Set(messages.map((message) => textOf(message).split(':')[0]))
  return requests.filter(
    (number) =>
      handoff?.preserved.some((each) => each.number === number) ||
      (handoff?.omitted && handoff.omitted.from <= number && number <= handoff.omitted.to) ||
      whole.has(`Request ${(number + 1) / 2}`),
  )
}

/** How many requests the context contains, quotes or counts. */
function countOf(messages: readonly Message[]): number {
  const handoff = messages.find((message) => message.role === 'handoff')?.handoff
  const whole = messages.filter(({ role }) => role === 'user').length
  return whole + (handoff?.preserved.length ?? 0) + (handoff?.omitted?.count ?? 0)
}

describe('requests that a handoff does not quote', () => {
  it('are counted in it, with the first and the last, even after further compactions', async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 7, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 1_000, max: 12_000 }), async (all, target) => {
        let messages: readonly Message[] = []
        for (let from = 0; from < all.length; from += 7) {
          messages = [...messages, ...talk(all.slice(from, from + 7), from + 1)]
          const result = await compact(messages, { budget: { targetTokens: target } })
          messages = result.messages
          const requests = all.slice(0, from + 7).map((_, at) => 2 * at + 1)
          expect(known(messages, requests)).toEqual(requests)
          expect(countOf(messages)).toBe(requests.length)
        }
      }),
      { numRuns: 60 },
    )
  })
})
