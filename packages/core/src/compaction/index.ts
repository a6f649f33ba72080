/** `@throughline/core/compaction`: `compact` for most programs, and the parts it consists of. */
export { assemble } from './assemble.ts'
export {
  type CheckRequest,
  type CompactionVerdict as Verdict,
  check,
  type Law,
  type LawViolation,
} from './check.ts'
export { compact } from './compact.ts'
export type { CompactOptions } from './compact-options.ts'
export type { Counters, CountTokens } from './counters.ts'
export { type DigestRequest, writeDigest } from './digest.ts'
export type { Layout } from './layout.ts'
export { buildLedger, type LedgerRequest } from './ledger/build.ts'
export { type Allotment, type Budget, resolveBudget } from './plan/budget.ts'
export { type BudgetSettings, DEFAULT_SETTINGS, PRESETS, type PresetName } from './plan/defaults.ts'
export {
  type CannotFitPlan,
  type CompactPlan,
  type KeepPlan,
  type Plan,
  type PlanRequest,
  plan,
  type Trigger,
} from './plan/plan.ts'
export { type Preserved, preserveUserMessages } from './plan/preserve.ts'
export { findSecrets, redact, type Secret } from './redact/redact.ts'
export { type Breakdown, CONTEXT_KINDS, type ContextKind } from './report/breakdown.ts'
export type { CompactResult } from './report/outcome.ts'
export type { CompactStats } from './report/stats.ts'
export {
  handoffPrompt,
  mergePrompt,
  type PromptOptions,
  type SummaryRequest,
} from './summary/prompt.ts'
export { type SummarizeRequest, summarize } from './summary/summarize.ts'
export {
  type SummaryReply,
  type SummaryWriter,
  WriterOverflowError,
} from './summary/summary-writer.ts'
