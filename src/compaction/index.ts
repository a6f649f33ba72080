/** `throughline/compaction`: one function for most, and the parts for those who want them. */
export { assemble } from './assemble.ts'
export { type Breakdown, CONTEXT_KINDS, type ContextKind } from './breakdown.ts'
export { type Allotment, type Budget, resolveBudget } from './budget.ts'
export { type CheckRequest, check, type Law, type LawViolation, type Verdict } from './check.ts'
export { type CompactOptions, compact } from './compact.ts'
export type { Counters, CountTokens } from './counters.ts'
export { type BudgetSettings, DEFAULT_SETTINGS, PRESETS, type PresetName } from './defaults.ts'
export { type DigestRequest, writeDigest } from './digest.ts'
export type { Layout } from './layout.ts'
export { buildLedger, type LedgerRequest } from './ledger/build.ts'
export type { CompactResult } from './outcome.ts'
export {
  type CannotFitPlan,
  type CompactPlan,
  type KeepPlan,
  type Plan,
  type PlanRequest,
  plan,
  type Trigger,
} from './plan.ts'
export { type Preserved, preserveUserMessages } from './preserve.ts'
export { handoffPrompt, mergePrompt, type PromptOptions, type SummaryRequest } from './prompt.ts'
export { findSecrets, redact, type Secret } from './redact.ts'
export type { CompactStats } from './stats.ts'
export {
  type SummarizeRequest,
  type SummaryReply,
  type SummaryWriter,
  summarize,
  WriterOverflowError,
} from './summarize.ts'
