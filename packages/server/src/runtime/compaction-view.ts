import type { EntryNumber } from '#core/base/ids'
import type { CompactionSpend } from '#core/session/view/compaction-report'
import type { OperationRow } from '#core/store/rows'

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
