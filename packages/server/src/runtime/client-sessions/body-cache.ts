import { Recent } from '#core/base/recent'
import type { History } from '../../proxy/history.ts'

export interface ClientRequest {
  /** The path without launch id and query. */
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: Buffer
  readonly launch: string | null
  /** The provider that it goes to; absent: no list of prices applies. */
  readonly baseUrl?: string
}

/**
 * The last request of each conversation. The next one begins with the same bytes, so that part need
 * not be parsed again. Evicting one costs only time.
 */
const BYTES_MAX = 48 * 1024 * 1024
const CONVERSATIONS_MAX = 64

export class BodyCache {
  readonly #histories = new Recent<string, History>(CONVERSATIONS_MAX)

  keyOf({ headers, launch, path }: ClientRequest): string {
    const names = [
      'x-claude-code-session-id',
      'x-claude-code-agent-id',
      'thread-id',
      'x-session-id',
    ]
    const ids = names.map((name) => headers[name] ?? '')
    return JSON.stringify([path, launch, ...ids])
  }

  get(key: string): History | undefined {
    return this.#histories.get(key)
  }

  set(key: string, history: History): void {
    this.#histories.set(key, history)
    let bytes = 0
    for (const { body } of this.#histories.values()) bytes += body.bytes.length
    if (bytes <= BYTES_MAX) return
    const fresh = [...this.#histories.entries()]
    for (const [oldKey, { body }] of fresh) {
      if (bytes <= BYTES_MAX || oldKey === key) break
      this.#histories.delete(oldKey)
      bytes -= body.bytes.length
    }
  }
}
