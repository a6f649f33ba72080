import { describe, expect, it } from 'vitest'
import { compact } from '../packages/core/src/compaction/compact.ts'
import { isFinalReply } from '../packages/core/src/compaction/layout.ts'
import { isAsk } from '../packages/core/src/compaction/plan/preserve.ts'
import { DIALECTS } from '../packages/core/src/message/dialect.ts'
import { checkWire } from '../packages/core/src/message/dialects/check/check.ts'
import { render } from '../packages/core/src/message/dialects/render.ts'
import type { Message } from '../packages/core/src/message/message.ts'
import { repairPairs } from '../packages/core/src/message/pairing.ts'
import { corpusConversations, corpusDir, corpusFiles, sampleFiles } from './support/corpus.ts'
import { compactAt } from './support/cuts.ts'

const IS_WHOLE = corpusDir() !== undefined
const REAL = [...sampleFiles(), ...corpusFiles()]

/** The same sample on every machine: a multiplicative hash of the place. `npm run eval:validity` takes all. */
function isSampled(at: number, oneIn: number): boolean {
  return (Math.imul(at, 2_654_435_761) >>> 0) % oneIn === 0
}

describe('real conversations', () => {
  it('are valid for every provider after a compaction at any place', () => {
    let at = 0
    let pairs = 0
    for (const { name, conversation } of corpusConversations(REAL)) {
      const { messages } = repairPairs(conversation.messages)
      for (let index = 1; index <= messages.length; index++) {
        const sampled = DIALECTS.filter(() => isSampled(++at, IS_WHOLE ? 60 : 1))
        if (sampled.length === 0) continue
        const after = compactAt(messages, index)
        if (after === undefined) continue
        for (const dialect of sampled) {
          pairs++
          const found = checkWire(dialect, render(after, dialect))
          expect(found, `${name}, cut ${index}, ${dialect}`).toEqual([])
        }
      }
    }
    expect(pairs).toBeGreaterThanOrEqual(IS_WHOLE ? 1_000 : 60)
  })

  it('are smaller and valid after a whole compaction, with open requests last [S27]', async () => {
    let compacted = 0
    let at = 0
    for (const { name, conversation } of corpusConversations(REAL)) {
      if (conversation.messages.length < 12 || !isSampled(++at, IS_WHOLE ? 8 : 1)) continue
      const budget = { windowTokens: IS_WHOLE ? 20_000 : 1_500 }
      const result = await compact(conversation.messages, { budget })
      if (result.outcome !== 'compacted') continue
      compacted++
      expect(result.stats.tokensAfter, name).toBeLessThan(result.stats.tokensBefore)
      for (const dialect of DIALECTS) {
        expect(checkWire(dialect, render(result.messages, dialect)), name).toEqual([])
      }
      expect(answeredButOpen(conversation.messages, result.messages), name).toEqual([])
      expect(result.messages.at(-1)?.role, name).toBe(
        repairPairs(conversation.messages).messages.at(-1)?.role,
      )
    }
    expect(compacted).toBeGreaterThan(IS_WHOLE ? 15 : 1)
  })
})

/** By the rule for foreign files: a reply without a call follows before the next request. */
function answeredButOpen(before: readonly Message[], after: readonly Message[]): number[] {
  const { messages } = repairPairs(before)
  const handoff = after.find((message) => message.role === 'handoff')
  if (handoff?.role !== 'handoff') return []
  const lead = messages.findIndex((message) => message.role !== 'system')
  return handoff.handoff.preserved.flatMap(({ number, state }) => {
    const index = lead + number - 1
    const next = messages.findIndex((message, at) => at > index && isAsk(message))
    const until = next === -1 ? messages.length : next
    const isAnswered = messages.slice(index + 1, until).some(isFinalReply)
    return isAnswered && state === 'open' ? [number] : []
  })
}
