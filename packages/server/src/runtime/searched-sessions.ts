import type { SessionId } from '#core/base/ids'

/** Which sessions to search; all conditions must hold. None: every session of the store. */
export interface SearchedSessions {
  readonly agent?: string
  /** Only sessions of this person. */
  readonly scope?: string
  readonly sessionIds?: readonly SessionId[]
}
