import { describe, expect, it } from 'vitest'
import {
  create,
  fill,
  host,
  LIMITS,
  rowOf,
  say,
  says,
} from '../../../../../test/support/session-host.ts'
import { textOf } from '../../message/text.ts'
import type { StepOutcome } from '../step.ts'

const calls = (id: string): StepOutcome => ({
  kind: 'replied',
  message: { role: 'assistant', parts: [{ type: 'tool-call', id, name: 'look', input: {} }] },
  tokens: 900,
})

/** Each of them as it was sent, or why not. */
function missingFrom(shown: readonly string[], requests: readonly string[]): readonly string[] {
  return requests.filter((request) => !shown.includes(request))
}

const REQUESTS = Array.from({ length: 20 }, (_, index) =>
  `Request ${index}: write file-${index}.txt and say when it is there, please. `.repeat(2),
)

describe('unanswered requests', () => {
  it('are in every context whole, over compactions inside their turn [I34]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id, 8)
    const before = process.model.shown.length
    let step = 0
    process.model.answer = async () => (++step <= 6 ? calls(`c${step}`) : says('all done'))
    for (const request of REQUESTS) await say(process.store, id, request)
    await process.run(2_000)
    const contexts = process.model.shown.slice(before).map(({ context }) => context.map(textOf))
    const { effective } = await rowOf(process.store, id)
    expect(effective).toBeGreaterThan(0)
    // How many the first turn took; they stay with it to its end.
    const taken = REQUESTS.filter((request) => contexts[0]?.includes(request))
    expect(taken.length).toBeGreaterThan(5)
    expect(contexts.slice(0, 7).map((shown) => missingFrom(shown, taken))).toEqual(
      Array.from({ length: 7 }, () => []),
    )
    const covered = await process.store.listOperations({ sessionId: id, limit: 50 })
    expect(covered.filter(({ state }) => state === 'committed').length).toBeGreaterThan(0)
    expect(process.sent.filter((reply) => reply.includes('all done')).length).toBeGreaterThan(0)
    expect(process.crashes).toEqual([])
    expect(await process.store.verify({})).toEqual([])
  })

  it('wait in the mailbox when not all fit, and the first turn says how many [S19]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    const large = Array.from(
      { length: 6 },
      (_, index) => `Page ${index} ${'of the book '.repeat(110)}`,
    )
    for (const page of large) await say(process.store, id, page)
    await process.run(3_000)
    const contexts = process.model.shown.map(({ context }) => context.map(textOf))
    const [first = []] = contexts
    const taken = first.filter((text) => text.startsWith('Page')).length
    expect(taken).toBeLessThan(6)
    expect(first.at(-2)).toBe(`[${6 - taken} more messages are waiting; they will follow.]`)
    expect(missingFrom(contexts.at(-1) ?? [], large)).toEqual([])
    expect(LIMITS.inputTokens).toBe(1_000)
  })
})
