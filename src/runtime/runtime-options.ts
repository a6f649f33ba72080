import type { Clock } from '../base/clock.ts'
import type { AuditWriter } from '../events/log.ts'
import type { Environment } from '../model/credential.ts'
import { DECISIONS, type Decisions } from '../session/decisions.ts'
import type { HandoffWriter } from '../session/handoff.ts'
import type { LeaseTimes } from '../session/runner.ts'
import type { Edge } from '../session/sender.ts'
import type { SessionSettings } from '../session/state.ts'
import type { Store } from '../store/contract.ts'
import type { RunnerRow } from '../store/rows.ts'
import type { ProcessLimits } from '../tools/process/processes.ts'
import type { StepRunner, ToolRunner } from '../turn/step.ts'
import type { Agent } from './agent.ts'
import type { Logger } from './logger.ts'
import type { AuxiliaryTerms } from './model-room.ts'

export interface RuntimeOptions {
  readonly store: Store
  readonly agents: readonly Agent[]
  readonly edges?: readonly Edge[]
  readonly logger?: Logger
  readonly clock?: Clock
  /** Where credentials that are variables come from; usually `process.env`. */
  readonly environment?: Environment
  readonly settings?: Partial<SessionSettings>
  /** Bounds of programs that agents start. */
  readonly processes?: ProcessLimits
  /** Terms of the calls beside the conversation: tasks, what may be spent, prices. */
  readonly auxiliary?: AuxiliaryTerms
  /** Where audit lines go; the caller opens and closes it. */
  readonly audit?: AuditWriter
  readonly lease?: LeaseTimes
  /** False: admits, reads and sends nothing; sessions are run by other processes. */
  readonly runs?: boolean
  /** Puts something in the place of a part: how failpoints and planted bugs get in. */
  readonly seams?: Partial<Seams>
}

export interface Seams {
  readonly store: (store: Store) => Store
  readonly steps: (steps: StepRunner, tools: ToolRunner) => StepRunner
  readonly tools: (tools: ToolRunner) => ToolRunner
  readonly writer: (writer: HandoffWriter) => HandoffWriter
  readonly decisions: Decisions
  /** What is made of the truth about another runner's process. */
  readonly isGone: (row: RunnerRow, isDead: boolean) => boolean
}

/** Every part as it is. */
export const SOUND: Seams = {
  store: (store) => store,
  steps: (steps) => steps,
  tools: (tools) => tools,
  writer: (writer) => writer,
  decisions: DECISIONS,
  isGone: (_row, isDead) => isDead,
}
