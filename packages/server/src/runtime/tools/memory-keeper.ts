import { randomUUID } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import { entryNumber, type SessionId } from '#core/base/ids'
import { Recent } from '#core/base/recent'
import type { Refusal } from '#core/store/commits'
import type { Store } from '#core/store/contract'
import { parseBody } from '#core/store/integrity/damaged-row'
import { memoryBlock } from '../../tools/memory/block.ts'
import { MEMORY_PIN, refreshMemory } from '../../tools/memory/memory.ts'
import { readNotes } from '../../tools/memory/visible.ts'

/**
 * Has every session show the notes that it may see as they are now, from its next turn on. The session
 * that made a note asks for that itself; for the others it is done here, when a message for them
 * comes in.
 */
export interface MemoryKeeperParts {
  readonly store: Store
  readonly clock: Clock
  readonly countTokens: (sessionId: SessionId, text: string) => number
  /** Whether this agent keeps notes. */
  readonly keepsNotes: (agent: string) => boolean
  readonly sharesNotes: (agent: string) => boolean
  /** A session does not take the notes; reported once for each state of them and reason. */
  readonly onRefused: (sessionId: SessionId, why: string) => void
}

/** Notes are read again after this long; a message in between shows the ones before. */
const FRESH_MS = 2_000
const SESSIONS_MAX = 10_000
/** It was admitted, and it is neither waiting nor shown: the session has turned it down. */
const TURNED_DOWN: Refusal['why'] = 'no-room'

export class MemoryKeeper {
  readonly #parts: MemoryKeeperParts
  /** By agent, and by scope where notes are not shared. */
  readonly #blocks = new Recent<string, { readonly at: number; readonly block: string | null }>(
    SESSIONS_MAX,
  )
  /**
   * What each session shows, as far as we know, and what it was last asked to show. Of the sessions
   * heard of last: one that is forgotten is read, asked and reported of again.
   */
  readonly #sessions = new Recent<SessionId, SessionNotes>(SESSIONS_MAX)

  constructor(parts: MemoryKeeperParts) {
    this.#parts = parts
  }

  async refresh(sessionId: SessionId): Promise<void> {
    const before = this.#sessions.get(sessionId) ?? (await this.#read(sessionId))
    if (before === undefined || !this.#parts.keepsNotes(before.agent)) return
    this.#sessions.set(sessionId, before)
    const { agent, asked } = before
    const isShared = this.#parts.sharesNotes(agent)
    const block = await this.#blockOf(before, isShared)
    if (block === before.block) return
    const now = await this.#read(sessionId)
    if (now === undefined || now.isWaiting || now.block === block) return
    const { store, countTokens, onRefused } = this.#parts
    const same = asked?.block === block ? asked : { isAdmitted: false, reported: null }
    let { isAdmitted } = same
    let why: string | null = null
    if (isAdmitted) why = TURNED_DOWN
    else {
      const target = { sessionId, agent, key: `memory-${randomUUID()}` }
      const outcome = await refreshMemory({ store, countTokens, isShared }, target)
      if (outcome === null) return
      isAdmitted = outcome.kind === 'admitted' || outcome.kind === 'duplicate'
      // A mailbox that is full takes it with a later message.
      if (!isAdmitted) why = outcome.kind
    }
    if (why !== null && why !== same.reported) onRefused(sessionId, why)
    this.#sessions.set(sessionId, {
      ...now,
      asked: { block, isAdmitted, reported: why ?? same.reported },
    })
  }

  async #blockOf(of: SessionNotes, isShared: boolean): Promise<string | null> {
    const { store, clock } = this.#parts
    const key = JSON.stringify(isShared ? [of.agent] : [of.agent, of.scope])
    const known = this.#blocks.get(key)
    const at = clock.monotonic()
    if (known !== undefined && at - known.at < FRESH_MS) return known.block
    const block = memoryBlock(await readNotes(store, of, { isShared }))
    this.#blocks.set(key, { at, block })
    return block
  }

  async #read(sessionId: SessionId): Promise<SessionNotes | undefined> {
    const { store } = this.#parts
    const session = await store.findSession(sessionId)
    if (session === undefined) return undefined
    const entry = session.pins[MEMORY_PIN]?.entry ?? entryNumber(0)
    const [pin] = entry === 0 ? [] : await store.readEntries({ sessionId, from: entry, to: entry })
    const body = pin === undefined ? null : parseBody('entry', pin)
    const { asked } = this.#sessions.get(sessionId) ?? {}
    const notes: SessionNotes = {
      agent: session.agent,
      scope: session.scope,
      block: typeof body === 'string' ? body : null,
      isWaiting: session.pending.control > 0,
      ...(asked !== undefined && { asked }),
    }
    this.#sessions.set(sessionId, notes)
    return notes
  }
}

interface SessionNotes {
  readonly agent: string
  readonly scope: string
  readonly block: string | null
  /** Something waits that may change it. */
  readonly isWaiting: boolean
  readonly asked?: Asked
}

interface Asked {
  readonly block: string | null
  readonly isAdmitted: boolean
  /** Why it is not shown, as it was reported last; null: nothing was reported. */
  readonly reported: string | null
}
