import type { SessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { AuditKind } from '../../store/tables/rows.ts'

/**
 * Stored events have a cursor and come once, in order. Live ones have none: they are provisional,
 * and are lost with the process. Deltas of one attempt belong together; `void` withdraws them. A
 * subscription begins with the text of running attempts so far, each after a `void`, and with the
 * notices of turns that still wait.
 */
export type RuntimeEvent =
  | {
      readonly type: 'stored'
      readonly cursor: number
      readonly at: number
      readonly sessionId: SessionId
      readonly kind: AuditKind
      readonly operationId: string | null
      readonly facts: JsonObject
    }
  | ({ readonly type: 'live'; readonly sessionId: SessionId } & LiveEvent)
  /** All stored events were delivered; the following ones are new. */
  | { readonly type: 'caught-up'; readonly cursor: number; readonly store: string }

export type LiveEvent =
  | ({ readonly kind: 'delta' | 'reasoning'; readonly text: string } & AttemptId)
  | ({ readonly kind: 'void' } & AttemptId)
  | ({ readonly kind: 'call'; readonly callId: string; readonly tool: string } & AttemptId)
  | {
      readonly kind: 'notice'
      readonly turn: number
      readonly code:
        | 'waiting-for-compaction'
        | 'waiting-for-model'
        | 'waiting-for-approval'
        | 'retrying'
        | 'stop-deferred'
        | 'budget-spent'
        | 'message-shortened'
      /**
       * For the person who waits: what happened, what the system does about it, what they can do.
       */
      readonly text: string
      /** When the next try is. */
      readonly nextTryAt?: number
      /** The same wait was announced before; only the reason or the time of the next try is new. */
      readonly isUpdate?: true
    }

/** The notice for a person who waits. */
export type WaitNotice = Extract<LiveEvent, { kind: 'notice' }>
/** A notice that is still valid. */
export type CurrentNotice = { readonly sessionId: SessionId } & WaitNotice

export interface EventQuery {
  readonly sessionId?: SessionId
  /** The cursor of the last stored event that the caller has. */
  readonly after?: number
}

/** Which attempt at which step of which turn; `step` is the entry that the context was built up to. */
export interface AttemptId {
  readonly turn: number
  readonly step: number
  readonly attempt: string
}

/** The warning for the people in a session after a committed compaction, if any. */
export function warningIn(event: Extract<RuntimeEvent, { type: 'stored' }>): string | null {
  const { warning } = event.facts
  return event.kind === 'compaction committed' && typeof warning === 'string' ? warning : null
}
