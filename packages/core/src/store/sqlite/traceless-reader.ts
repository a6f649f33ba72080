import type { ReadVerb } from '../contract.ts'
import { StoreBusyError, StoreReadOnlyError, StoreRefusedError } from '../errors.ts'
import type { QueryOf } from '../facade.ts'
import type { ReadOnlyMode } from './connection.ts'
import { translateSqliteError } from './connection.ts'
import { SQLITE_SCHEMA } from './schema.ts'
import { fileState, hasWalIndex, refuseForeignFiles, walSize } from './store-file.ts'
import { Reader } from './worker/reader.ts'

/**
 * How long the files may keep changing. Busy writers are read through the WAL; only opening and
 * closing the store changes its files otherwise, which takes a process milliseconds.
 */
const CHANGING_MS_MAX = 2_000
const PAUSE_MS = 5

/**
 * Reads a store without leaving a trace: an ordinary read-only connection would create a WAL and
 * its index. A file without a WAL is read as immutable, without locks, so a result counts only if
 * the file is unchanged afterwards. Once there is a WAL, its index is read as the writer left it,
 * and locks separate reader and writer. A process that closes the store removes first the index, then
 * the WAL, so an error of opening counts only if it stays.
 */
export class TracelessReader {
  readonly #path: string
  #reader: Reader | null = null
  #state = ''

  constructor(path: string) {
    this.#path = path
    const schema = this.#steadily((reader) => reader.schema)
    if (schema === SQLITE_SCHEMA) return
    this.close()
    const problem =
      schema === 0
        ? 'it holds no store: it is empty.'
        : `it has schema ${schema} and this program reads ${SQLITE_SCHEMA}. Open it once with a program that may write, or read it with the one that made it.`
    throw new StoreRefusedError({ path, problem })
  }

  read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): unknown {
    return this.#steadily((reader) => reader.read(verb, query))
  }

  #steadily<Answer>(work: (reader: Reader) => Answer): Answer {
    const until = performance.now() + CHANGING_MS_MAX
    for (;;) {
      const opened = attempt(() => this.#current())
      const answer = 'error' in opened ? opened : attempt(() => work(opened.value))
      const isSteady = this.#present() === this.#state
      if (isSteady && 'value' in answer) return answer.value
      const error = 'error' in answer ? translateSqliteError(answer.error, this.#path) : undefined
      if (performance.now() > until || (isSteady && !this.#mayPass(error, opened))) {
        if (isSteady) throw error
        const problem = 'the file changed each time while it was read'
        throw new StoreBusyError({ waitedMs: CHANGING_MS_MAX, problem })
      }
      this.close() // what it saw of the index may be wrong
      Atomics.wait(STILL, 0, 0, PAUSE_MS)
    }
  }

  #current(): Reader {
    if (this.#reader !== null && this.#present() === this.#state) return this.#reader
    this.close()
    refuseForeignFiles(this.#path)
    this.#state = this.#present()
    this.#reader = new Reader(this.#path, this.#manner())
    return this.#reader
  }

  /** Whether it may have failed because a process was just making or removing the WAL and its index. */
  #mayPass(error: unknown, opened: Attempted<Reader>): boolean {
    // SQLite may not write the index that another process is still filling, so it cannot read it.
    if (error instanceof StoreReadOnlyError) return true
    return 'error' in opened && (error instanceof StoreBusyError || this.#lacksIndex())
  }

  #lacksIndex(): boolean {
    return walSize(this.#path) > 0 && !hasWalIndex(this.#path)
  }

  #manner(): ReadOnlyMode {
    if (walSize(this.#path) === 0) return '?immutable=1'
    if (!this.#lacksIndex()) return '?readonly_shm=1'
    const problem =
      'its WAL has no index, as in a copy of two of three files, and making one would be writing. Copy both files and open the copy.'
    throw new StoreRefusedError({ path: this.#path, problem })
  }

  /** With a WAL, only that it exists; without one, everything that a writer would change. */
  #present(): string {
    return walSize(this.#path) > 0 ? 'wal' : fileState(this.#path)
  }

  backup(to: string): void {
    this.#steadily((reader) => reader).backup(to)
  }

  close(): void {
    this.#reader?.close()
    this.#reader = null
  }
}

const STILL = new Int32Array(new SharedArrayBuffer(4))

type Attempted<Value> = { readonly value: Value } | { readonly error: unknown }

/**
 * A page that changes during a read may look damaged, so the caller checks the file before it
 * throws.
 */
function attempt<Value>(work: () => Value): Attempted<Value> {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}
