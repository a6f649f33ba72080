import { type AuditWriter, NO_AUDIT } from '#core/audit/log/log'
import { type Clock, systemClock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import { type Logger, SILENT } from '#core/base/logger'
import type { HandoffWriter } from '#core/session/handoff'
import { DECISIONS, type Decisions } from '#core/session/protocol/policy'
import type { LeaseTimes } from '#core/session/runner/runner-lease'
import type { Edge } from '#core/session/sender'
import { SESSION_SETTINGS, type SessionSettings } from '#core/session/settings'
import type { StepRunner, ToolRunner } from '#core/session/step'
import type { Store } from '#core/store/contract'
import type { RunnerRow } from '#core/store/tables/rows'
import type { Embedder } from '../model/embeddings/embedder.ts'
import type { Environment } from '../model/routes/credential.ts'
import type { ProcessLimits } from '../tools/process/processes.ts'
import type { Agent } from './agent.ts'
import type { HandoffThread } from './handoff-thread/handoff-thread.ts'
import type { AuxiliaryTerms } from './models/auxiliary-service.ts'
import { RETENTION_DAYS, type RetentionDays } from './store-layers/retention.ts'

export interface RuntimeOptions {
  readonly store: Store
  readonly agents: readonly Agent[]
  readonly edges?: readonly Edge[]
  readonly logger?: Logger
  readonly clock?: Clock
  /** Where credentials named by a variable are read; usually `process.env`. */
  readonly environment?: Environment
  readonly settings?: Partial<SessionSettings>
  /** Limits of programs that agents start. */
  readonly processes?: ProcessLimits
  readonly retention?: RetentionDays
  /** Settings of auxiliary calls: tasks, budget, prices. */
  readonly auxiliary?: AuxiliaryTerms
  /** Writes handoffs off the event loop; without it they are written on it, in small pieces. */
  readonly handoffThread?: HandoffThread
  /** Turns texts into vectors, for search by meaning; the caller opens and closes it. */
  readonly embedder?: Embedder
  /** The destination of audit lines; the caller opens and closes it. */
  readonly audit?: AuditWriter
  readonly lease?: LeaseTimes
  /** False: admits, reads and sends nothing; sessions are run by other processes. */
  readonly runs?: boolean
  /** Which clients' sessions go on without the proxy, as far as this computer knows. */
  readonly leftOf?: LeftOf
  /** Replaces a part, for failpoints and planted bugs. */
  readonly seams?: Partial<Seams>
}

/**
 * When `leave` wrote the handoff of a session into the client's own log, and how large the context is in
 * which the client goes on; null: it did not.
 */
export type LeftOf = (id: SessionId) => { readonly at: number; readonly tokens: number } | null

export interface Seams {
  readonly store: (store: Store) => Store
  readonly steps: (steps: StepRunner, tools: ToolRunner) => StepRunner
  readonly tools: (tools: ToolRunner) => ToolRunner
  readonly writer: (writer: HandoffWriter) => HandoffWriter
  readonly decisions: Decisions
  /** Wraps the check of whether another runner's process is alive. */
  readonly isGone: (row: RunnerRow, isDead: boolean) => boolean
}

/** Replaces nothing. */
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
    leftOf = () => null,
  } = options
  const { environment = {}, auxiliary = {}, retention = RETENTION_DAYS } = options
  return {
    ...options,
    ...{ edges, logger, clock, runs, audit, environment, auxiliary, retention, leftOf },
    settings: { ...SESSION_SETTINGS, ...options.settings },
    seams: { ...SOUND, ...options.seams },
  }
}
