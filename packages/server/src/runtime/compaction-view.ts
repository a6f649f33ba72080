import { type EntryNumber, entryNumber } from '#core/base/ids'
import { isObject } from '#core/base/json'
import type { CompactionSpend } from '#core/session/view/compaction-report'
import { compactionMetaOf } from '#core/store/fold'
import { parseBody } from '#core/store/integrity/damaged-row'
import type { Entry, OperationRow, SessionRow } from '#core/store/tables/rows'

/** An attempt at a compaction. */
export interface CompactionView {
  readonly operationId: string
  readonly state: OperationRow['state']
  readonly by: OperationRow['by']
  readonly trigger: string
  readonly reason: string
  readonly base: EntryNumber
  readonly covers: EntryNumber
  readonly startedAt: number
  readonly endedAt: number | null
  readonly tokensBefore: number | null
  readonly tokensAfter: number | null
  /** The model that wrote the summary, if one did. */
  readonly modelRoute: string | null
  /** Which rung of the ladder wrote it: `provider`, `prefix`, `auxiliary`, `fresh`, `main`, `digest`. */
  readonly rung: string | null
  /** How long a turn waited for it. */
  readonly waitMs: number
  /** Usage of its model calls; null: the record does not reach back that far. */
  readonly spend: CompactionSpend | null
  /** Why it failed. */
  readonly failure: string | null
  /** The entry that it wrote, if committed. */
  readonly entry: EntryNumber | null
  readonly isInEffect: boolean
  /** Someone undid it, or went back to a message before it. */
  readonly isUndone: boolean
  /** The proxy made it for a client, or it was imported: no agent here compacted the session. */
  readonly isAdopted: boolean
  /** The warning to people at its commit: repeated compaction loses details. */
  readonly warning: string | null
}

export function compactionView(
  row: OperationRow,
  session: SessionRow,
  beside: {
    readonly spend: CompactionSpend | null
    /** Since when a turn waited, if one did. */
    readonly heldSince: number | null
    readonly isUndone: boolean
  },
): CompactionView {
  const number = (key: string) => {
    const found = row.result[key]
    return typeof found === 'number' ? found : null
  }
  const text = (key: string) => {
    const found = row.result[key]
    return typeof found === 'string' ? found : null
  }
  const entry = number('entry')
  const { by, trigger, startedAt, endedAt } = row
  // A turn requested these because it could not continue; others only coincided with it.
  const isAskedByTurn = trigger === 'preflight' || trigger === 'reactive'
  const heldSince = isAskedByTurn ? startedAt : beside.heldSince
  return {
    operationId: row.id,
    state: row.state,
    by,
    trigger,
    reason: row.reason,
    base: row.base,
    covers: row.covers,
    startedAt,
    endedAt,
    tokensBefore: number('tokensBefore'),
    tokensAfter: number('tokensAfter'),
    entry: entry === null ? null : entryNumber(entry),
    modelRoute: text('modelRoute'),
    rung: by === 'digest' && row.result['isAdopted'] !== true ? 'digest' : text('rung'),
    waitMs:
      heldSince === null || endedAt === null
        ? 0
        : Math.max(0, endedAt - Math.max(startedAt, heldSince)),
    spend: beside.spend,
    failure: row.state === 'committed' ? null : text('reason'),
    isInEffect: row.state === 'committed' && entry === session.effective,
    isUndone: beside.isUndone,
    isAdopted: row.result['isAdopted'] === true,
    warning: text('warning'),
  }
}

/**
 * The compactions that were undone: someone undid them, or went back to a message before them. The others
 * that are no longer in effect were replaced: by a newer one, by an erasure that wrote the handoff again, or
 * by one in the client's own history. `changes` are the reverts and erasures of the session.
 */
export function undoneIn(
  rows: readonly OperationRow[],
  changes: readonly Entry[],
): ReadonlySet<OperationRow> {
  const undone = new Set<number>()
  /** What each one replaced. */
  const below = new Map<number, number>()
  const downFrom = (number: number) => {
    const chain: number[] = []
    for (let at = number; at !== 0; at = below.get(at) ?? 0) chain.push(at)
    return chain
  }
  let effective = 0
  const made = rows.flatMap((row) => entryOf(row) ?? [])
  const handoffs = changes.filter((change) => compactionMetaOf(change) !== undefined)
  const reverts = new Map<number, Entry>()
  for (const change of changes) if (change.kind === 'revert') reverts.set(change.number, change)
  const numbers = [...made, ...handoffs.map(({ number }) => number), ...reverts.keys()]
  for (const number of [...new Set(numbers)].sort((one, other) => one - other)) {
    const revert = reverts.get(number)
    if (revert?.kind !== 'revert') {
      below.set(number, effective)
      effective = number
      continue
    }
    const { previous } = revert.meta
    const counting = downFrom(previous)
    const left = isOfHistory(revert) ? [] : downFrom(effective)
    for (const at of left) undone.add(at)
    for (const at of counting) undone.delete(at)
    effective = previous
  }
  return new Set(rows.filter((row) => undone.has(entryOf(row) ?? 0)))
}

/** Of a compaction that was made. */
function entryOf({ state, result }: OperationRow): number | null {
  const { entry } = result
  return state === 'committed' && typeof entry === 'number' ? entry : null
}

/** Whether a revert follows a compaction in the client's own history: of the client, or of `leave`. */
export function isOfHistory(entry: Entry): boolean {
  const body = parseBody('entry', entry)
  return isObject(body) && (body['by'] === 'client compaction' || body['by'] === 'leave')
}
