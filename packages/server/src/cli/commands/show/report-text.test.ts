import { expect, it } from 'vitest'
import { entryNumber, sessionId } from '#core/base/ids'
import type { CompactionReport, ReportedMessage } from '#core/session/view/compaction-report'
import { noPaint } from '../../terminal/colours.ts'
import { drawReport } from './report-text.ts'

const message = (number: number, fate: ReportedMessage['fate']): ReportedMessage => ({
  ...{ number: entryNumber(number), role: 'user', tokens: 10, fate, excerpt: `words ${number}` },
  recalledBy: fate === 'recallable' ? 'words' : null,
})
const messages = [
  ...Array.from({ length: 10 }, (_, at) => message(at + 1, 'recallable')),
  message(11, 'kept'),
]
const none = { messages: 0, tokens: 0 }
const report: CompactionReport = {
  ...{ sessionId: sessionId('a'), entry: entryNumber(12), by: 'digest', trigger: 'manual' },
  ...{ covers: entryNumber(10), tokensBefore: 9_000, tokensAfter: 4_000, erased: 0, messages },
  cache: { lostTokens: 8_000, rewrittenTokens: 3_000, breakEvenCalls: 7, breakEvenTurns: 1 },
  spend: { calls: 2, inputTokens: 9_100, outputTokens: 700, cost: 12_300 },
  counts: {
    ...{ kept: { messages: 1, tokens: 10 }, summarized: none, gone: none },
    recallable: { messages: 10, tokens: 100 },
  },
}

it('shows sizes, cache and cost, and the newest messages of each class', () => {
  const lines = drawReport(report, { paint: noPaint, isFull: false }).split('\n')
  expect(lines.slice(0, 3)).toEqual([
    'Compaction 12 of a: 9,000 → 4,000 tokens, written by the digest (manual)',
    'Cache: 8,000 tokens lost, 3,000 sent uncached by the next call; paid back after 7 model calls (1 turn).',
    'Cost: 2 calls, 9,100 tokens in, 700 out; 0.0123.',
  ])
  expect(lines).toContain('    … 2 older; --full')
  expect(lines).toContain('    #10 user: words 10')
  expect(lines).not.toContain('    #1 user: words 1')
  expect(lines).toContain('gone  0 messages, 0 tokens')
  expect(drawReport(report, { paint: noPaint, isFull: true })).toContain('    #1 user: words 1\n')
})
