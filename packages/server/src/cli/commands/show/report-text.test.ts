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

const draw = (more: object, isFull = false) =>
  drawReport({ ...report, ...more } as CompactionReport, { paint: noPaint, isFull }).split('\n')

it('is whole, with a class for each fate', () => {
  const fates = ['kept', 'summarized', 'recallable', 'gone'] as const
  const those = fates.map((fate, at) => message(at + 1, fate))
  const each = { messages: 1, tokens: 1_000 }
  const counts = { kept: each, summarized: each, recallable: each, gone: each }
  const [, found] = [those[0], { ...message(7, 'recallable'), recalledBy: 'number' }]
  const own = { messages: [...those, found], counts, erased: 1, by: 'rewrite', trigger: null }
  expect(draw(own)).toEqual([
    'Compaction 12 of a: 9,000 → 4,000 tokens, written by a model',
    'Cache: 8,000 tokens lost, 3,000 sent uncached by the next call; paid back after 7 model calls (1 turn).',
    'Cost: 2 calls, 9,100 tokens in, 700 out; 0.0123.',
    '',
    'kept word for word  1 message, 1,000 tokens',
    '    #1 user: words 1',
    '',
    'summarized: the handoff repeats some of it  1 message, 1,000 tokens',
    '    #2 user: words 2',
    '',
    'recallable: not in the context, but recall finds it  2 messages, 1,000 tokens',
    '    #3 user: words 3',
    '    #7 user: words 7 (by its number)',
    '',
    'gone  1 message, 1,000 tokens',
    '    #4 user: words 4',
    '',
    '1 message erased since',
    '',
  ])
})

const CACHE = report.cache
const lost = 'Cache: 8,000 tokens lost, 3,000 sent uncached by the next call'
const used = 'Cost: 1 call, 5 tokens in, 6 out'
const one = { calls: 1, inputTokens: 5, outputTokens: 6, cost: 1_000_000 }

it.each<[object, number, string]>([
  [{ by: 'model' }, 0, 'Compaction 12 of a: 9,000 → 4,000 tokens, written by a model (manual)'],
  [
    { by: 'clearing', trigger: 'soft' },
    0,
    'Compaction 12 of a: 9,000 → 4,000 tokens, old tool results cleared, no summary (soft)',
  ],
  [
    { by: 'clearing' },
    7,
    'cleared: its two ends are in the context, recall opens the whole  0 messages, 0 tokens',
  ],
  [{ by: 'clearing' }, 4, 'kept word for word  1 message, 10 tokens'],
  [{ cache: { ...CACHE, breakEvenCalls: null } }, 1, `${lost}; it does not pay back.`],
  [{ cache: { ...CACHE, breakEvenTurns: null } }, 1, `${lost}; it does not pay back.`],
  [
    { cache: { ...CACHE, breakEvenCalls: 1, breakEvenTurns: 2 } },
    1,
    `${lost}; paid back after 1 model call (2 turns).`,
  ],
  [{ spend: null }, 2, 'Cost: no longer on record.'],
  [{ spend: { ...one, calls: 0 } }, 2, 'Cost: no model calls.'],
  [{ spend: { ...one, cost: null } }, 2, `${used}; no price known.`],
  [{ spend: one }, 2, `${used}; 1.00.`],
])('says with %j in line %i: %s', (more, at, line) => {
  expect(draw(more)[at]).toBe(line)
})

it('shows eight messages of a class, and all if asked', () => {
  const ofClass = (lines: readonly string[]) => lines.filter((line) => /^ {4}\S/.test(line))
  expect(ofClass(draw({})).slice(1, 3)).toEqual(['    … 2 older; --full', '    #3 user: words 3'])
  expect(ofClass(draw({}))).toHaveLength(10)
  expect(ofClass(draw({}, true))).toHaveLength(11)
  const eight = { messages: messages.slice(0, 8) }
  expect(ofClass(draw(eight))).toHaveLength(8)
  expect(draw({ erased: 2 }).at(-2)).toBe('2 messages erased since')
})
