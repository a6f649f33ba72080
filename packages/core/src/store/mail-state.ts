import type { MailRow, MailState, SessionRow } from './tables/rows.ts'

/**
 * Delivery and settlement do not change mail rows; the session's cursors show them. Flags on the
 * rows made steps slower as the session aged (2.7 ms instead of 0.8 ms after a few thousand).
 */
export function mailState(
  session: Pick<SessionRow, 'delivered' | 'settled'>,
  mail: Pick<MailRow, 'lane' | 'number' | 'state'>,
): MailState {
  if (mail.state === 'withdrawn') return 'withdrawn'
  if (mail.lane === 'control') return mail.state === 'settled' ? 'settled' : 'pending'
  if (mail.number <= session.settled[mail.lane]) return 'settled'
  return mail.number <= session.delivered[mail.lane] ? 'delivered' : 'pending'
}
