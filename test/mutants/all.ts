import { acknowledgedBeforeDurable } from './acknowledged-before-durable.ts'
import { anyHandoffAccepted } from './any-handoff-accepted.ts'
import { auditInSecondTransaction } from './audit-in-second-transaction.ts'
import { baseRisesWithEveryAppend } from './base-rises-with-every-append.ts'
import { blindRetry } from './blind-retry.ts'
import { blobCountedOffTwice } from './blob-counted-off-twice.ts'
import { blobDroppedWhileUsed } from './blob-dropped-while-used.ts'
import { bufferTruncated } from './buffer-truncated.ts'
import { compactionRewritesTranscript } from './compaction-rewrites-transcript.ts'
import { compactionUnderOtherContext } from './compaction-under-other-context.ts'
import { contextLosesFirstOfTail } from './context-loses-first-of-tail.ts'
import { coversUnseenInput } from './covers-unseen-input.ts'
import { cursorInSecondTransaction } from './cursor-in-second-transaction.ts'
import { deletionStopsEarly } from './deletion-stops-early.ts'
import { deliveryBetweenCallAndResult } from './delivery-between-call-and-result.ts'
import { dismissedTooEarly } from './dismissed-too-early.ts'
import { dismissesTheLiving } from './dismisses-the-living.ts'
import { duplicatesNotRecognised } from './duplicates-not-recognised.ts'
import { erasureLeavesHandoffs } from './erasure-leaves-handoffs.ts'
import { erasureLeavesMail } from './erasure-leaves-mail.ts'
import { erasureLeavesReplies } from './erasure-leaves-replies.ts'
import { everyToolRepeated } from './every-tool-repeated.ts'
import { failedInputStaysUnseen } from './failed-input-stays-unseen.ts'
import { failureIsNotNeutral } from './failure-is-not-neutral.ts'
import { hugeEntriesNotClipped } from './huge-entries-not-clipped.ts'
import { importMakesSecondSession } from './import-makes-second-session.ts'
import { inputBoundPerDelivery } from './input-bound-per-delivery.ts'
import { interruptReachesCompaction } from './interrupt-reaches-compaction.ts'
import { keysPerSession } from './keys-per-session.ts'
import { leaseWithoutVersionCheck } from './lease-without-version-check.ts'
import { lockFailsOpen } from './lock-fails-open.ts'
import { lostRepliesNotSearched } from './lost-replies-not-searched.ts'
import type { Mutant } from './mutant.ts'
import { newIdOnCompaction } from './new-id-on-compaction.ts'
import { noAttemptLimit } from './no-attempt-limit.ts'
import { noBase } from './no-base.ts'
import { noCapOnPoisonTurns } from './no-cap-on-poison-turns.ts'
import { noFenceAtCommit } from './no-fence-at-commit.ts'
import { noFenceAtDelivery } from './no-fence-at-delivery.ts'
import { noFenceAtReply } from './no-fence-at-reply.ts'
import { noFenceAtResults } from './no-fence-at-results.ts'
import { noMargin } from './no-margin.ts'
import { noTailCheckAtReply } from './no-tail-check-at-reply.ts'
import { notificationInterrupts } from './notification-interrupts.ts'
import { oneCommitPerStep } from './one-commit-per-step.ts'
import { oneLane } from './one-lane.ts'
import { openCallsDropped } from './open-calls-dropped.ts'
import { operationNotAbandoned } from './operation-not-abandoned.ts'
import { outboxWithoutClaim } from './outbox-without-claim.ts'
import { outboxWithoutOrder } from './outbox-without-order.ts'
import { pinsFrozenInHandoff } from './pins-frozen-in-handoff.ts'
import { pinsUnbounded } from './pins-unbounded.ts'
import { recoveryRepeated } from './recovery-repeated.ts'
import { replyLost } from './reply-lost.ts'
import { revertWithoutRoom } from './revert-without-room.ts'
import { sameFenceOnAcquire } from './same-fence-on-acquire.ts'
import { seenInputUncounted } from './seen-input-uncounted.ts'
import { sessionForked } from './session-forked.ts'
import { shrinkJudgedByGrownTail } from './shrink-judged-by-grown-tail.ts'
import { stepFencedByBase } from './step-fenced-by-base.ts'
import { stopSettledEarly } from './stop-settled-early.ts'
import { stopWithoutTarget } from './stop-without-target.ts'
import { systemTextUncounted } from './system-text-uncounted.ts'
import { twoCompactionsAtOnce } from './two-compactions-at-once.ts'
import { unansweredRequestsCompacted } from './unanswered-requests-compacted.ts'
import { unboundedDelivery } from './unbounded-delivery.ts'
import { wallClockLeases } from './wall-clock-leases.ts'
import { withdrawalForgotten } from './withdrawal-forgotten.ts'

/** Every planted bug, by name. */
export const MUTANTS: readonly Mutant[] = [
  acknowledgedBeforeDurable,
  anyHandoffAccepted,
  auditInSecondTransaction,
  baseRisesWithEveryAppend,
  blindRetry,
  blobCountedOffTwice,
  blobDroppedWhileUsed,
  bufferTruncated,
  compactionRewritesTranscript,
  compactionUnderOtherContext,
  contextLosesFirstOfTail,
  coversUnseenInput,
  cursorInSecondTransaction,
  deletionStopsEarly,
  deliveryBetweenCallAndResult,
  dismissedTooEarly,
  dismissesTheLiving,
  duplicatesNotRecognised,
  erasureLeavesHandoffs,
  erasureLeavesMail,
  erasureLeavesReplies,
  everyToolRepeated,
  failedInputStaysUnseen,
  failureIsNotNeutral,
  hugeEntriesNotClipped,
  importMakesSecondSession,
  inputBoundPerDelivery,
  interruptReachesCompaction,
  keysPerSession,
  leaseWithoutVersionCheck,
  lockFailsOpen,
  lostRepliesNotSearched,
  newIdOnCompaction,
  noAttemptLimit,
  noBase,
  noCapOnPoisonTurns,
  noFenceAtCommit,
  noFenceAtDelivery,
  noFenceAtReply,
  noFenceAtResults,
  noMargin,
  noTailCheckAtReply,
  notificationInterrupts,
  oneCommitPerStep,
  oneLane,
  openCallsDropped,
  operationNotAbandoned,
  outboxWithoutClaim,
  outboxWithoutOrder,
  pinsFrozenInHandoff,
  pinsUnbounded,
  recoveryRepeated,
  replyLost,
  revertWithoutRoom,
  sameFenceOnAcquire,
  seenInputUncounted,
  sessionForked,
  shrinkJudgedByGrownTail,
  stepFencedByBase,
  stopSettledEarly,
  stopWithoutTarget,
  systemTextUncounted,
  twoCompactionsAtOnce,
  unansweredRequestsCompacted,
  unboundedDelivery,
  wallClockLeases,
  withdrawalForgotten,
]
