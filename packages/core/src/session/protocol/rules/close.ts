import { CLOSING } from '../../context/budget.ts'
import type { State } from '../state.ts'
import { commit, type RuleOutcome } from '../transition.ts'
import { abortStep, abortTools } from './turn.ts'

/** Nothing new begins; what runs is ended; then the lease is given back, whatever still waits. */
export function closeDown(state: State): RuleOutcome {
  if (state.phase !== 'closing') return null
  const { step, tools, handoff } = state
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
  return commit(state, { verb: 'release', request: { lease: state.lease, reason: 'shutdown' } })
}
