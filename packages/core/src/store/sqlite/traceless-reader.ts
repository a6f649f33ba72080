import type { ReadVerb } from '../contract.ts'
import { StoreBusyError, StoreRefusedError } from '../errors.ts'
import type { QueryOf } from '../facade.ts'
import type { ReadOnlyMode } from './connection.ts'
import { translateSqliteError } from './connection.ts'
import { SQLITE_SCHEMA } from './schema.ts'
import { fileState, hasWalIndex, refuseForeignFiles, walSize } from './store-file.ts'
import { Reader } from './worker/reader.ts'

/** Busy writers are read through the WAL; this many changes outside it are unexpected. */
const TRIES_MAX = 20

/**
 * Reads a store without leaving a trace: an ordinary read-only connection would create a WAL and
 * its index. A file without a WAL is read as immutable, without locks, so a result counts only if
 * the file is unchanged afterwards. Once there is a WAL, its index is read as the writer left it,
 * and locks separate reader and writer.
 */
export class TracelessReader {
  readonly #path: string
  #reader: Reader
  #state = ''

  constructor(path: string) {
    this.#path = path
    this.#reader = this.#open()
    const { schema } = this.#reader
    if (schema === SQLITE_SCHEMA) return
    this.#reader.close()
    const problem =
      schema === 0
        ? 'it holds no store: it is empty.'
        : `it has schema ${schema} and this program reads ${SQLITE_SCHEMA}. Open it once with a program that may write, or read it with the one that made it.`
    throw new StoreRefusedError({ path, problem })
  }

  #open(): Reader {
    refuseForeignFiles(this.#path)
    this.#state = this.#present()
    try {
      return new Reader(this.#path, this.#manner())
    } catch (error) {
      throw translateSqliteError(error, this.#path)
    }
  }

  #manner(): ReadOnlyMode {
    if (walSize(this.#path) === 0) return '?immutable=1'
    if (hasWalIndex(this.#path)) return '?readonly_shm=1'
    const problem =
      'its WAL has no index, as in a copy of two of three files, and making one would be writing. Copy both files and open the copy.'
    throw new StoreRefusedError({ path: this.#path, problem })
  }

  /** With a WAL, only that it exists; without one, everything that a writer would change. */
  #present(): string {
    return walSize(this.#path) > 0 ? 'wal' : fileState(this.#path)
  }

  read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): unknown {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (this.#present() !== this.#state) {
        this.#reader.close()
        this.#reader = this.#open()
      }
      const answer = attempt(() => this.#reader.read(verb, query))
      if (this.#present() !== this.#state) continue
      if ('error' in answer) throw answer.error
      return answer.value
    }
    const problem = 'the file changed each time while it was read'
    throw new StoreBusyError({ waitedMs: 0, problem })
  }

  backup(to: string): void {
    this.#reader.backup(to)
  }

  close(): void {
    this.#reader.close()
  }
}

/**
 * A page that changes during a read may look damaged, so the caller checks the file before it
 * throws.
 */
function attempt(work: () => unknown): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}
