import type {
  CompactionView,
  SessionSummary,
  TranscriptEntry,
} from '../../server/src/runtime/runtime.ts'
import type { Mark, Point } from '../parts/saw-tooth.tsx'

/**
 * The saw-tooth from what is known: each compaction knows both its sides; since the newest one, what
 * each entry added is known too. In between lies a straight line.
 */
/** As many are asked for. */
export const COMPACTIONS_MAX = 200
const MESSAGES: readonly string[] = ['input', 'assistant', 'result']

export function toothOf(
  { createdAt, contextTokens }: SessionSummary,
  compactions: readonly CompactionView[],
  recent: readonly TranscriptEntry[],
): { readonly points: readonly Point[]; readonly marks: readonly Mark[] } {
  const points: Point[] = []
  const done = compactions
    .filter(({ state, endedAt }) => state === 'committed' && endedAt !== null)
    .toReversed()
  // Where the list is cut off, the beginning is not known to be its beginning.
  if (compactions.length < COMPACTIONS_MAX) points.push({ at: createdAt, tokens: 0 })
  for (const { endedAt, tokensBefore, tokensAfter } of done) {
    const at = endedAt ?? 0
    if (tokensBefore !== null) points.push({ at: at - 1, tokens: tokensBefore })
    if (tokensAfter !== null) points.push({ at, tokens: tokensAfter })
  }
  const since = points.at(-1)?.at ?? 0
  const behind: Point[] = []
  let tokens = contextTokens
  for (const entry of recent.toReversed()) {
    if (entry.at <= since) break
    behind.push({ at: entry.at, tokens: Math.max(0, tokens) })
    if (MESSAGES.includes(entry.kind)) tokens -= entry.tokens
  }
  points.push(...behind.reverse())
  const ordered = inOrder(points)
  return { points: ordered, marks: marksOf(compactions, ordered) }
}

function marksOf(
  compactions: readonly CompactionView[],
  points: readonly Point[],
): readonly Mark[] {
  return compactions
    .filter(({ state, endedAt }) => endedAt !== null && state !== 'running')
    .map(({ state, by, endedAt, tokensAfter, waitMs }) => {
      const at = endedAt ?? 0
      const look = state !== 'committed' ? 'failed' : by === 'digest' ? 'digest' : 'model'
      return { at, look, waitMs, tokens: tokensAfter ?? tokensAt(points, at) }
    })
}

function tokensAt(points: readonly Point[], at: number): number {
  const next = points.findIndex((point) => point.at >= at)
  const [before, after] = [points[next - 1], points[next]]
  if (before === undefined || after === undefined)
    return (after ?? before ?? points.at(-1))?.tokens ?? 0
  const share = (at - before.at) / Math.max(1, after.at - before.at)
  return before.tokens + share * (after.tokens - before.tokens)
}

/** Two things of one millisecond stand beside each other. */
function inOrder(points: readonly Point[]): readonly Point[] {
  let last = 0
  return points
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, tokens }) => {
      last = Math.max(at, last + 1)
      return { at: last, tokens }
    })
}

/** A handoff that no model wrote, and the one by which a model replaced it later. */
export function rewriteOf(
  row: CompactionView,
  rows: readonly CompactionView[],
): CompactionView | undefined {
  if (row.by !== 'digest' || row.entry === null) return undefined
  // The oldest that followed: the newest stand first.
  return rows.findLast(
    ({ by, state, covers, startedAt }) =>
      by === 'rewrite' &&
      state === 'committed' &&
      covers === row.covers &&
      startedAt >= row.startedAt,
  )
}
