import type { EntryNumber } from '../../../base/ids.ts'
import type { JsonValue } from '../../../base/json.ts'
import type { MailItem } from '../../../store/queries.ts'
import type { OperationRow } from '../../../store/tables/rows.ts'
import { CLOSING, isCarried, isClean } from '../../context/budget.ts'
import { parsePreview } from '../../context/parse-preview.ts'
import type { SessionView } from '../../context/session-view.ts'
import type { Decisions } from '../policy.ts'
import { mailBody, type State } from '../state.ts'
import { mayAsk, type RuleOutcome, refuseControl } from '../transition.ts'
import { claim, owesErasure, runningOf } from './claim.ts'

/** Compactions that a person requests, and previews that one has approved. */
/** A person's request joins the running operation, and waits until one has ended after it. */
export function claimManual(
  state: State,
  view: SessionView,
  mail: MailItem,
  decisions: Decisions,
): RuleOutcome {
  const running = runningOf(view)
  if (owesErasure(view) || (running !== undefined && running.by !== 'rewrite')) return null
  const { settings } = state
  const asked = mayAsk(state, view, decisions, 'manual')
  const covers = decisions.planCover(view, 'manual', settings)
  if (covers === null) return refuseControl(state, mail.number, { why: 'nothing-to-compact' })
  const hasFailed = view.operations.some(
    ({ requestedBy, state, result }) =>
      requestedBy === mail.number && state === 'failed' && result['reason'] !== CLOSING,
  )
  return claimFor(mail, state, covers, hasFailed || asked.kind === 'wait' ? 'digest' : 'model')
}

/** A preview is installed unchanged or not at all: its base must still be current. */
export function claimPreview(state: State, view: SessionView, mail: MailItem): RuleOutcome {
  const running = runningOf(view)
  if (owesErasure(view) || (running !== undefined && running.by !== 'rewrite')) return null
  const { session } = view
  const shown = parsePreview(mailBody(mail))
  if (shown === null) return refuseControl(state, mail.number, { why: 'not-understood' })
  const { base, covers } = shown
  const isNews = covers > session.covers && covers <= session.seen
  if (base !== session.base || !isNews || !isClean(view.context, covers)) {
    return refuseControl(state, mail.number, { why: 'out-of-date' })
  }
  return claimFor(mail, state, covers, 'model', 'preview installed')
}

function claimFor(
  { number }: MailItem,
  state: State,
  covers: EntryNumber,
  by: 'model' | 'digest',
  reason = 'requested',
): RuleOutcome {
  return claim(state, { by, trigger: 'manual', covers, reason, requestedBy: number })
}

/** The preview that a person has approved, as the handoff of this operation. */
export function installedBy(view: SessionView, operation: OperationRow) {
  const { controls, context } = view
  const mail = controls.find(
    ({ number, control }) => number === operation.requestedBy && control === 'install',
  )
  if (mail === undefined) return null
  const shown = parsePreview(mailBody(mail))
  if (shown === null) return null
  const { handoff, tokens } = shown
  const carries = context.pieces
    .filter((piece) => piece.number <= operation.covers && isCarried(piece, shown.carries))
    .map((piece) => piece.number)
  return { body: handoff as unknown as JsonValue, tokens, carries }
}
