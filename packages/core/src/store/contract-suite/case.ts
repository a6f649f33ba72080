import type { EntryNumber, MailNumber, RunnerId, SessionId } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import type { SessionRow } from '../tables/rows.ts'

/** One law of the store's contract, as a function that throws when the law is broken. */
export interface StoreCase {
  /** A sentence in the present tense; names the invariants it tests in brackets. */
  readonly name: string
  readonly run: (bench: StoreBench) => Promise<void>
}

/** What an engine's author supplies: a fresh store, more handles on it, and ways to damage it. */
export interface StoreBench {
  readonly store: Store
  /** Another handle on the same rows, as another process would have it. */
  sibling(): Promise<Store>
  /** A separate empty store of the same engine. */
  fresh(): Promise<Store>
  /** Makes a runner count as silent for a whole lease period, then has it dismissed. */
  dismiss(runner: RunnerId): Promise<void>
  /** Changes rows without the store's knowledge. */
  readonly harm: {
    changeBody(sessionId: SessionId, entry: EntryNumber): Promise<void>
    changeHead(sessionId: SessionId, entry: EntryNumber): Promise<void>
    remove(sessionId: SessionId, entry: EntryNumber): Promise<void>
    swap(sessionId: SessionId, one: EntryNumber, other: EntryNumber): Promise<void>
    /** Removes body and salt, as an erasure does. */
    empty(sessionId: SessionId, entry: EntryNumber): Promise<void>
    changeSessionRow(sessionId: SessionId): Promise<void>
    changeState(sessionId: SessionId, state: SessionRow['state']): Promise<void>
    changeAudit(cursor: number): Promise<void>
    /** Replaces the body of a mail. */
    changeMail(sessionId: SessionId, mail: MailNumber): Promise<void>
    removeMail(sessionId: SessionId, mail: MailNumber): Promise<void>
    changeBlob(sessionId: SessionId, hash: string): Promise<void>
    removeBlob(sessionId: SessionId, hash: string): Promise<void>
    removeSession(sessionId: SessionId): Promise<void>
    /** Deletes the newest audit row and every count of it in the store. */
    cutAudit(): Promise<void>
  }
}
