import type { EntryNumber, SessionId } from '../base/ids.ts'
import type { Unknown } from './operational-rows.ts'
import type { Done } from './outcomes.ts'

/** How far a session is embedded, and by which model. */
export interface EmbeddedRow {
  readonly sessionId: SessionId
  readonly model: string
  readonly dimension: number
  /** Every entry of its own up to this one, if it has text, has vectors. */
  readonly upto: EntryNumber
}

/** The vectors of one entry, passage by passage, as `packVectors` writes them. */
export interface VectorRow {
  readonly sessionId: SessionId
  readonly number: EntryNumber
  readonly bytes: Uint8Array
}

/** Adds the vectors of the entries after `after` up to `upto`. Those of another model are removed. */
export interface PutVectors {
  readonly sessionId: SessionId
  readonly model: string
  readonly dimension: number
  readonly after: EntryNumber
  readonly upto: EntryNumber
  /** Vectors of an entry that was erased meanwhile are dropped. */
  readonly vectors: readonly Omit<VectorRow, 'sessionId'>[]
}

/** `stale`: the session is embedded up to another entry; read again where to continue. */
export type PutVectorsOutcome = Done | Unknown | { readonly kind: 'stale' }

export interface ReadUnembedded {
  readonly model: string
  readonly limit: number
}

/** What a model has not embedded yet, newest sessions first. */
export interface Unembedded {
  readonly sessions: readonly {
    readonly sessionId: SessionId
    readonly after: EntryNumber
    readonly upto: EntryNumber
  }[]
  /** In all sessions together. */
  readonly entries: number
}

/** A question as a model embeds it, compared with the vectors of the same model only. */
export interface Meaning {
  readonly model: string
  readonly vector: Float32Array
}
