import { anyHandoffAccepted } from './compaction/any-handoff-accepted.ts'
import { baseRisesWithEveryAppend } from './compaction/base-rises-with-every-append.ts'
import { clearsUnseenResults } from './compaction/clears-unseen-results.ts'
import { compactionRewritesTranscript } from './compaction/compaction-rewrites-transcript.ts'
import { compactionUnderOtherContext } from './compaction/compaction-under-other-context.ts'
import { contextLosesFirstOfTail } from './compaction/context-loses-first-of-tail.ts'
import { coversUnseenInput } from './compaction/covers-unseen-input.ts'
import { failedInputStaysUnseen } from './compaction/failed-input-stays-unseen.ts'
import { failureIsNotNeutral } from './compaction/failure-is-not-neutral.ts'
import { interruptReachesCompaction } from './compaction/interrupt-reaches-compaction.ts'
import { newIdOnCompaction } from './compaction/new-id-on-compaction.ts'
import { noBase } from './compaction/no-base.ts'
import { revertWithoutRoom } from './compaction/revert-without-room.ts'
import { shrinkJudgedByGrownTail } from './compaction/shrink-judged-by-grown-tail.ts'
import { stepFencedByBase } from './compaction/step-fenced-by-base.ts'
import { turnWaitsForModel } from './compaction/turn-waits-for-model.ts'
import { twoCompactionsAtOnce } from './compaction/two-compactions-at-once.ts'
import { unansweredRequestsCompacted } from './compaction/unanswered-requests-compacted.ts'
import { compactionSurvivesErasureElsewhere } from './forks/compaction-survives-erasure-elsewhere.ts'
import { copiesNotErased } from './forks/copies-not-erased.ts'
import { debtNotSeen } from './forks/debt-not-seen.ts'
import { erasureStaysInItsSession } from './forks/erasure-stays-in-its-session.ts'
import { forkGoesOnWithTheTurn } from './forks/fork-goes-on-with-the-turn.ts'
import { forkOneEntryShort } from './forks/fork-one-entry-short.ts'
import { importRevivesErased } from './forks/import-revives-erased.ts'
import { prefixKeptForNobody } from './forks/prefix-kept-for-nobody.ts'
import { purgeIgnoresForks } from './forks/purge-ignores-forks.ts'
import { recordInsideATurn } from './forks/record-inside-a-turn.ts'
import { recordStandsTwice } from './forks/record-stands-twice.ts'
import { replacementUnfenced } from './forks/replacement-unfenced.ts'
import { blobCountedOffTwice } from './keeping/blob-counted-off-twice.ts'
import { blobDroppedWhileUsed } from './keeping/blob-dropped-while-used.ts'
import { deletionStopsEarly } from './keeping/deletion-stops-early.ts'
import { erasureLeavesHandoffs } from './keeping/erasure-leaves-handoffs.ts'
import { erasureLeavesMail } from './keeping/erasure-leaves-mail.ts'
import { erasureLeavesReplies } from './keeping/erasure-leaves-replies.ts'
import { pinsFrozenInHandoff } from './keeping/pins-frozen-in-handoff.ts'
import { pinsUnbounded } from './keeping/pins-unbounded.ts'
import { withdrawalForgotten } from './keeping/withdrawal-forgotten.ts'
import { bufferTruncated } from './mailbox/buffer-truncated.ts'
import { deliveryBetweenCallAndResult } from './mailbox/delivery-between-call-and-result.ts'
import { duplicatesNotRecognized } from './mailbox/duplicates-not-recognized.ts'
import { hugeEntriesNotClipped } from './mailbox/huge-entries-not-clipped.ts'
import { inputBoundPerDelivery } from './mailbox/input-bound-per-delivery.ts'
import { keysPerSession } from './mailbox/keys-per-session.ts'
import { notificationInterrupts } from './mailbox/notification-interrupts.ts'
import { oneLane } from './mailbox/one-lane.ts'
import { seenInputUncounted } from './mailbox/seen-input-uncounted.ts'
import { stopSettledEarly } from './mailbox/stop-settled-early.ts'
import { stopWithoutTarget } from './mailbox/stop-without-target.ts'
import { unboundedDelivery } from './mailbox/unbounded-delivery.ts'
import type { Mutant } from './mutant.ts'
import { dismissedTooEarly } from './ownership/dismissed-too-early.ts'
import { dismissesTheLiving } from './ownership/dismisses-the-living.ts'
import { importMakesSecondSession } from './ownership/import-makes-second-session.ts'
import { leaseWithoutVersionCheck } from './ownership/lease-without-version-check.ts'
import { lockFailsOpen } from './ownership/lock-fails-open.ts'
import { lostHolderIsAnAttempt } from './ownership/lost-holder-is-an-attempt.ts'
import { noAttemptLimit } from './ownership/no-attempt-limit.ts'
import { noCapOnPoisonTurns } from './ownership/no-cap-on-poison-turns.ts'
import { noFenceAtCommit } from './ownership/no-fence-at-commit.ts'
import { noFenceAtDelivery } from './ownership/no-fence-at-delivery.ts'
import { noFenceAtReply } from './ownership/no-fence-at-reply.ts'
import { noFenceAtResults } from './ownership/no-fence-at-results.ts'
import { noMargin } from './ownership/no-margin.ts'
import { noTailCheckAtReply } from './ownership/no-tail-check-at-reply.ts'
import { operationNotAbandoned } from './ownership/operation-not-abandoned.ts'
import { recoveryRepeated } from './ownership/recovery-repeated.ts'
import { sameFenceOnAcquire } from './ownership/same-fence-on-acquire.ts'
import { sessionForked } from './ownership/session-forked.ts'
import { wallClockLeases } from './ownership/wall-clock-leases.ts'
import { acknowledgedBeforeDurable } from './replies-and-records/acknowledged-before-durable.ts'
import { auditInSecondTransaction } from './replies-and-records/audit-in-second-transaction.ts'
import { cursorInSecondTransaction } from './replies-and-records/cursor-in-second-transaction.ts'
import { lostRepliesNotSearched } from './replies-and-records/lost-replies-not-searched.ts'
import { outboxWithoutClaim } from './replies-and-records/outbox-without-claim.ts'
import { outboxWithoutOrder } from './replies-and-records/outbox-without-order.ts'
import { replyLost } from './replies-and-records/reply-lost.ts'
import { blindRetry } from './steps/blind-retry.ts'
import { everyToolRepeated } from './steps/every-tool-repeated.ts'
import { oneCommitPerStep } from './steps/one-commit-per-step.ts'
import { openCallsDropped } from './steps/open-calls-dropped.ts'
import { systemTextUncounted } from './steps/system-text-uncounted.ts'

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
  compactionSurvivesErasureElsewhere,
  compactionUnderOtherContext,
  contextLosesFirstOfTail,
  copiesNotErased,
  clearsUnseenResults,
  coversUnseenInput,
  cursorInSecondTransaction,
  debtNotSeen,
  deletionStopsEarly,
  deliveryBetweenCallAndResult,
  dismissedTooEarly,
  dismissesTheLiving,
  duplicatesNotRecognized,
  erasureLeavesHandoffs,
  erasureLeavesMail,
  erasureLeavesReplies,
  erasureStaysInItsSession,
  everyToolRepeated,
  failedInputStaysUnseen,
  failureIsNotNeutral,
  forkGoesOnWithTheTurn,
  forkOneEntryShort,
  hugeEntriesNotClipped,
  importMakesSecondSession,
  importRevivesErased,
  inputBoundPerDelivery,
  interruptReachesCompaction,
  keysPerSession,
  leaseWithoutVersionCheck,
  lockFailsOpen,
  lostHolderIsAnAttempt,
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
  prefixKeptForNobody,
  purgeIgnoresForks,
  recordInsideATurn,
  recordStandsTwice,
  recoveryRepeated,
  replacementUnfenced,
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
  turnWaitsForModel,
  twoCompactionsAtOnce,
  unansweredRequestsCompacted,
  unboundedDelivery,
  wallClockLeases,
  withdrawalForgotten,
]
