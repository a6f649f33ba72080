import type { MailNumber } from '../../base/ids.ts'
import { DELIVERY_MAX, WAITING_NOTE_TOKENS } from '../../store/bounds.ts'
import type { MailItem } from '../../store/queries.ts'
import {
  carriedBy,
  judgeHandoff,
  mayAskModel,
  openInputTokens,
  planCover,
} from '../context/budget.ts'
import { planClearing } from '../context/clearing.ts'
import type { SessionView } from '../context/session-view.ts'
import type { SessionSettings } from '../settings.ts'

/**
 * The decisions that the protocol depends on, in one replaceable place, so that the simulation can
 * plant a wrong one and see it caught.
 */
export interface Decisions {
  /** The stop for the running turn; null if none waits. */
  stopOf(view: SessionView): MailItem | null
  /** Whether a person's message ends the running step (decision 25). */
  isInterrupted(view: SessionView): boolean
  /** Which waiting mail enters the transcript now. */
  pickDelivery(view: SessionView): readonly MailNumber[]
  planCover: typeof planCover
  planClearing: typeof planClearing
  carriedBy: typeof carriedBy
  mayAskModel: typeof mayAskModel
  judgeHandoff: typeof judgeHandoff
  /** Whether a turn whose next step does not fit waits for a model's summary (I35). */
  waitsForModel(settings: SessionSettings): boolean
}

export const DECISIONS: Decisions = {
  stopOf,
  isInterrupted: ({ session, waiting }) =>
    session.policy === 'interrupt' && waiting.some((mail) => mail.lane === 'user'),
  pickDelivery,
  planCover,
  planClearing,
  carriedBy,
  mayAskModel,
  judgeHandoff,
  waitsForModel: ({ atHardLimit }) => atHardLimit === 'wait',
}

/** Only a stop for this turn; a stop for an earlier turn has no effect. */
function stopOf({ session, controls }: SessionView): MailItem | null {
  if (session.turnState !== 'running') return null
  return controls.find((mail) => mail.control === 'stop' && mail.turnAt === session.turn) ?? null
}

/**
 * People first, then notifications, in the order of each lane, within the bound on unanswered input
 * (I34); the rest waits, and space is left for a note about it. During a turn only `steer` and
 * `interrupt` let anything in; between two steps there is no stream left to interrupt, so both
 * steer.
 */
export function pickDelivery(view: SessionView): readonly MailNumber[] {
  const { session, waiting } = view
  const isClosed = session.policy === 'queue' || session.policy === 'collect'
  if (session.turnState === 'running' && isClosed) return []
  const picked: MailNumber[] = []
  const sizes: number[] = []
  const { inputTokens } = session.limits
  let open = openInputTokens(view)
  for (const mail of waiting) {
    if (picked.length === DELIVERY_MAX) break
    const size = Math.max(1, mail.tokens)
    if (open > 0 && open + size > inputTokens) break
    open += size
    sizes.push(size)
    picked.push(mail.number)
  }
  const { user, notification } = session.pending
  while (
    picked.length > 1 &&
    picked.length < user + notification &&
    open + WAITING_NOTE_TOKENS > inputTokens
  ) {
    picked.pop()
    open -= sizes.pop() ?? 0
  }
  return picked
}
