import { KnownError } from '#core/base/errors'
import type { StoreLocation } from './stage/store-location.ts'

/** The options of a rehearsal, and the constants that all its processes share. */
export interface Terms {
  readonly agents: number
  readonly seconds: number
  readonly windowTokens: number
  readonly faults: ReadonlySet<FaultName>
}

/** Faults that can be injected, by the name that `--faults` takes. */
export const FAULTS = {
  timeouts: 'summaries that take longer than they may',
  poisoned: 'pooled connections that are dead when they are used again',
  resets: 'connections reset before an answer and within it',
  stalls: 'answers that stop in the middle',
  outage: 'the provider is down for a while, and everybody writes meanwhile',
  kills: 'agents ended by kill -9 and started again',
  freezes: 'agents held for longer than their lease, then let go',
  duplicates: 'the same message sent twice at once through two processes',
} as const

export type FaultName = keyof typeof FAULTS
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[]

export class RehearsalError extends KnownError {
  override readonly name = 'RehearsalError'
  readonly code = 'rehearsal'
  readonly retryable = false
}

/** `all`, `none`, or names separated by commas. Throws `RehearsalError`. */
export function readFaults(text: string): ReadonlySet<FaultName> {
  if (text === 'all') return new Set(FAULT_NAMES)
  if (text === 'none') return new Set()
  return new Set(
    text.split(',').map((word) => {
      const found = FAULT_NAMES.find((name) => name === word.trim())
      if (found !== undefined) return found
      throw new RehearsalError(
        `There is no fault ${JSON.stringify(word.trim())}; known are all, none, ${FAULT_NAMES.join(', ')}.`,
      )
    }),
  )
}

/** An agent has one session, and both have one name: `agent-3`. */
export function agentName(number: number): string {
  return `agent-${number}`
}

/** Agents of the stage, each with one session, by the policy that its scene needs. */
export const CAST: Readonly<Record<string, 'queue' | 'steer' | 'interrupt'>> = {
  'scene-between': 'steer',
  'scene-bloated': 'steer',
  'scene-bound': 'steer',
  'scene-carried': 'steer',
  'scene-clock': 'steer',
  'scene-deleted': 'steer',
  'scene-effect': 'steer',
  'scene-erased': 'steer',
  'scene-grown': 'steer',
  'scene-huge': 'steer',
  'scene-images': 'steer',
  'scene-lanes': 'queue',
  'scene-late-compaction': 'steer',
  'scene-late-delivery': 'steer',
  'scene-late-reply': 'steer',
  'scene-late-results': 'steer',
  'scene-lost': 'steer',
  'scene-margin': 'steer',
  'scene-notified': 'interrupt',
  'scene-paid': 'steer',
  'scene-picture': 'steer',
  'scene-pins': 'steer',
  'scene-poison': 'queue',
  'scene-replies': 'queue',
  'scene-room': 'steer',
  'scene-sent': 'steer',
  'scene-stopped': 'queue',
  'scene-stops': 'queue',
  'scene-stubborn': 'steer',
  'scene-torn': 'steer',
  'scene-twice': 'steer',
  'scene-twin': 'steer',
  'scene-twins': 'steer',
  'scene-undone': 'steer',
  'scene-untorn': 'queue',
  'scene-withdrawn': 'queue',
}

/** Rotates through the three policies for a message that arrives during a turn. */
export function policyOf(name: string): 'queue' | 'steer' | 'interrupt' {
  const cast = CAST[name]
  if (cast !== undefined) return cast
  const number = Number(name.slice(name.lastIndexOf('-') + 1))
  return (['queue', 'steer', 'interrupt'] as const)[number % 3] ?? 'steer'
}

/** Short enough that a rehearsal sees take-overs, long enough for a busy machine. */
export const LEASE = { leaseMs: 8_000, renewMs: 1_500, marginMs: 1_500, pollMs: 200 } as const

/** Scenes are aimed, so a lease can be shorter and sessions are released soon. */
export const STAGE_LEASE = { leaseMs: 3_000, renewMs: 500, marginMs: 600, pollMs: 100 } as const

/** Longer than a lease, so that another process takes over from a frozen agent. */
export const FREEZE_MS = 9_500

/** How often at most a model is asked for the handoff of one session of the stage. */
export const ATTEMPTS_MAX = 5

/** How often a turn of the stage may lose its process before it is given up. */
export const LOSSES_MAX = 3

/** The edge through which replies leave the stage. */
export const EDGE = 'file'
/** Each line is one reply that was sent: session, number, attempt, claimant. */
export const SENT_FILE = 'sent'

/** The model that writes summaries, so that faults can be aimed at it. */
export const SUMMARY_MODEL = 'summary'

/** The options that an agent's process gets when it starts. */
export interface AgentOptions {
  readonly name: string
  /** Its own agent first, then those it takes over from. */
  readonly serves: readonly string[]
  readonly location: StoreLocation
  readonly folder: string
  readonly modelUrl: string
  readonly windowTokens: number
  readonly sabotage: Sabotage | null
  /** On the stage, scenes create the sessions; otherwise the agent gets one at once. */
  readonly isOnStage: boolean
}

/** A planted bug: the module that knows them, and which one. Only a clone has such a module. */
export interface Sabotage {
  readonly module: string
  readonly name: string
}
