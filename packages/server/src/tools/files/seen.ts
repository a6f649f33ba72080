import { entryNumber, type SessionId } from '#core/base/ids'
import { isObject, type JsonValue } from '#core/base/json'
import { Recent } from '#core/base/recent'
import type { Reads } from '#core/store/contract'

/** The state of a file when it was last read whole. */
export interface Seen {
  readonly hash: string
  /** The entry that shows it; null: the handoff in effect mentions it. */
  readonly entry: number | null
}

/** A call that read a file whole; `entry` holds the call. */
export interface FileReading {
  readonly hash: string
  readonly entry: number
  readonly call: string
}

const FILES_MAX = 5_000
/**
 * Results closely follow their calls, among those of the same reply and other entries of that time.
 */
const RESULT_DISTANCE_MAX = 64
const READ_AT_ONCE = 8

/**
 * The files that each session has read. Kept in this process and in the handoff, whose list of
 * files has their hashes, so that the knowledge survives a compaction and a restart. A read counts
 * only if its result was shown: a call may have been stopped, or its result erased.
 */
export class SeenFiles {
  readonly #store: Pick<Reads, 'findSession' | 'readEntries'>
  readonly #known = new Recent<string, FileReading>(FILES_MAX)

  constructor(store: Pick<Reads, 'findSession' | 'readEntries'>) {
    this.#store = store
  }

  note(sessionId: SessionId, path: string, reading: FileReading): void {
    this.#known.set(keyOf(sessionId, path), reading)
  }

  /** `asked` is the path as the model wrote it, which is how the handoff lists it. */
  async find(sessionId: SessionId, path: string, asked: string): Promise<Seen | undefined> {
    const reading = this.#known.get(keyOf(sessionId, path))
    const entry = reading && (await this.#findResult(sessionId, reading))
    if (reading !== undefined && entry !== undefined) return { hash: reading.hash, entry }
    return await this.#findInHandoff(sessionId, asked)
  }

  async #findResult(
    sessionId: SessionId,
    { entry, call }: FileReading,
  ): Promise<number | undefined> {
    for (let from = entry + 1; from <= entry + RESULT_DISTANCE_MAX; from += READ_AT_ONCE) {
      const to = entryNumber(from + READ_AT_ONCE - 1)
      const page = await this.#store.readEntries({ sessionId, from: entryNumber(from), to })
      const result = page.find((each) => each.kind === 'result' && each.meta.call === call)
      if (result?.kind === 'result') {
        const isReadable = result.body !== null && result.meta.outcome === 'ok'
        return isReadable ? result.number : undefined
      }
      if (page.length < READ_AT_ONCE) return undefined
    }
    return undefined
  }

  async #findInHandoff(sessionId: SessionId, asked: string): Promise<Seen | undefined> {
    const session = await this.#store.findSession(sessionId)
    if (session === undefined || session.effective === 0) return undefined
    const { effective } = session
    const [entry] = await this.#store.readEntries({ sessionId, from: effective, to: effective })
    const body = entry?.body == null ? null : (JSON.parse(entry.body) as JsonValue)
    const files = isObject(body) ? body['files'] : undefined
    if (!Array.isArray(files)) return undefined
    for (const file of files as readonly JsonValue[]) {
      if (!isObject(file) || file['path'] !== asked) continue
      if (typeof file['hash'] === 'string') return { hash: file['hash'], entry: null }
    }
    return undefined
  }
}

function keyOf(sessionId: SessionId, path: string): string {
  return `${sessionId}\n${path}`
}
