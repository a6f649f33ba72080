import type {
  CompactionView,
  SessionSummary,
  TranscriptEntry,
} from '../../server/src/runtime/runtime.ts'
import type { Mark, Point } from '../parts/saw-tooth.tsx'

/**
 * The points of the saw-tooth chart. Each compaction records its size before and after; since the newest
 * one, the size of each entry is known too. Straight lines connect the points.
 */
/** How many compactions are requested. */
export const COMPACTIONS_MAX = 200
const MESSAGES: readonly string[] = ['input', 'assistant', 'result']

export function sawToothOf(
  { createdAt, contextTokens }: SessionSummary,
  compactions: readonly CompactionView[],
  recent: readonly TranscriptEntry[],
): { readonly points: readonly Point[]; readonly marks: readonly Mark[] } {
  const points: Point[] = []
  const done = compactions
    .filter(({ state, endedAt }) => state === 'committed' && endedAt !== null)
    .toReversed()
  // If the list was cut off, the start of the session is not on it.
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

/** Moves points of the same millisecond apart. */
function inOrder(points: readonly Point[]): readonly Point[] {
  let last = 0
  return points
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, tokens }) => {
      last = Math.max(at, last + 1)
      return { at: last, tokens }
    })
}

/** For a handoff that no model wrote: the later one by a model that replaced it. */
export function rewriteOf(
  row: CompactionView,
  rows: readonly CompactionView[],
): CompactionView | undefined {
  if (row.by !== 'digest' || row.entry === null) return undefined
  // The first one that followed: the list is newest first.
  return rows.findLast(
    ({ by, state, covers, startedAt }) =>
      by === 'rewrite' &&
      state === 'committed' &&
      covers === row.covers &&
      startedAt >= row.startedAt,
  )
}
