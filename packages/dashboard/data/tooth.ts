import type {
  CompactionView,
  SessionSummary,
  TranscriptEntry,
} from '../../server/src/runtime/runtime.ts'

/** Tokens of a context over time: messages raise them, compactions lower them. */
export interface Point {
  /** Milliseconds. */
  readonly at: number
  readonly tokens: number
}

/** An attempt at a compaction, at its end, and how long a turn waited for it. */
export interface Mark {
  readonly at: number
  readonly tokens: number
  readonly look: 'model' | 'digest' | 'failed'
  readonly waitMs: number
}

/** How many compactions are requested. */
export const COMPACTIONS_MAX = 200
const MESSAGES: readonly string[] = ['input', 'assistant', 'result']

/**
 * The points of the saw-tooth chart. Each compaction records its size before and after; since the newest
 * one, the size of each entry is known too. Straight lines connect the points.
 */
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
  const since = points.at(-1)
  points.push(...pointsSince(since, contextTokens, recent))
  const ordered = inOrder(points)
  return { points: ordered, marks: marksOf(compactions, ordered) }
}

/**
 * Before the first undo, the size is counted from the compaction; after the last one, back from the
 * current size. Between two of them it is unknown.
 */
function pointsSince(
  start: Point | undefined,
  contextTokens: number,
  recent: readonly TranscriptEntry[],
): readonly Point[] {
  const entries = recent.filter(({ at }) => at > (start?.at ?? 0))
  const sizeOf = ({ kind, tokens }: TranscriptEntry) => (MESSAGES.includes(kind) ? tokens : 0)
  const isUndo = ({ kind }: TranscriptEntry) => kind === 'revert'
  const before: Point[] = []
  const firstUndo = start === undefined ? -1 : entries.findIndex(isUndo)
  let tokens = start?.tokens ?? 0
  for (const entry of entries.slice(0, Math.max(0, firstUndo))) {
    tokens += sizeOf(entry)
    before.push({ at: entry.at, tokens })
  }
  const undone = entries[firstUndo]
  if (undone !== undefined) before.push({ at: undone.at - 1, tokens })
  const after: Point[] = []
  tokens = contextTokens
  for (const entry of entries.slice(Math.max(0, entries.findLastIndex(isUndo))).toReversed()) {
    after.push({ at: entry.at, tokens: Math.max(0, tokens) })
    tokens -= sizeOf(entry)
  }
  return [...before, ...after.reverse()]
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
