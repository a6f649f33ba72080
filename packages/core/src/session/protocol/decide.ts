import { DECISIONS, type Decisions } from './policy.ts'
import { closeDown } from './rules/close.ts'
import {
  claimForRoom,
  claimInBackground,
  followOperation,
  offerHandoff,
} from './rules/compaction.ts'
import { adoptSettings, obeyControls } from './rules/controls.ts'
import { deliver, rest } from './rules/delivery.ts'
import {
  endStopped,
  mindStep,
  mindTools,
  offerReply,
  offerResults,
  recoverFirst,
  runStep,
} from './rules/turn.ts'
import type { Advance, Effect, Picture, State } from './state.ts'
import { type Choice, type Chosen, look, waitUntil } from './transition.ts'

/** The order is the protocol: what stands first is done first. */
const CHOICES: readonly Choice[] = [
  recoverFirst,
  followOperation,
  offerReply,
  offerResults,
  offerHandoff,
  closeDown,
  obeyControls,
  adoptSettings,
  mindTools,
  mindStep,
  endStopped,
  claimForRoom,
  deliver,
  claimInBackground,
  runStep,
  rest,
]

/** Each round begins or ends one of the three things that can run; more rounds are a loop. */
const ROUNDS_MAX = 16

export function decide(before: State, decisions: Decisions = DECISIONS): Advance {
  let state = before
  const effects: Effect[] = []
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (state.busy !== null) return { state, effects }
    const { picture } = state
    let next = state.stale || picture === null ? look(state) : choose(state, picture, decisions)
    if (next === null || next === 'wait') next = state.hinted ? look(state) : null
    if (next === null) return { state, effects }
    state = next.state
    effects.push(...next.effects)
  }
  throw new Error(`Session ${state.lease.sessionId}: the protocol does not come to rest.`)
}

function choose(state: State, picture: Picture, decisions: Decisions): Chosen {
  if (state.at.mono < state.retryAt) return waitUntil(state, state.retryAt)
  for (const choice of CHOICES) {
    const next = choice(state, picture, decisions)
    if (next !== null) return next
  }
  return null
}
