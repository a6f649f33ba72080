import type { LeaseTimes } from '../../packages/core/src/session/runner/runner-lease.ts'
import type { Limits } from '../../packages/core/src/store/tables/rows.ts'
import type { Paces } from './far-ends.ts'
import type { Place } from './place.ts'

/** The options of an agent's process, as JSON in its first argument. */
export interface AgentOptions {
  readonly folder: string
  readonly place: Place
  readonly name: string
  readonly agents: readonly string[]
  readonly lease: LeaseTimes
  readonly paces: Paces
  /** `wait` keeps a held compaction under way; by default a digest supersedes it. */
  readonly atHardLimit?: 'digest' | 'wait'
  /** Messages that the agent itself sends to these sessions, in a fixed order. */
  readonly sends?: {
    readonly sessions: readonly string[]
    readonly paceMs: number
    readonly count?: number
  }
}

/** Small, so that a session crosses its threshold every twenty messages. */
export const LIMITS: Limits = {
  hardTokens: 3_000,
  pinTokens: 100,
  handoffTokens: 500,
  inputTokens: 600,
  stepTokens: 600,
  outputTokens: 200,
  laneMailMax: 2_000,
  sourceMailMax: 2_000,
}

export const PACES: Paces = { stepMs: 8, toolMs: 3, handoffMs: 60, handoffFailures: 7 }

// On a machine with thirty times the work it can do, a lease of 700 ms ended before its owner had
// made one step, again and again: nothing was lost, but the run never became idle.
export const CALM_LEASE: LeaseTimes = {
  ...{ leaseMs: 8_000, renewMs: 1_000 },
  ...{ marginMs: 1_600, pollMs: 100 },
}

/** Leases as short as the number of processes on this machine allows. */
export function leaseFor(processes: number): LeaseTimes {
  const leaseMs = processes === 1 ? 300 : processes <= 4 ? 700 : 1_200
  return { leaseMs, renewMs: leaseMs / 4, marginMs: leaseMs / 5, pollMs: processes <= 4 ? 40 : 100 }
}
