import type { AuditReport } from '#core/audit/audit'
import type { FaultFigures } from './fault-plan.ts'
import type { Tally } from './laws/judge.ts'
import type { Verdict, VerdictKind } from './laws/laws.ts'
import type { Scene } from './stage/stage.ts'
import type { StoreLocation } from './stage/store-location.ts'
import type { Sabotage, Terms } from './terms.ts'

/** A rehearsal's options, its progress, and its report. */
export interface RehearsalRequest extends Terms {
  /** Absent: a file in the rehearsal's own folder. */
  readonly location?: StoreLocation
  readonly isKept: boolean
  /** What the stage plays, act by act. */
  readonly acts: readonly (readonly Scene[])[]
  readonly sabotage: Sabotage | null
  /** The environment of the agents' processes. */
  readonly env: NodeJS.ProcessEnv
  readonly onPicture: (picture: Picture) => void
}

export type Phase = 'starting' | 'driving' | 'settling' | 'asking' | 'judging'

export interface Picture {
  readonly phase: Phase
  readonly elapsedMs: number
  readonly agents: readonly AgentLine[]
}

export interface AgentLine {
  readonly name: string
  readonly contextTokens: number
  readonly windowTokens: number
  /** `down`: no process is running. */
  readonly state: string
  readonly isCompacting: boolean
  readonly compactions: number
  readonly kills: number
  readonly acknowledged: number
  readonly waiting: number
}

export interface RehearsalReport {
  readonly verdict: VerdictKind
  readonly holds: boolean
  readonly verdicts: readonly Verdict[]
  readonly audit: AuditReport
  readonly figures: RehearsalFigures
  /** The folder with everything that was kept; null: it was removed. */
  readonly folder: string | null
}

export interface RehearsalFigures extends Tally, FaultFigures {
  readonly agents: number
  /** How long they were driven. */
  readonly seconds: number
  readonly windowTokens: number
  /** How many ran on the stage. */
  readonly scenes: number
  readonly compactions: number
  readonly compactionsFailed: number
  readonly takeOvers: number
  readonly turns: number
  readonly waitsForCompaction: number
  readonly waitsForModel: number
  readonly requests: number
  readonly requestTokensMax: number
  readonly loopOwnMsMax: number
  readonly loopDelayMsMax: number
  /** The largest delay of an idle thread. */
  readonly calibrationMsMax: number
  readonly load: number
}
