import type { SessionId } from '../../base/ids.ts'
import { isObject, type JsonValue } from '../../base/json.ts'
import { Recent } from '../../base/recent.ts'
import type { Reads } from '../../store/contract.ts'

/** When a file was last read whole, and what it was then. */
export interface Seen {
  readonly hash: string
  /** The entry of the call that read it; null: the handoff in effect tells of it. */
  readonly entry: number | null
}

const FILES_MAX = 5_000

/**
 * What each session has read. Remembered in this process, and behind that in the handoff: its list
 * of files has their hashes, which is what survives a compaction and a restart together.
 */
export class SeenFiles {
  readonly #store: Pick<Reads, 'findSession' | 'readEntries'>
  readonly #known = new Recent<string, Seen>(FILES_MAX)

  constructor(store: Pick<Reads, 'findSession' | 'readEntries'>) {
    this.#store = store
  }

  note(sessionId: SessionId, path: string, seen: Seen): void {
    this.#known.set(keyOf(sessionId, path), seen)
  }

  /** `asked` is the path in the words of the model: the handoff knows it by those. */
  async find(sessionId: SessionId, path: string, asked: string): Promise<Seen | undefined> {
    return this.#known.get(keyOf(sessionId, path)) ?? (await this.#findInHandoff(sessionId, asked))
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
