import { createHash, randomUUID } from 'node:crypto'
import { type Clock, pause, systemClock } from '#core/base/clock'
import { isGone, thisHost } from '#core/base/host'
import {
  type OperationId,
  operationId,
  type RunnerId,
  runnerId,
  type SessionId,
} from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import { Recent } from '#core/base/recent'
import type { AssistantMessage, UserMessage } from '#core/message/message'
import { readRange } from '#core/session/context/source'
import { limitsFor } from '#core/session/limits'
import type { AdoptedEntry } from '#core/store/adoption'
import type { Lease, Store } from '#core/store/contract'
import { canonicalJson } from '#core/store/integrity/canonical'
import { newSession } from '#core/store/rules/create-session'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import { messageCounter } from '#core/tokens/count'

/**
 * The history of agents that run elsewhere, kept here for search and recall. A message goes
 * straight into the transcript: nothing is delivered and no turn begins. Its key becomes the id of
 * its commit, which the entry's header keeps. The transcript itself shows whether a key was used,
 * under the same check of the tail as the append, so a key counts once even if another process
 * repeats it after a crash.
 */
export interface HistoryMessage {
  readonly key: string
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  /** The time of the message; default: now. */
  readonly at?: number
}

export type AppendOutcome =
  | { readonly kind: 'appended' | 'duplicate' | 'conflict'; readonly entry: number }
  /** Another process is using the session; nothing changed. */
  | { readonly kind: 'busy' }
  /** An agent of this runtime answers in the session, so messages to it go into its mailbox. */
  | { readonly kind: 'runs-here' }
  /** The id belongs to a session of another agent. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'gone' }

const LEASE_MS = 30_000
const PAGE = 500
const SESSIONS_MAX = 64
/** Longer than a process keeps an idle session, shorter than clients wait for a tool. */
const WAIT_MS_MAX = 45_000
const PAUSE_MS = 100
const count = messageCounter('generic')

export class ForeignHistory {
  readonly #store: Store
  readonly #clock: Clock
  /** By session: the ids of our commits in its entries, as far as it was read. */
  readonly #known = new Recent<SessionId, { upto: number; entries: Map<OperationId, number> }>(
    SESSIONS_MAX,
  )
  readonly #last = new Map<SessionId, Promise<unknown>>()

  constructor(store: Store, clock: Clock = systemClock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Creates the session if it does not exist. Calls for one session run one at a time, in order.
   */
  async append(
    to: { readonly sessionId: SessionId; readonly agent: string; readonly windowTokens: number },
    message: HistoryMessage,
  ): Promise<AppendOutcome> {
    const { sessionId } = to
    const before = this.#last.get(sessionId) ?? Promise.resolve()
    const appended = before.then(() => this.#append(to, message))
    const ended = appended
      .catch(() => {})
      .finally(() => {
        if (this.#last.get(sessionId) === ended) this.#last.delete(sessionId)
      })
    this.#last.set(sessionId, ended)
    return await appended
  }

  async #append(
    to: { readonly sessionId: SessionId; readonly agent: string; readonly windowTokens: number },
    message: HistoryMessage,
  ): Promise<AppendOutcome> {
    const { sessionId } = to
    const operation = operationOf(sessionId, message.key)
    const entry = entryOf(message, message.at ?? this.#clock.now())
    const until = this.#clock.monotonic() + WAIT_MS_MAX
    while (this.#clock.monotonic() < until) {
      const session = (await this.#store.findSession(sessionId)) ?? (await this.#bear(to))
      if (session === undefined) continue
      if (session.agent !== to.agent) return { kind: 'refused' }
      if (session.state !== 'open') return { kind: 'gone' }
      const used = await this.#findUse(session, operation)
      if (used !== undefined) return { kind: isSame(used, entry), entry: used.number }
      if (session.birth !== 'imported') return { kind: 'runs-here' }
      const added = await this.#adopt(session, operation, entry)
      if (added !== null) return { kind: 'appended', entry: added }
      await pause(this.#clock, PAUSE_MS)
    }
    return { kind: 'busy' }
  }

  /** Undefined: another process created it at the same time. */
  async #bear(to: {
    readonly sessionId: SessionId
    readonly agent: string
    readonly windowTokens: number
  }): Promise<SessionRow | undefined> {
    const { sessionId: id, agent, windowTokens } = to
    const limits = limitsFor({ windowTokens, fixedTokens: 0 })
    const stamp = { at: this.#clock.now(), seed: '' }
    const session = newSession({ id, agent, limits, policy: 'steer' }, 'imported', stamp)
    const nothing = { entries: [], mail: [], replies: [], blobs: [] }
    await this.#store.adoptSession({ session, ...nothing, operation: operationId(randomUUID()) })
    return await this.#store.findSession(id)
  }

  async #findUse({ id, tail }: SessionRow, operation: OperationId): Promise<Entry | undefined> {
    const known = this.#known.get(id) ?? { upto: 0, entries: new Map<OperationId, number>() }
    for (let from = known.upto; from < tail; from += PAGE) {
      const page = await readRange(this.#store, id, from, Math.min(tail, from + PAGE))
      for (const entry of page) {
        if (entry.operation.startsWith(PREFIX)) known.entries.set(entry.operation, entry.number)
      }
    }
    known.upto = Math.max(known.upto, tail)
    this.#known.set(id, known)
    const at = known.entries.get(operation)
    return at === undefined ? undefined : (await readRange(this.#store, id, at - 1, at))[0]
  }

  /** Null: try again; the session is held, or has changed since it was read. */
  async #adopt(
    session: SessionRow,
    operation: OperationId,
    entry: AdoptedEntry,
  ): Promise<number | null> {
    const store = this.#store
    // Registered for one append only, so that we do not appear as a process that serves the store.
    const runner = runnerId(`mcp-${randomUUID()}`)
    const startedAt = this.#clock.now()
    await store.registerRunner({ ...thisHost(), id: runner, startedAt, leaseMs: LEASE_MS })
    try {
      const lease = await this.#acquire(session, runner)
      if (lease === null) return null
      const tail = { number: session.tail, hash: session.tailHash }
      const outcome = await store.adoptEntries({ lease, tail, operation, entries: [entry] })
      return outcome.kind === 'appended' ? outcome.tail.number : null
    } finally {
      // Releases the session as well.
      await store.retireRunner({ runner })
    }
  }

  async #acquire({ id, fence }: SessionRow, runner: RunnerId): Promise<Lease | null> {
    const request = { sessionId: id, runner, holder: randomUUID(), fence }
    const outcome = await this.#store.acquire(request)
    if (outcome.kind === 'acquired') return outcome.lease
    if (outcome.kind === 'held') await this.#dismissIfGone(outcome.by)
    return null
  }

  /** A killed process releases nothing, and there may be no other process to notice. */
  async #dismissIfGone(id: RunnerId): Promise<void> {
    const row = (await this.#store.listRunners()).find((each) => each.id === id)
    if (row !== undefined && isGone(row)) {
      await this.#store.dismissRunner({ runner: id, beat: row.beat })
    }
  }
}

const PREFIX = 'key-'

function operationOf(sessionId: SessionId, key: string): OperationId {
  const mark = createHash('sha256')
    .update(JSON.stringify([sessionId, key]))
    .digest('hex')
  return operationId(PREFIX + mark.slice(0, 48))
}

/** A tool result from elsewhere becomes a notification, because it belongs to no call here. */
function entryOf({ role, text }: HistoryMessage, at: number): AdoptedEntry {
  const parts = [{ type: 'text', text }] as const
  if (role === 'assistant') {
    const message: AssistantMessage = { role, parts }
    const body = message as unknown as JsonValue
    return { kind: 'assistant', row: null, at, calls: [], body, tokens: count(message) }
  }
  const isTool = role === 'tool'
  const message: UserMessage = { role: 'user', parts, ...(isTool && { synthetic: true }) }
  const body = { message } as unknown as JsonValue
  const lane = isTool ? 'notification' : 'user'
  return { kind: 'input', lane, row: null, at, body, tokens: count(message) }
}

/** An erased entry cannot be compared; it counts as the same message. */
function isSame(used: Entry, wanted: AdoptedEntry): 'duplicate' | 'conflict' {
  if (used.body === null) return 'duplicate'
  return used.kind === wanted.kind && used.body === canonicalJson(wanted.body)
    ? 'duplicate'
    : 'conflict'
}
