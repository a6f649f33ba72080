import type { JsonValue } from '../base/json.ts'
import type { AgentOptions } from './terms.ts'

/** What the rehearsal and an agent's process say to each other. Questions carry a number. */
export type Order =
  | { readonly verb: 'begin'; readonly options: AgentOptions }
  | ({ readonly verb: 'ask'; readonly id: number } & Question)
  /** Holds the process: no timer and no socket is looked at for so long. */
  | { readonly verb: 'freeze'; readonly ms: number }
  | { readonly verb: 'end' }

export type Question =
  | {
      readonly what: 'admit'
      readonly sessionId: string
      readonly source: string
      readonly key: string
      readonly lane: 'user' | 'notification'
      readonly text: string
    }
  | {
      readonly what: 'stop'
      readonly sessionId: string
      readonly source: string
      readonly key: string
    }
  /** Waits for the reply to that mail. */
  | { readonly what: 'reply'; readonly sessionId: string; readonly mail: number }

export type Told =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: JsonValue }
  | { readonly kind: 'refusal'; readonly id: number; readonly problem: string }
  | ({ readonly kind: 'status' } & Status)
  /** A person would have been told that a turn waits. */
  | { readonly kind: 'wait'; readonly sessionId: string; readonly code: string }
  /** The tool with an effect outside has just had it; its result is not committed yet. */
  | { readonly kind: 'effect'; readonly parcel: string }
  | { readonly kind: 'trouble'; readonly text: string }

export interface Status {
  readonly contextTokens: number
  readonly waiting: number
  readonly state: string
  readonly isCompacting: boolean
  readonly loop: LoopFigures
}

/** Milliseconds. `delay` counts everything that held the loop, `own` what our work can have held. */
export interface LoopFigures {
  readonly delayMsMax: number
  readonly ownMsMax: number
}
