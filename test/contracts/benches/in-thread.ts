import type {
  CommitVerb,
  ReadVerb,
  RequestOf,
  Store,
} from '../../../packages/core/src/store/contract.ts'
import { StoreClosedError } from '../../../packages/core/src/store/errors.ts'
import { type QueryOf, storeOver } from '../../../packages/core/src/store/facade.ts'
import type { Reader } from '../../../packages/core/src/store/sqlite/worker/reader.ts'

export interface InThreadParts {
  readonly reader: Reader
  readonly commit: <Verb extends CommitVerb>(verb: Verb, request: RequestOf<Verb>) => unknown
  readonly read?: <Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>) => unknown
  readonly closeWriter: () => void
}

/** The engine of SQLite without its threads, so that a test can watch its statements. */
export function storeInThread({ reader, commit, read, closeWriter }: InThreadParts): Store {
  const listeners = new Set<() => void>()
  let isClosed = false
  const checkOpen = (verb: string) => {
    if (isClosed) throw new StoreClosedError({ verb })
  }
  return storeOver({
    commit: async (verb, request) => {
      checkOpen(verb)
      const outcome = commit(verb, request)
      for (const listener of listeners) queueMicrotask(listener)
      return outcome as never
    },
    read: async (verb, query) => {
      checkOpen(verb)
      return (read?.(verb, query) ?? reader.read(verb, query)) as never
    },
    backup: async (to) => reader.backup(to),
    watch: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      if (isClosed) return
      isClosed = true
      reader.close()
      closeWriter()
    },
  })
}
