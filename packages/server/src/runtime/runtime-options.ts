import { type AuditWriter, NO_AUDIT } from '#core/audit/log/log'
import { type Clock, systemClock } from '#core/base/clock'
import { type Logger, SILENT } from '#core/base/logger'
import type { HandoffWriter } from '#core/session/handoff'
import { DECISIONS, type Decisions } from '#core/session/protocol/policy'
import type { LeaseTimes } from '#core/session/runner-lease'
import type { Edge } from '#core/session/sender'
import { SESSION_SETTINGS, type SessionSettings } from '#core/session/settings'
import type { StepRunner, ToolRunner } from '#core/session/step'
import type { Store } from '#core/store/contract'
import type { RunnerRow } from '#core/store/rows'
import type { Environment } from '../model/routes/credential.ts'
import type { ProcessLimits } from '../tools/process/processes.ts'
import type { Agent } from './agent.ts'
import type { HandoffThread } from './handoffs/handoff-thread.ts'
import type { AuxiliaryTerms } from './models/auxiliary-service.ts'

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
  /** Writes handoffs beside the event loop; without it they are written on it, in small pieces. */
  readonly handoffThread?: HandoffThread
  /** Where audit lines go; the caller opens and closes it. */
  readonly audit?: AuditWriter
  readonly lease?: LeaseTimes
  /** False: admits, reads and sends nothing; sessions are run by other processes. */
  readonly runs?: boolean
  /** Replaces a part: how failpoints and planted bugs get in. */
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
const SOUND: Seams = {
  store: (store) => store,
  steps: (steps) => steps,
  tools: (tools) => tools,
  writer: (writer) => writer,
  decisions: DECISIONS,
  isGone: (_row, isDead) => isDead,
}

export type CompleteOptions = ReturnType<typeof completeOptions>

export function completeOptions(options: RuntimeOptions) {
  const {
    edges = [],
    logger = SILENT,
    clock = systemClock,
    runs = true,
    audit = NO_AUDIT,
  } = options
  const { environment = {}, auxiliary = {} } = options
  return {
    ...options,
    ...{ edges, logger, clock, runs, audit, environment, auxiliary },
    settings: { ...SESSION_SETTINGS, ...options.settings },
    seams: { ...SOUND, ...options.seams },
  }
}
