import { REWRITES_MAX } from '../../../store/bounds.ts'
import type { SessionView } from '../../context/session-view.ts'
import type { Decisions } from '../policy.ts'
import { type State, withoutEffects } from '../state.ts'
import { commit, commitNew, fencedBy, mayAsk, type RuleOutcome, waitUntil } from '../transition.ts'

/** Delivers input, and handles an idle session. */

/** Delivers the mail that may enter now, up to the bound on unseen input (decisions 4, 12, 25). */
export function deliverWaitingMail(
  state: State,
  view: SessionView,
  decisions: Decisions,
): RuleOutcome {
  // A step that started during a delivery would find new input before its own reply.
  if (state.inDoubt?.verb === 'deliver') return commit(state, state.inDoubt)
  const { turnState, policy } = view.session
  if (turnState === 'idle' && policy === 'collect') {
    const held = holdCollected(state, view)
    if (held !== null) return held
  }
  const mail = decisions.pickDelivery(view)
  if (mail.length === 0) return null
  return commitNew({ ...state, collect: null }, (operation) => ({
    verb: 'deliver',
    request: { ...fencedBy(state, view), operation, mail },
  }))
}

/** Collected mail waits until the sender pauses, up to a limit. */
function holdCollected(state: State, { waiting }: SessionView): RuleOutcome {
  const newest = waiting.at(-1)?.number
  if (newest === undefined) return null
  const { mono } = state.at
  const known = state.collect
  const collect =
    known?.newest === newest ? known : { newest, since: known?.since ?? mono, newestSince: mono }
  const { debounceMs, collectMsMax } = state.settings
  const due = Math.min(collect.newestSince + debounceMs, collect.since + collectMsMax)
  if (due <= mono) return null
  return known === collect ? waitUntil(state, due) : withoutEffects({ ...state, collect })
}

/** Nothing to do: linger, then release the lease with an alarm for an idle compaction. */
export function restOrRelease(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  const { session } = view
  const { lease, at, settings } = state
  if (session.operation !== null || state.handoff.kind !== 'none') return 'wait'
  if (state.erasure.kind === 'writing') return 'wait'
  if (session.wakeAt !== null && session.wakeAt <= at.wall) {
    const due = { ...state, idleDue: true }
    return commit(due, { verb: 'setWake', request: { lease, wakeAt: null } })
  }
  // While a digest can be rewritten the store lists the session as ready: a release would only lead
  // to another acquisition.
  if (session.by === 'digest' && session.rewrites < REWRITES_MAX) {
    const asked = mayAsk(state, view, decisions)
    if (asked.kind === 'wait') return waitUntil(state, at.mono + asked.waitMs)
  }
  if (state.restingSince === null) return withoutEffects({ ...state, restingSince: at.mono })
  const until = state.restingSince + settings.lingerMs
  if (at.mono < until) return waitUntil(state, until)
  const alarm = alarmFor(state, view, decisions)
  return commit(state, { verb: 'release', request: { lease, reason: 'idle', ...alarm } })
}

/** When to look whether an idle compaction is worthwhile. */
function alarmFor(
  { at, settings }: State,
  view: SessionView,
  decisions: Decisions,
): { readonly wakeAt?: number } {
  const known = view.session.wakeAt
  if (settings.idleCompactionMs === null) return {}
  const wakeAt = at.wall + settings.idleCompactionMs
  // Later than any setting allows: the clock has jumped, and the alarm would fire years from now.
  const isMissing = known === null || known > wakeAt
  return isMissing && decisions.planCover(view, 'idle', settings) !== null ? { wakeAt } : {}
}
