import type { AuditWriter } from '../../packages/core/src/audit/log/log.ts'
import type { HandoffWriter } from '../../packages/core/src/session/handoff.ts'
import type { Decisions } from '../../packages/core/src/session/protocol/policy.ts'
import { DECISIONS } from '../../packages/core/src/session/protocol/policy.ts'
import type { LeaseTimes } from '../../packages/core/src/session/runner/runner-lease.ts'
import { SESSION_SETTINGS, type SessionSettings } from '../../packages/core/src/session/settings.ts'
import type { StepRunner, ToolRunner } from '../../packages/core/src/session/step.ts'
import { TURN_ATTEMPTS_MAX } from '../../packages/core/src/store/bounds.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { RULES, type Rules } from '../../packages/core/src/store/rules/rules.ts'
import type { Limits, RunnerRow } from '../../packages/core/src/store/tables/rows.ts'

/**
 * The parts of a run. A planted bug replaces one part and leaves the others unchanged; the laws are
 * not among them.
 */
export interface Composition {
  readonly rules: Rules
  readonly decisions: Decisions
  readonly settings: SessionSettings
  readonly limits: Limits
  readonly lease: LeaseTimes
  /** Wraps the store of a process. */
  readonly store: (store: Store) => Store
  readonly steps: (steps: StepRunner, tools: ToolRunner) => StepRunner
  readonly tools: (tools: ToolRunner) => ToolRunner
  readonly writer: (writer: HandoffWriter) => HandoffWriter
  /** The clock that measures leases; `wall` is a planted bug. */
  readonly leaseClock: 'monotonic' | 'wall'
  /** Whether a process considers another one dead; `isDead` is the truth. */
  readonly isGone: (row: RunnerRow, isDead: boolean) => boolean
  /** The audit writer of one process life. */
  readonly audit?: () => AuditWriter
}

export const LIMITS: Limits = {
  hardTokens: 4_000,
  pinTokens: 150,
  handoffTokens: 500,
  inputTokens: 600,
  stepTokens: 800,
  outputTokens: 300,
  laneMailMax: 400,
  sourceMailMax: 300,
}

export const COMPOSITION: Composition = {
  rules: RULES,
  decisions: DECISIONS,
  settings: {
    ...SESSION_SETTINGS,
    debounceMs: 400,
    collectMsMax: 2_000,
    lingerMs: 1_500,
    idleCompactionMs: 6_000,
    retryMs: 100,
    retryMsMax: 4_000,
    modelRetryMs: 100,
    modelRetryMsMax: 4_000,
    // One more than attempts, which end in the same way: the laws tell them apart.
    lossesMax: TURN_ATTEMPTS_MAX + 1,
    attemptsPerWindow: 10,
    attemptWindowMs: 30_000,
  },
  limits: LIMITS,
  lease: { leaseMs: 3_000, renewMs: 800, marginMs: 500, pollMs: 300 },
  store: (store) => store,
  steps: (steps) => steps,
  tools: (tools) => tools,
  writer: (writer) => writer,
  leaseClock: 'monotonic',
  isGone: (_row, isDead) => isDead,
}
