import type { EntryNumber, MailNumber } from '../../../base/ids.ts'
import type { Trigger } from '../../../compaction/plan/plan.ts'
import type { CompactionBy, OperationRow } from '../../../store/tables/rows.ts'
import type { SessionView } from '../../context/session-view.ts'
import type { State } from '../state.ts'
import { commitNew, type RuleOutcome } from '../transition.ts'

/**
 * The running operation is read from the store and never remembered, so a claim whose answer was
 * lost is found again.
 */
export function runningOf({ session, operations }: SessionView): OperationRow | undefined {
  return operations.find(({ id, state }) => id === session.operation && state === 'running')
}

/** Owed erasures of another session come first, with a new handoff if ours was emptied. */
export function owesErasure({ session }: SessionView): boolean {
  return session.owed.length > 0
}

export function claim(
  state: State,
  wanted: {
    readonly by: CompactionBy
    readonly trigger: Trigger
    readonly covers: EntryNumber
    readonly reason: string
    readonly requestedBy?: MailNumber
  },
): RuleOutcome {
  return commitNew(state, (operation) => ({
    verb: 'claimCompaction',
    request: { lease: state.lease, operation, ...wanted },
  }))
}
