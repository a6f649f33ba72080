import { hash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import { thisHost } from '#core/base/host'
import {
  type EntryNumber,
  isId,
  operationId,
  type RunnerId,
  runnerId,
  type SessionId,
  sessionId,
} from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { Recent } from '#core/base/recent'
import { redact } from '#core/compaction/redact/redact'
import { readRange } from '#core/session/context/source'
import { limitsFor } from '#core/session/limits'
import type { Reads, Store, Tail } from '#core/store/contract'
import { InvalidRequestError } from '#core/store/errors'
import { newSession } from '#core/store/rules/create-session'
import type { Entry } from '#core/store/tables/rows'
import {
  type Address,
  findPosition,
  firstSaid,
  type History,
  locate,
  unitCount,
} from '../../proxy/history.ts'
import type { Identity } from '../../proxy/identify.ts'
import { UnitTree } from '../../proxy/unit-tree.ts'
import { addToTree, boundaryOf } from './entries.ts'
import type { RequestFrame } from './frame.ts'
import { StoredSession } from './stored-session.ts'

/** Which session of the store a client's request belongs to. */
export class ClientSessions {
  readonly #store: Store
  readonly #clock: Clock
  readonly #open = new Recent<SessionId, Promise<StoredSession>>(SESSIONS_MAX)
  /** The first unit of each session that was compared for a client without ids. */
  readonly #first = new Map<SessionId, string>()
  #runner: Promise<RunnerId> | null = null
  #renewal: NodeJS.Timeout | undefined

  constructor(terms: { store: Store; clock: Clock }) {
    this.#store = terms.store
    this.#clock = terms.clock
  }

  /**
   * `making` is for a session that has to be created. Null: there is no session, and none should be
   * created.
   */
  async find(
    identity: Identity,
    history: History,
    making: RequestFrame | null,
  ): Promise<StoredSession | null> {
    if (identity.session === null) return await this.#findByHistory(identity, history, making)
    const id = idOf(identity)
    const named = await this.#existing(id)
    const isHint = identity.isHint === true
    if (named !== null && (!isHint || knownDepth(named, history) > 0)) return named
    if (isHint) {
      // A program may use one cache key for everything; then the history distinguishes its
      // conversations.
      const found = await this.#findByHistory(identity, history, named === null ? null : making)
      if (found !== null || named !== null) return found
    }
    if (making === null) return null
    const create = () => this.#create(id, identity, making)
    return await (this.#open.get(id) ?? this.#remember(id, create))
  }

  /**
   * Whether the item that names a handoff was given to this client: anyone can guess the id of a
   * session and the number of an entry. Items of version 0.2 have no token, so the client has to
   * name the session itself.
   */
  async mayOpen(identity: Identity, named: { readonly address: Address } | null): Promise<boolean> {
    if (named === null) return true
    const { session, entry, token } = named.address
    if (!isId(session)) return false
    if (token === undefined) {
      return identity.session !== null && identity.isHint !== true && idOf(identity) === session
    }
    const [found] = await readRange(this.#store, sessionId(session), entry - 1, entry)
    const kept = found?.kind === 'compaction' ? boundaryOf(found)?.token : undefined
    return kept !== undefined && isSame(kept, token)
  }

  async #existing(id: SessionId): Promise<StoredSession | null> {
    const known = this.#open.get(id)
    if (known !== undefined) return await known
    const row = await this.#store.findSession(id)
    return row === undefined ? null : await this.#opened(id)
  }

  /** Throws NotRecordedError if another process holds the session all the time. */
  async erase(id: SessionId, entries: readonly EntryNumber[], reason: string): Promise<void> {
    await (await this.#opened(id)).erase(entries, reason)
  }

  /** False: it is not the newest handoff any more. Throws NotRecordedError, as `erase` does. */
  async undo(id: SessionId, handoff: EntryNumber): Promise<boolean> {
    return await (await this.#opened(id)).undo(handoff)
  }

  async close(): Promise<void> {
    clearInterval(this.#renewal)
    for (const session of this.#open.values()) await (await session).close()
    const runner = await this.#runner
    if (runner !== null) await this.#store.retireRunner({ runner })
  }

  async #opened(id: SessionId): Promise<StoredSession> {
    return await (this.#open.get(id) ?? this.#remember(id, () => this.#load(id)))
  }

  async #remember(id: SessionId, open: () => Promise<StoredSession>): Promise<StoredSession> {
    const opened = open()
    this.#open.set(id, opened)
    opened.catch(() => this.#open.delete(id))
    return await opened
  }

  async #load(id: SessionId): Promise<StoredSession> {
    const row = await this.#store.findSession(id)
    const tail = { number: row?.tail ?? 0, hash: row?.tailHash ?? '' } as Tail
    const session = new StoredSession(id, tail, {
      ...{ store: this.#store, clock: this.#clock },
      runner: () => this.#register(),
    })
    await session.refresh()
    return session
  }

  async #create(id: SessionId, identity: Identity, frame: RequestFrame) {
    const limits = limitsFor(frame)
    const stamp = { at: this.#clock.now(), seed: '' }
    const request = { id, agent: identity.client, limits, policy: 'steer' } as const
    const row = newSession(request, 'imported', stamp)
    const nothing = { entries: [], mail: [], replies: [], blobs: [] }
    // Another process may have just created it; then it is used.
    const operation = operationId(randomUUID())
    await this.#store.adoptSession({ session: row, ...nothing, operation })
    const made = await this.#load(id)
    if (made.isEmpty) await made.setFrame(frame, clientFacts(identity))
    return made
  }

  /** For clients that name no conversation: the session whose history this one continues. */
  async #findByHistory(
    identity: Identity,
    history: History,
    making: RequestFrame | null,
  ): Promise<StoredSession | null> {
    const first = history.items.find(({ hashes }) => hashes.length > 0)?.hashes[0] ?? ''
    const { named } = history
    const address = named === null ? null : sessionId(named.address.session)
    if (address !== null) return await this.#opened(address)
    let best: { session: StoredSession; depth: number } | null = null
    for (const id of await this.#candidates(identity.client, first)) {
      const session = await this.#opened(id)
      const depth = knownDepth(session, history)
      if (depth > (best?.depth ?? 0)) best = { session, depth }
    }
    if (best !== null || making === null) return best?.session ?? null
    const id = sessionId(`${clientName(identity.client)}-${randomUUID()}`)
    this.#first.set(id, first)
    return await this.#remember(id, () => this.#create(id, identity, making))
  }

  async #candidates(client: string, first: string): Promise<readonly SessionId[]> {
    const rows = await this.#store.listSessions({ agent: client, state: 'open', limit: LOOK_MAX })
    const found: SessionId[] = []
    for (const { id, tail } of rows) {
      let known = this.#first.get(id)
      if (known === undefined && tail > 0) {
        known = await this.#firstUnit(id)
        this.#first.set(id, known)
      }
      if (known === first) found.push(id)
    }
    return found
  }

  async #firstUnit(id: SessionId): Promise<string> {
    const tree = new UnitTree()
    for (const entry of await readRange(this.#store, id, 0, 2)) addToTree(tree, entry)
    return tree.root.children.keys().next().value ?? ''
  }

  #register(): Promise<RunnerId> {
    if (this.#runner !== null) return this.#runner
    const registered = this.#registerNow()
    this.#runner = registered
    registered.catch(() => {
      this.#runner = null
    })
    return registered
  }

  async #registerNow(): Promise<RunnerId> {
    const runner = runnerId(`proxy-${randomUUID()}`)
    const startedAt = this.#clock.now()
    await this.#store.registerRunner({ ...thisHost(), id: runner, startedAt, leaseMs: LEASE_MS })
    clearInterval(this.#renewal)
    this.#renewal = setInterval(() => void this.#renew(runner), RENEW_MS)
    this.#renewal.unref()
    return runner
  }

  async #renew(runner: RunnerId): Promise<void> {
    const outcome = await this.#store.renew({ runner }).catch(() => null)
    if (outcome?.kind === 'lost') this.#runner = null
  }
}

/**
 * How many units of this history the session has. 0 if only one is in common, which does not make
 * it the same conversation, unless the whole request is repeated.
 */
function knownDepth({ id, tree }: StoredSession, history: History): number {
  const placed = findPosition({ id, tree }, history)
  if (placed === null) return 0
  const { depth } = locate(tree, placed)
  const isRepeated = depth === unitCount(placed) && tree.head.depth === depth
  return depth > 1 || isRepeated ? depth : 0
}

function isSame(kept: string, given: string): boolean {
  const [left, right] = [Buffer.from(kept), Buffer.from(given)]
  return left.length === right.length && timingSafeEqual(left, right)
}

const SESSIONS_MAX = 64
const KNOWN_MAX = 10_000
const LOOK_MAX = 500
const LEASE_MS = 30_000
const RENEW_MS = 8_000

function clientName(client: string): string {
  const name = client.replaceAll(/[^A-Za-z0-9_]/g, '').slice(0, 20)
  return name === '' ? 'agent' : name
}

/** The client's own id if it is valid here, so that people can find the session. */
export function idOf({ client, session, agent }: Identity): SessionId {
  const own = [clientName(client), session ?? '', ...(agent === null ? [] : [agent])].join('-')
  if (isId(own)) return sessionId(own)
  return sessionId(`${clientName(client)}-${hash('sha256', own, 'hex').slice(0, 32)}`)
}

/** The first sentence of the client's user, with secrets masked; null if there is none worth showing. */
export function clientTitle({ agent }: Identity, history: History): string | null {
  const sentence = firstSaid(history, redact)
  return sentence === null || agent === null ? sentence : `Sub-agent: ${sentence}`
}

/** Kept in the transcript: where the session comes from. */
export function clientFacts(identity: Identity): JsonObject {
  const { client, session, agent } = identity
  return { name: client, session, agent, under: parentOf(identity) }
}

/** Whether a client's requests are recorded here: then no agent runs the session. */
export async function isClientSession(
  store: Pick<Reads, 'readEntries'>,
  id: SessionId,
): Promise<boolean> {
  const [first] = await readRange(store, id, 0, 1)
  return first !== undefined && isOfClient(first)
}

function isOfClient({ kind, body }: Entry): boolean {
  return kind === 'settings' && body !== null && 'client' in JSON.parse(body)
}

/** Wraps the store so that it refuses mail for a client's session: no process would ever read it. */
export function refuseMailOfClients(store: Store): Store {
  const known = new Recent<SessionId, boolean>(KNOWN_MAX)
  const isKnownClient = async (id: SessionId): Promise<boolean> => {
    const [first] = known.has(id) ? [] : await readRange(store, id, 0, 1)
    if (first !== undefined) known.set(id, isOfClient(first))
    return known.get(id) === true
  }
  return {
    ...store,
    async admit(request) {
      const id = 'sessionId' in request.to ? request.to.sessionId : null
      if (id === null || !(await isKnownClient(id))) return await store.admit(request)
      throw new InvalidRequestError({
        problem: `Session ${id} records what a client sends through the proxy. Continue it in that client.`,
      })
    },
  }
}

/** For a sub-agent, the session that started it. */
function parentOf(identity: Identity): string | null {
  if (identity.agent !== null) return idOf({ ...identity, agent: null })
  return identity.parent === null ? null : idOf({ ...identity, session: identity.parent })
}
