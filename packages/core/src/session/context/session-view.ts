import type { MailItem } from '../../store/queries.ts'
import type { OperationRow, SessionRow } from '../../store/rows.ts'
import type { WantedSettings } from '../settings.ts'
import type { Context } from './build.ts'

/** What the store last told about the session, taken while nothing of ours was on its way. */
export interface SessionView {
  readonly session: SessionRow
  readonly context: Context
  /** Waiting control items, oldest first. */
  readonly controls: readonly MailItem[]
  /** Waiting input, user mail before notifications, each oldest first; bounded. */
  readonly waiting: readonly MailItem[]
  /** Newest first, bounded: breakers and rate limits are counted from these. */
  readonly operations: readonly OperationRow[]
  /** What the operator wants this session to run with; absent: whatever it has. */
  readonly wanted?: WantedSettings
  /** The turn was taken over from a holder whose last call of the model had failed. */
  readonly wasFailing?: true
  /** Where the answer of the running turn goes. */
  readonly replyTo: { readonly edge: string; readonly address: string } | null
}
