import { CLOSING } from '../../context/budget.ts'
import type { State } from '../state.ts'
import { commit, type RuleOutcome } from '../transition.ts'
import { abortStep, abortTools } from './turn.ts'

/** Starts nothing new, ends what runs, then releases the lease even if mail still waits. */
export function closeDown(state: State): RuleOutcome {
  if (state.phase !== 'closing') return null
  const { step, tools, handoff, erasure } = state
  if (step.kind === 'running' && !step.aborting) return abortStep(state)
  if (tools.kind === 'running' && !tools.aborting) return abortTools(state)
  if (handoff.kind === 'writing') {
    const { operation, focus } = handoff
    return {
      state: { ...state, handoff: { kind: 'refused', operation, focus, reason: CLOSING } },
      effects: [{ kind: 'abortHandoff', reason: CLOSING }],
    }
  }
  if (step.kind === 'running' || tools.kind === 'running') return 'wait'
  // A digest takes little time, and it must not start once another process holds the session.
  if (erasure.kind === 'writing') return 'wait'
  return commit(state, { verb: 'release', request: { lease: state.lease, reason: 'shutdown' } })
}
