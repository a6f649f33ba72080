import type { JsonValue } from '#core/base/json'
import type { PlannedFault } from './fault-injector.ts'
import type { Fact } from './observer.ts'
import type { AgentOptions } from './terms.ts'

/** The messages between the rehearsal and an agent's process. Questions carry a number. */
export type Order =
  | { readonly verb: 'begin'; readonly options: AgentOptions }
  | ({ readonly verb: 'ask'; readonly id: number } & Question)
  /** Blocks the process: no timer and no socket runs for this long. */
  | { readonly verb: 'freeze'; readonly ms: number }
  | { readonly verb: 'release'; readonly planned: string }
  /** Makes the wall clock of this process jump. */
  | { readonly verb: 'clock'; readonly aheadMs: number }
  /** Whether the edge sends replies or makes them wait. */
  | { readonly verb: 'edge'; readonly isOpen: boolean }
  | { readonly verb: 'end' }

export type Question =
  | SessionAction
  /** Answered when it is armed. */
  | { readonly what: 'inject'; readonly planned: PlannedFault }
  /** While resting, the process takes no free session. */
  | { readonly what: 'rest'; readonly isResting: boolean }

/** An operation on a session, as a gateway or a command would request it. */
export type SessionAction =
  | {
      readonly what: 'admit'
      readonly sessionId: string
      readonly source: string
      readonly key: string
      readonly lane: 'user' | 'notification'
      readonly text: string
      /** The edge sends the reply to this address. */
      readonly address?: string
      /** Base64 of an attached image. */
      readonly picture?: string
    }
  | { readonly what: 'create'; readonly sessionId: string }
  /** One of the verbs of a session, as a gateway would call it. */
  | {
      readonly what: 'do'
      readonly sessionId: string
      readonly action: 'compact' | 'revert' | 'pin' | 'withdraw' | 'purge' | 'preview' | 'install'
      readonly request: JsonValue
    }
  | { readonly what: 'export'; readonly sessionId: string }
  | { readonly what: 'import'; readonly sessionId: string; readonly lines: readonly string[] }
  /** Deletes files that are no longer used. */
  | { readonly what: 'sweep'; readonly sessionId: string }
  | {
      readonly what: 'stop'
      readonly sessionId: string
      readonly source: string
      readonly key: string
    }
  /** Waits for the reply to that mail. */
  | { readonly what: 'reply'; readonly sessionId: string; readonly mail: number }

export type ProcessMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: JsonValue }
  | { readonly kind: 'refusal'; readonly id: number; readonly problem: string }
  | ({ readonly kind: 'status' } & Status)
  /** A person would have been told that a turn waits. */
  | { readonly kind: 'wait'; readonly sessionId: string; readonly code: string }
  /** The tool with an external effect has just run; its result is not committed yet. */
  | {
      readonly kind: 'effect'
      readonly parcel: string
      /** How long the lease had been expired when the effect began. */
      readonly overdueMs: number
    }
  | { readonly kind: 'fault met'; readonly planned: string }
  | { readonly kind: 'repeated'; readonly planned: PlannedFault; readonly outcome: string }
  | ({ readonly kind: 'fact' } & Fact)
  | { readonly kind: 'failure'; readonly text: string }

export interface Status {
  readonly contextTokens: number
  readonly waiting: number
  readonly state: string
  readonly isCompacting: boolean
  readonly loop: LoopFigures
}

/** Milliseconds. `delay`: all delays of the loop; `own`: the most that our work caused. */
export interface LoopFigures {
  readonly delayMsMax: number
  readonly ownMsMax: number
}
