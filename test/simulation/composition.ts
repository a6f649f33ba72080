import type { AuditWriter } from '../../packages/core/src/audit/log/log.ts'
import type { HandoffWriter } from '../../packages/core/src/session/handoff.ts'
import type { Decisions } from '../../packages/core/src/session/protocol/policy.ts'
import { DECISIONS } from '../../packages/core/src/session/protocol/policy.ts'
import type { LeaseTimes } from '../../packages/core/src/session/runner-lease.ts'
import { SESSION_SETTINGS, type SessionSettings } from '../../packages/core/src/session/settings.ts'
import type { StepRunner, ToolRunner } from '../../packages/core/src/session/step.ts'
import { TURN_ATTEMPTS_MAX } from '../../packages/core/src/store/bounds.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import type { Limits, RunnerRow } from '../../packages/core/src/store/rows.ts'
import { RULES, type Rules } from '../../packages/core/src/store/rules/rules.ts'

/**
 * Everything a run is composed of. A planted bug replaces one part and leaves the others alone; the
 * laws are not part of it.
 */
export interface Composition {
  readonly rules: Rules
  readonly decisions: Decisions
  readonly settings: SessionSettings
  readonly limits: Limits
  readonly lease: LeaseTimes
  /** Stands between a process and its store. */
  readonly store: (store: Store) => Store
  readonly steps: (steps: StepRunner, tools: ToolRunner) => StepRunner
  readonly tools: (tools: ToolRunner) => ToolRunner
  readonly writer: (writer: HandoffWriter) => HandoffWriter
  /** Which clock leases are counted with; a wrong answer is a planted bug. */
  readonly leaseClock: 'monotonic' | 'wall'
  /** What a process makes of the truth about another one. */
  readonly isGone: (row: RunnerRow, isDead: boolean) => boolean
  /** Where one life of a process keeps its audit lines. */
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
