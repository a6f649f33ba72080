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
 * one, the size of each entry is known too. Straight lines connect the points, and where the size jumps,
 * one point is right before the other.
 */
export function sawToothOf(
  { createdAt, contextTokens, left }: SessionSummary,
  compactions: readonly CompactionView[],
  recent: readonly TranscriptEntry[],
): { readonly points: readonly Point[]; readonly marks: readonly Mark[] } {
  const changes = [
    ...recent.map(({ at, kind, tokens }) => ({
      at,
      tokens: MESSAGES.includes(kind) ? tokens : 0,
      isJump: kind === 'revert',
    })),
    // Its client goes on from another context.
    ...(left === null ? [] : [{ at: left.at, tokens: 0, isJump: true }]),
  ]
  const points: Point[] = []
  const done = compactions
    .filter(({ state, endedAt }) => state === 'committed' && endedAt !== null)
    .toReversed()
  // If the list was cut off, the start of the session is not on it.
  if (compactions.length < COMPACTIONS_MAX) points.push({ at: createdAt, tokens: 0 })
  const between = (to: number) => {
    const from = points.at(-1)?.at ?? 0
    return changes.filter(({ at }) => at > from && at < to)
  }
  for (const { endedAt, tokensBefore, tokensAfter } of done) {
    const at = endedAt ?? 0
    if (tokensBefore !== null) {
      const changed = between(at)
      const jumps = jumpsIn(changed, points.at(-1))
      points.push(...jumps, ...(jumps.length === 0 ? [] : backFrom(tokensBefore, changed)))
      points.push({ at: at - 1, tokens: tokensBefore })
    }
    if (tokensAfter !== null) points.push({ at, tokens: tokensAfter })
  }
  const since = between(Number.POSITIVE_INFINITY)
  points.push(...jumpsIn(since, points.at(-1)), ...backFrom(contextTokens, since))
  const ordered = inOrder(points)
  return { points: ordered, marks: marksOf(compactions, ordered) }
}

interface Change {
  readonly at: number
  /** What it adds. */
  readonly tokens: number
  /** An undo, or another way back: the size before it says nothing about the size after it. */
  readonly isJump: boolean
}

/**
 * The size up to the last jump, counted from the start. Between two jumps it is unknown, and drawn as if
 * nothing had changed.
 */
function jumpsIn(changes: readonly Change[], start: Point | undefined): readonly Point[] {
  const first = changes.findIndex(({ isJump }) => isJump)
  const last = changes.findLast(({ isJump }) => isJump)
  if (start === undefined || last === undefined) return []
  let { tokens } = start
  const points: Point[] = []
  for (const change of changes.slice(0, first)) {
    tokens += change.tokens
    points.push({ at: change.at, tokens })
  }
  return [...points, { at: last.at - 1, tokens }]
}

/** The size after each change since the last jump. */
function backFrom(tokensAtEnd: number, changes: readonly Change[]): readonly Point[] {
  const points: Point[] = []
  let tokens = tokensAtEnd
  const from = changes.findLastIndex(({ isJump }) => isJump)
  for (const change of changes.slice(Math.max(0, from)).toReversed()) {
    points.push({ at: change.at, tokens: Math.max(0, tokens) })
    tokens -= change.tokens
  }
  return points.reverse()
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
