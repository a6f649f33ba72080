import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assistant,
  handoff,
  image,
  system,
  toolCall,
  toolResult,
  turns,
  user,
} from '../../../../test/support/builders.ts'
import { conversation, messageList } from '../../../../test/support/generators.ts'
import type { Message } from '../message/message.ts'
import { repairPairs } from '../message/pairing.ts'
import { messageCounter } from '../tokens/count.ts'
import { compact } from './compact.ts'
import type { CompactOptions } from './compact-options.ts'
import { isAsk } from './plan/preserve.ts'

/** Laws for any input: hostile messages, tiny windows, contradictory settings. */
const sizes = fc.integer({ min: 0, max: 3_000 })
const large = sizes.chain((size) =>
  fc.constantFrom<Message[]>(
    [user('word '.repeat(size))],
    [assistant('reply '.repeat(size))],
    [system(`rule ${'of '.repeat(Math.floor(size / 20))}`)],
    [toolCall('z'), toolResult('z', 'output '.repeat(size))],
  ),
)
const messages = fc
  .array(fc.oneof(messageList(), conversation(), large), { maxLength: 5 })
  .map((lists) => lists.flat())

const tokens = fc.oneof(fc.integer({ min: 1, max: 800 }), fc.integer({ min: 800, max: 12_000 }))
const budget = fc.record(
  { windowTokens: tokens, targetTokens: tokens, keepTokens: sizes, userTokens: sizes },
  { requiredKeys: ['windowTokens'] },
)
const options: fc.Arbitrary<CompactOptions> = fc.record(
  {
    preset: fc.constantFrom('hermes', 'codex'),
    trigger: fc.constantFrom('manual', 'preflight', 'reactive'),
    overheadTokens: fc.integer({ min: 0, max: 500 }),
    pins: fc.constantFrom([], ['Never delete a backup.']),
    budget,
  },
  { requiredKeys: ['budget'] },
)
const countMessage = messageCounter('generic')
const sum = (list: readonly Message[]) => list.reduce((all, each) => all + countMessage(each), 0)
const systemTexts = (list: readonly Message[]) =>
  new Set(list.filter(({ role }) => role === 'system').map((each) => JSON.stringify(each)))

describe('a compaction of any input', () => {
  it('returns it unchanged, or smaller and within its target, with all system text', async () => {
    await fc.assert(
      fc.asyncProperty(messages, fc.nat(12), options, async (list, count, given) => {
        const before = [...turns(count), ...list]
        const result = await compact(before, { ...given, family: 'generic' })
        if (result.outcome !== 'compacted') {
          expect(result.messages).toBe(before)
          return
        }
        const after = sum(result.messages) + (given.overheadTokens ?? 0)
        expect(after).toBe(result.stats.tokensAfter)
        expect(after).toBeLessThan(result.stats.tokensBefore)
        expect(after).toBeLessThanOrEqual(given.budget?.targetTokens ?? Number.POSITIVE_INFINITY)
        const kept = systemTexts(result.messages)
        expect(systemTexts(before).isSubsetOf(kept)).toBe(true)
        const last = repairPairs(before).messages.at(-1)
        if (last !== undefined && isAsk(last)) expect(result.messages.at(-1)?.role).toBe('user')
      }),
      { numRuns: 150 },
    )
  })

  it('is never refused because of the digest', async () => {
    await fc.assert(
      fc.asyncProperty(messages, fc.nat(12), options, async (list, count, given) => {
        const before = [...turns(count), ...list]
        const result = await compact(before, { ...given, family: 'generic' })
        expect(result).not.toMatchObject({ outcome: 'refused' })
      }),
      {
        numRuns: 150,
        examples: [
          [[], 3, { budget: { windowTokens: 500, targetTokens: 420 }, preset: 'hermes' }],
          [[user('and')], 2, { budget: { windowTokens: 9_000, userTokens: 93 } }],
        ],
      },
    )
  })

  it('succeeds for a conversation of pictures', async () => {
    const pictures = Array.from({ length: 20 }, () => [
      { role: 'user', parts: [image] } as const,
      assistant('seen'),
    ]).flat()
    const result = await compact([...pictures, user('next?')], {
      budget: { targetTokens: 3_000 },
    })
    expect(result.outcome).toBe('compacted')
  })

  it('cannot fit if the newest request is a picture larger than the target', async () => {
    const request: Message = { role: 'user', parts: [{ type: 'text', text: 'look' }, image] }
    const result = await compact([...turns(9), request], { budget: { targetTokens: 900 } })
    expect(result).toMatchObject({ outcome: 'cannot-fit', reason: 'newest-message-too-large' })
  })

  it('accepts several handoffs: it builds on the first and summarizes the others', async () => {
    const second = handoff({ summary: 'The lighthouse stands at 54.3N 13.4E.', covers: 80 })
    const before = [handoff({ covers: 50 }), ...turns(10), second, ...turns(10), user('next?')]
    const prompts: string[] = []
    const result = await compact(before, {
      budget: { targetTokens: 2_000 },
      summarize: async ({ prompt }) => {
        prompts.push(prompt)
        return { text: 'A summary.', finish: 'stop' }
      },
    })
    expect(result.outcome).toBe('compacted')
    expect(result.stats.compactions).toBe(2)
    expect(prompts.join()).toContain('The lighthouse stands at 54.3N 13.4E.')
  })

  it('counts system text in the middle of the conversation once', async () => {
    const rule = system('Always answer in verse. '.repeat(200))
    const before = [...turns(10), rule, ...turns(10)]
    const result = await compact(before, { family: 'generic' })
    expect(result.outcome).toBe('compacted')
    expect(result.stats.tokensBefore).toBe(sum(before))
  })
})
