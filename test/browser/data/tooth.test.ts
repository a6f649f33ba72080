import { describe, expect, it } from 'vitest'
import { sawToothOf } from '../../../packages/dashboard/data/tooth.ts'
import type {
  CompactionView,
  SessionSummary,
  TranscriptEntry,
} from '../../../packages/server/src/runtime/runtime.ts'

const entry = (at: number, kind: TranscriptEntry['kind'], tokens = 0): TranscriptEntry =>
  ({ at, kind, tokens }) as TranscriptEntry
const compaction = {
  ...{ state: 'committed', by: 'model', endedAt: 500, waitMs: 0 },
  ...{ tokensBefore: 90, tokensAfter: 20 },
} as CompactionView
const pointsOf = (
  contextTokens: number,
  compactions: readonly CompactionView[],
  recent: readonly TranscriptEntry[],
  left: SessionSummary['left'] = null,
) =>
  sawToothOf(
    { createdAt: 100, contextTokens, left } as SessionSummary,
    compactions,
    recent,
  ).points.map(({ at, tokens }) => [at, tokens])

describe('sawToothOf', () => {
  it('raises the line with each message since the newest compaction', () => {
    const recent = [
      entry(200, 'input', 90),
      entry(600, 'input', 5),
      entry(700, 'assistant', 10),
      entry(700, 'turn'),
    ]
    expect(pointsOf(35, [compaction], recent)).toEqual([
      [100, 0],
      ...[[499, 90] as const, [500, 20] as const],
      ...[[600, 25] as const, [700, 35] as const, [701, 35] as const],
    ])
  })

  it('raises the line at the time of an undo, not at the message before it', () => {
    const recent = [entry(600, 'input', 5), entry(900, 'revert'), entry(950, 'input', 7)]
    expect(pointsOf(102, [compaction], recent).slice(3)).toEqual([
      [600, 25],
      [899, 25],
      [900, 95],
      [950, 102],
    ])
  })

  it('steps up at the last of several undos: between them the size is unknown', () => {
    const recent = [
      ...[entry(600, 'input', 5), entry(700, 'revert'), entry(800, 'input', 5)],
      entry(900, 'revert'),
    ]
    expect(pointsOf(200, [compaction], recent).slice(3)).toEqual([
      [600, 25],
      [899, 25],
      [900, 200],
    ])
  })

  it('steps up at an undo even if a later compaction followed', () => {
    const later = { ...compaction, endedAt: 2_000, tokensBefore: 110, tokensAfter: 30 }
    const recent = [
      ...[entry(600, 'input', 5), entry(900, 'revert'), entry(1_500, 'input', 12)],
      entry(2_100, 'assistant', 3),
    ]
    expect(pointsOf(33, [later, compaction], recent).slice(2)).toEqual([
      ...([
        [500, 20],
        [600, 25],
        [899, 25],
      ] as const),
      ...([
        [900, 98],
        [1_500, 110],
      ] as const),
      ...([
        [1_999, 110],
        [2_000, 30],
        [2_100, 33],
      ] as const),
    ])
  })

  it('steps down where the session was left, to the context of its client', () => {
    const recent = [entry(600, 'input', 70)]
    expect(pointsOf(15, [compaction], recent, { at: 800 }).slice(2)).toEqual([
      ...([
        [500, 20],
        [600, 90],
      ] as const),
      ...([
        [799, 90],
        [800, 15],
      ] as const),
    ])
  })
})
