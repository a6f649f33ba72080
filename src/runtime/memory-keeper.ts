import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { entryNumber, type SessionId } from '../base/ids.ts'
import type { Store } from '../store/contract.ts'
import { MEMORY_PIN, memoryBlock, refreshMemory } from '../tools/memory/memory.ts'

/**
 * Has every session of an agent show the agent's notes as they are now, from its next turn on. The
 * session that made a note asks for that itself; for the others it is done here, when a message for
 * them comes in.
 */
export interface MemoryKeeperParts {
  readonly store: Store
  readonly clock: Clock
  readonly countTokens: (sessionId: SessionId, text: string) => number
  /** Whether this agent keeps notes. */
  readonly keepsNotes: (agent: string) => boolean
}

const NOTES_READ = 500
/** Notes are read again after this long; a message in between shows the ones before. */
const FRESH_MS = 2_000
const SESSIONS_MAX = 10_000

export class MemoryKeeper {
  readonly #parts: MemoryKeeperParts
  readonly #blocks = new Map<string, { readonly at: number; readonly block: string | null }>()
  /** What each session shows, as far as we know. */
  readonly #shown = new Map<SessionId, { readonly agent: string; readonly block: string | null }>()

  constructor(parts: MemoryKeeperParts) {
    this.#parts = parts
  }

  async refresh(sessionId: SessionId): Promise<void> {
    const shown = this.#shown.get(sessionId) ?? (await this.#read(sessionId))
    if (shown === undefined || !this.#parts.keepsNotes(shown.agent)) return
    const { agent } = shown
    const block = await this.#blockOf(agent)
    if (block === shown.block) return
    const now = await this.#read(sessionId)
    if (now === undefined || now.block === block) return
    const { store, countTokens } = this.#parts
    await refreshMemory({ store, countTokens }, { sessionId, agent, key: `memory-${randomUUID()}` })
    this.#shown.set(sessionId, { agent, block })
  }

  async #blockOf(agent: string): Promise<string | null> {
    const { store, clock } = this.#parts
    const known = this.#blocks.get(agent)
    const at = clock.monotonic()
    if (known !== undefined && at - known.at < FRESH_MS) return known.block
    const block = memoryBlock(await store.listNotes({ agent, limit: NOTES_READ }))
    this.#blocks.set(agent, { at, block })
    return block
  }

  async #read(sessionId: SessionId) {
    const { store } = this.#parts
    const session = await store.findSession(sessionId)
    if (session === undefined) return undefined
    const entry = session.pins[MEMORY_PIN]?.entry ?? entryNumber(0)
    const [pin] = entry === 0 ? [] : await store.readEntries({ sessionId, from: entry, to: entry })
    const body: unknown = pin?.body == null ? null : JSON.parse(pin.body)
    const shown = { agent: session.agent, block: typeof body === 'string' ? body : null }
    if (this.#shown.size >= SESSIONS_MAX) this.#shown.clear()
    this.#shown.set(sessionId, shown)
    return shown
  }
}
