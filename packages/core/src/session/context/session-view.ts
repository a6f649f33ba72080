import type { MailItem } from '../../store/queries.ts'
import type { OperationRow, SessionRow } from '../../store/tables/rows.ts'
import type { WantedSettings } from '../settings.ts'
import type { Context } from './build.ts'

/** The session as last read from the store, while none of our commits was in flight. */
export interface SessionView {
  readonly session: SessionRow
  readonly context: Context
  /** Waiting control items, oldest first. */
  readonly controls: readonly MailItem[]
  /** Waiting input, user mail before notifications, each oldest first; bounded. */
  readonly waiting: readonly MailItem[]
  /** Newest first, bounded: breakers and rate limits are counted from these. */
  readonly operations: readonly OperationRow[]
  /** The settings that the operator configured for this session; absent: keep the current ones. */
  readonly wanted?: WantedSettings
  /** The turn was taken over from a holder whose last model call failed. */
  readonly wasFailing?: true
  /** Where the answer of the running turn goes. */
  readonly replyTo: { readonly edge: string; readonly address: string } | null
}
