import { randomUUID } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import { entryNumber, type SessionId } from '#core/base/ids'
import { Recent } from '#core/base/recent'
import { NOTES_PIN } from '#core/message/handoff/pinned'
import type { Refusal } from '#core/store/commits'
import type { Store } from '#core/store/contract'
import { parseBody } from '#core/store/integrity/damaged-row'
import { memoryBlock } from '../../tools/memory/block.ts'
import { inheritNotes } from '../../tools/memory/inherit.ts'
import { refreshMemory } from '../../tools/memory/memory.ts'
import { readNotes } from '../../tools/memory/visible.ts'

/**
 * Makes every session show the current notes that it may see, from its next turn on. The session
 * that made a note requests this itself; for the others it is done here, when a message for them
 * arrives.
 */
export interface MemoryKeeperParts {
  readonly store: Store
  readonly clock: Clock
  readonly countTokens: (sessionId: SessionId, text: string) => number
  /** Whether this agent keeps notes. */
  readonly keepsNotes: (agent: string) => boolean
  readonly sharesNotes: (agent: string) => boolean
  /** A session refuses the notes; reported once per version of the notes and reason. */
  readonly onRefused: (sessionId: SessionId, why: string) => void
}

/** How long notes are cached; a message in between shows the earlier ones. */
const FRESH_MS = 2_000
const SESSIONS_MAX = 10_000
/** The request was admitted but is neither pending nor shown, so the session has refused it. */
const TURNED_DOWN: Refusal['why'] = 'no-room'

export class MemoryKeeper {
  readonly #parts: MemoryKeeperParts
  /** By agent, and by scope if notes are not shared. */
  readonly #blocks = new Recent<string, { readonly at: number; readonly block: string | null }>(
    SESSIONS_MAX,
  )
  /**
   * What each session shows, as far as we know, and what it was last requested to show. Kept for
   * the most recently used sessions; an evicted one is read, requested and reported again.
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
      // A full mailbox gets it with a later message.
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
    const { keepsNotes, sharesNotes } = this.#parts
    const isOwn = keepsNotes(session.agent) && !sharesNotes(session.agent)
    if (isOwn && session.pending.control === 0) await inheritNotes(store, session)
    const entry = session.pins[NOTES_PIN]?.entry ?? entryNumber(0)
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
  /** Pending mail may change it. */
  readonly isWaiting: boolean
  readonly asked?: Asked
}

interface Asked {
  readonly block: string | null
  readonly isAdmitted: boolean
  /** The last reported reason why it is not shown; null: none was reported. */
  readonly reported: string | null
}
