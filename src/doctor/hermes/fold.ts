import type { RowState } from './rows.ts'

/**
 * Makes one conversation of a chain of sessions, root first: every row once, in the order in which
 * it was said. Rows that compaction copied are recognised and stand where their original stands;
 * rows that were delivered to a session after its closing are put back in their place by time;
 * handoffs become compactions; what the user took back is kept apart. It works on what tells rows
 * apart, not on what they say, so that a long conversation costs little.
 *
 * Always true: every row that goes in is in exactly one place of the answer.
 */
export interface FoldSession {
  readonly id: string
  /** The session that it continues; that one stands before it. */
  readonly parentId: string | null
  readonly closedAt: number | null
  /** In the order of their ids. */
  readonly rows: readonly FoldRow[]
}

export interface FoldRow {
  readonly id: number
  readonly role: string
  readonly at: number | null
  readonly state: RowState
  readonly isHandoff: boolean
  /** A digest of role, content, calls and call id: equal means the same was said. */
  readonly said: string
}

export interface Folded {
  readonly entries: readonly FoldedEntry[]
  readonly copies: readonly { readonly rowId: number; readonly ofRowId: number }[]
  readonly rewound: readonly number[]
  readonly rowsIn: number
}

export type FoldedEntry =
  | { readonly kind: 'message'; readonly rowId: number; readonly isRestored: boolean }
  /** Stands for what is before it, but for the rows that stayed in the context word for word. */
  | { readonly kind: 'compaction'; readonly rowId: number; readonly keptRowIds: readonly number[] }

/** Copies without their old times were written together with the handoff before them. */
const TOGETHER_SECONDS = 5

export function foldConversation(sessions: readonly FoldSession[]): Folded {
  const originals = new Map<string, number>()
  const copies: { rowId: number; ofRowId: number }[] = []
  const rewound: number[] = []
  const placed: Placed[] = []
  const late: Placed[] = []
  const spoken = new Map<string, readonly FoldRow[]>()
  for (const { id, parentId, closedAt, rows } of sessions) {
    const carried = matchCarried(rows, spoken.get(parentId ?? '') ?? [])
    let handoff: Compaction | null = null
    const own: FoldRow[] = []
    /** In the context, before the next handoff: it stands behind them and does not replace them. */
    let beside: number[] = []
    for (const row of rows) {
      if (row.state === 'rewound') {
        rewound.push(row.id)
        continue
      }
      const key = row.at === null ? null : `${row.at} ${row.said}`
      const ofRowId = carried.get(row.id) ?? (key === null ? undefined : originals.get(key))
      if (ofRowId !== undefined) {
        copies.push({ rowId: row.id, ofRowId })
        handoff?.keptRowIds.push(ofRowId)
        if (row.state === 'live') beside.push(ofRowId)
        // The next session may carry the copy on; it is still a copy of the original.
        own.push({ ...row, id: ofRowId })
        continue
      }
      if (key !== null) originals.set(key, row.id)
      const isLate = closedAt !== null && row.at !== null && row.at > closedAt
      if (row.isHandoff) {
        handoff = { kind: 'compaction', rowId: row.id, keptRowIds: beside }
        beside = []
      } else if (row.state === 'live') beside.push(row.id)
      const entry: FoldedEntry =
        row.isHandoff && handoff !== null
          ? handoff
          : { kind: 'message', rowId: row.id, isRestored: isLate }
      ;(isLate ? late : placed).push({ entry, row })
      // What follows new words is no longer what the compaction kept.
      if (!row.isHandoff) handoff = null
      if (!isLate) own.push(row)
    }
    spoken.set(id, own)
  }
  const entries = putBack(placed, late)
  const rowsIn = sessions.reduce((sum, { rows }) => sum + rows.length, 0)
  return { entries, copies, rewound, rowsIn }
}

interface Compaction {
  readonly kind: 'compaction'
  readonly rowId: number
  readonly keptRowIds: number[]
}

interface Placed {
  readonly entry: FoldedEntry
  readonly row: FoldRow
}

/**
 * Older versions gave copies the time of the copying. They are the longest run behind the handoff
 * that is also the end of the parent, as far as it was written at once with the handoff.
 */
function matchCarried(
  rows: readonly FoldRow[],
  parent: readonly FoldRow[],
): ReadonlyMap<number, number> {
  const [handoff, ...rest] = rows
  const found = new Map<number, number>()
  if (handoff?.isHandoff !== true || handoff.at === null) return found
  const start = handoff.at
  const end = rest.findIndex(({ at }) => at === null || Math.abs(at - start) > TOGETHER_SECONDS)
  const young = end < 0 ? rest : rest.slice(0, end)
  const tail = parent.slice(-young.length)
  const length = overlap(
    young.map(({ said }) => said),
    young.length === 0 ? [] : tail.map(({ said }) => said),
  )
  for (let index = 0; index < length; index++) {
    const [copy, original] = [young[index], tail[tail.length - length + index]]
    if (copy !== undefined && original !== undefined) found.set(copy.id, original.id)
  }
  return found
}

/** The longest beginning of one that is an end of the other, in one walk over both. */
function overlap(beginning: readonly string[], ending: readonly string[]): number {
  const failure: number[] = [0]
  const advance = (matched: number, next: string | undefined) => {
    let length = matched
    while (length > 0 && beginning[length] !== next) length = failure[length - 1] ?? 0
    return beginning[length] === next && next !== undefined ? length + 1 : 0
  }
  for (let index = 1; index < beginning.length; index++) {
    failure.push(advance(failure[index - 1] ?? 0, beginning[index]))
  }
  return ending.reduce((matched, next) => advance(matched, next), 0)
}

/** Each late row before the first that was said after it, and never between a call and its results. */
function putBack(placed: readonly Placed[], late: readonly Placed[]): FoldedEntry[] {
  if (late.length === 0) return placed.map(({ entry }) => entry)
  const waiting = late.toSorted((one, other) => (one.row.at ?? 0) - (other.row.at ?? 0))
  const entries: FoldedEntry[] = []
  let next = 0
  for (const { entry, row } of placed) {
    for (let one = waiting[next]; one !== undefined; one = waiting[next]) {
      const isLater = row.at !== null && one.row.at !== null && row.at > one.row.at
      if (!isLater || row.role === 'tool') break
      entries.push(one.entry)
      next += 1
    }
    entries.push(entry)
  }
  return [...entries, ...waiting.slice(next).map(({ entry }) => entry)]
}
