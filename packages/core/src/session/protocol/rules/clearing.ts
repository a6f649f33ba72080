import type { JsonValue } from '../../../base/json.ts'
import type { Trigger } from '../../../compaction/plan/plan.ts'
import { REWRITES_MAX } from '../../../store/bounds.ts'
import type { OperationRow } from '../../../store/tables/rows.ts'
import { NOT_SMALLER } from '../../context/budget.ts'
import { NO_HANDOFF } from '../../context/build.ts'
import type { SessionView } from '../../context/session-view.ts'
import type { Decisions } from '../policy.ts'
import { type State, withoutEffects } from '../state.ts'
import type { RuleOutcome } from '../transition.ts'
import { claim } from './claim.ts'

/** Before a compaction: where it suffices, old tool results are shortened and nothing is summarized. */
export function claimClearing(
  state: State,
  view: SessionView,
  decisions: Decisions,
  trigger: Trigger,
): RuleOutcome {
  const { session } = view
  // A model should rewrite the digest first, or make a handoff of more.
  if (session.by === 'digest' && session.rewrites < REWRITES_MAX) return null
  if (decisions.planClearing(view, state.settings) === null) return null
  const reason = 'old tool results take enough'
  return claim(state, { by: 'clearing', trigger, covers: session.covers, reason })
}

/** Nothing is written: the handoff in effect stays, and what is shortened is decided here. */
export function followClearing(
  state: State,
  view: SessionView,
  operation: OperationRow,
  decisions: Decisions,
): RuleOutcome {
  const { session, context } = view
  const clearing = decisions.planClearing(view, state.settings)
  if (clearing === null) {
    const reason = NOT_SMALLER
    return withoutEffects({
      ...state,
      handoff: { kind: 'refused', operation, focus: null, reason },
    })
  }
  const carries = context.pieces
    .filter((piece) => piece.number <= session.covers && piece.mail !== undefined)
    .map((piece) => piece.number)
  const { message, tokens = 0 } = context.handoff ?? {}
  const body = message?.role === 'handoff' ? (message.handoff as unknown as JsonValue) : NO_HANDOFF
  return withoutEffects({
    ...state,
    handoff: { kind: 'written', operation, focus: null, body, tokens, carries, clearing },
  })
}
