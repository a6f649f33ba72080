import type { CommitVerb, ReadVerb, RequestOf } from '../../contract.ts'
import * as errors from '../../errors.ts'
import { StoreError } from '../../errors.ts'
import type { QueryOf } from '../../facade.ts'
import type { WriterOptions } from './writer.ts'

/** The messages between the caller's thread and the store's threads. */
export type WorkerOrder =
  | { readonly kind: 'open-writer'; readonly options: WriterOptions; readonly pollMs: number }
  | { readonly kind: 'open-reader'; readonly path: string }
  | { readonly kind: 'open-traceless-reader'; readonly path: string }
  | {
      readonly kind: 'commit'
      readonly verb: CommitVerb
      readonly request: RequestOf<CommitVerb>
      readonly size: number
    }
  | { readonly kind: 'read'; readonly verb: ReadVerb; readonly query: QueryOf<ReadVerb> }
  | { readonly kind: 'refuse-if-damaged' }
  | { readonly kind: 'backup'; readonly to: string }
  | { readonly kind: 'close' }

/** `store` identifies an opened file within a thread, `call` one request. */
export interface WorkerRequest {
  readonly store: number
  readonly call: number
  readonly order: WorkerOrder
}

export type WorkerAnswer =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly error: PlainError }

export type WorkerNews =
  | { readonly answers: readonly WorkerAnswer[] }
  | { readonly changed: number }

export interface PlainError {
  readonly name: string
  readonly message: string
  readonly stack: string
  readonly facts: StoreError['facts'] | null
}

export function plainError(error: unknown): PlainError {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error))
  return { name, message, stack, facts: error instanceof StoreError ? error.facts : null }
}

/** Recreates an error of the same class on the other side. */
export function reviveError({ name, message, stack, facts }: PlainError): Error {
  const classes = errors as unknown as Record<string, new (facts: unknown) => Error>
  const Class = facts === null ? undefined : classes[name]
  const error = Class === undefined ? new Error(message) : new Class(facts)
  error.stack = stack
  return error
}
