import { randomUUID } from 'node:crypto'
import {
  type EntryNumber,
  entryNumber,
  operationId,
  runnerId,
  type SessionId,
} from '#core/base/ids'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { UserMessage } from '#core/message/message'
import type { AdoptedEntry } from '#core/store/adoption'
import type { Lease, Reads, Store, Tail } from '#core/store/contract'
import { newSession } from '#core/store/rules/create-session'
import type { Entry, Limits, RunnerRow, SessionRow } from '#core/store/tables/rows'
import { ImportFailedError } from './errors.ts'
import { EntryPositions, type PositionKind } from './hermes/import/positions.ts'

/**
 * Imports foreign conversations. Each becomes one session, created empty and then filled page by
 * page under a lease, so that memory stays bounded and the next run continues one that ended early:
 * the transcript itself records which rows it has. Without a store to write to it only counts.
 */
export interface NewImport {
  readonly id: SessionId
  readonly agent: string
  readonly limits: Limits
  readonly createdAt: number
  /** An estimate of its number of rows. */
  readonly rows: number
  /** The first entry: the system prompt, and where the session comes from. */
  readonly settings: Settings
}

export interface Settings {
  readonly system?: string
  readonly importedFrom: ImportedFrom
  readonly tokens: number
}

/** Moves large content to the session's shelf and leaves references. */
export type PartStager = (
  store: Pick<Store, 'stageBlob'>,
  sessionId: SessionId,
  parts: UserMessage['parts'],
) => Promise<
  | {
      readonly kind: 'staged'
      readonly parts: UserMessage['parts']
      readonly hashes: readonly string[]
    }
  | { readonly kind: 'too-large' | 'unknown' | 'gone' }
>

export type ImportedFrom = {
  readonly format: string
  readonly id: string
  /** All ids of the conversation in the source, oldest first. */
  readonly ids: readonly string[]
  /** The other columns of its newest session, and when its first one began. */
  readonly session?: JsonObject
}

/** Why a conversation cannot be imported, now or at all. */
export type ImportObstacle =
  | { readonly kind: 'taken' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'held'; readonly by: string }
  | { readonly kind: 'in-use' }

const PAGE = 100
const PAGE_BYTES = 1024 * 1024
const LEASE_MS = 30_000
const RENEW_MS = 5_000

export class SessionImporter {
  readonly #reads: Reads | null
  readonly #store: Store | null
  readonly #host: Pick<RunnerRow, 'boot' | 'process'>
  readonly #isGone: (runner: RunnerRow) => boolean
  readonly #stageParts: PartStager | null
  /** Sessions that a dry run would have created so far, and when they began. */
  readonly #wouldBe: Map<SessionId, number>
  #runner: RunnerRow['id'] | null = null
  #renewedAt = 0

  /** `reads` null: the target does not exist yet. `store` null: nothing is written. */
  constructor(parts: {
    readonly reads: Reads | null
    readonly store: Store | null
    readonly host: Pick<RunnerRow, 'boot' | 'process'>
    readonly isGone: (runner: RunnerRow) => boolean
    readonly stageParts: PartStager | null
    readonly wouldBe?: Map<SessionId, number>
  }) {
    this.#reads = parts.reads
    this.#store = parts.store
    this.#host = parts.host
    this.#isGone = parts.isGone
    this.#stageParts = parts.stageParts
    this.#wouldBe = parts.wouldBe ?? new Map()
  }

  async take(newImport: NewImport): Promise<SessionImport | ImportObstacle> {
    const known = await this.#reads?.findSession(newImport.id)
    if (known !== undefined && known.state !== 'open') return { kind: 'gone' }
    const positions = new EntryPositions({ entries: newImport.rows, remembered: known?.tail ?? 0 })
    let isReported = true
    if (known !== undefined && known.tail > 0) {
      const [first] = await this.#entries(known, 1, 1)
      const from = first === undefined ? null : importedFromOf(first)
      const { format, id } = newImport.settings.importedFrom
      const isSame = from?.format === format && from.id === id
      // Two foreign stores may share ids; their sessions do not begin at the same moment.
      if (!isSame || known.createdAt !== newImport.createdAt) return { kind: 'taken' }
      for (let at = 1; at <= known.tail; at += PAGE) {
        const page = await this.#entries(known, at, Math.min(known.tail, at + PAGE - 1))
        for (const entry of page) {
          const position = positionOf(entry)
          positions.add(position)
          positions.hasErased ||= entry.body === null
          if (position.kind !== 'handoff' || position.row === null) continue
          if (entry.number > known.effective) continue
          positions.handoff = { row: position.row, isInEffect: entry.number === known.effective }
        }
      }
      const [settings] = await this.#entries(known, known.settings, known.settings)
      const ids = new Set([...from.ids, ...((settings && importedFromOf(settings)?.ids) ?? [])])
      isReported = newImport.settings.importedFrom.ids.every((one) => ids.has(one))
    } else if (known !== undefined && known.birth !== 'imported') return { kind: 'taken' }
    const hand = new SessionImport(this, known === undefined ? 'new' : 'continued', positions)
    const isBlank = positions.tail === 0
    if (this.#store === null) {
      const { id, createdAt } = newImport
      if (known === undefined && (this.#wouldBe.get(id) ?? createdAt) !== createdAt) {
        return { kind: 'taken' }
      }
      this.#wouldBe.set(id, createdAt)
      if (isBlank || !isReported) await hand.append(settingsEntry(newImport))
      return hand
    }
    if (known === undefined) await this.#bear(this.#store, newImport)
    const obstacle = await this.#acquire(this.#store, newImport.id, hand)
    if (obstacle !== null) return obstacle
    if (isBlank || !isReported) await hand.append(settingsEntry(newImport))
    return hand
  }

  async #entries({ id }: SessionRow, from: number, to: number): Promise<readonly Entry[]> {
    const range = { sessionId: id, from: entryNumber(from), to: entryNumber(to) }
    return (await this.#reads?.readEntries(range)) ?? []
  }

  async #bear(store: Store, { id, agent, limits, createdAt }: NewImport): Promise<void> {
    const stamp = { at: createdAt, seed: '' }
    const session = newSession({ id, agent, limits, policy: 'steer' }, 'imported', stamp)
    const nothing = { entries: [], mail: [], replies: [], blobs: [] }
    const operation = operationId(randomUUID())
    const outcome = await store.adoptSession({ session, ...nothing, operation })
    if (outcome.kind === 'imported') return
    throw new ImportFailedError({ sessionId: id, problem: `it could not be made: ${outcome.kind}` })
  }

  async #acquire(store: Store, id: SessionId, hand: SessionImport): Promise<ImportObstacle | null> {
    this.#runner ??= await this.#register(store)
    const session = await store.findSession(id)
    if (session === undefined) return { kind: 'gone' }
    const isAtRest = session.turnState === 'idle' && session.operation === null
    if (!isAtRest || session.openCalls.length > 0) return { kind: 'in-use' }
    const holder = randomUUID()
    const request = { sessionId: id, runner: this.#runner, holder, fence: session.fence }
    const outcome = await store.acquire(request)
    switch (outcome.kind) {
      case 'acquired': {
        // Another holder may have continued it meanwhile.
        const { tail, tailHash } = outcome.session
        if (tail !== session.tail) return { kind: 'in-use' }
        hand.hold(outcome.lease, { number: tail, hash: tailHash })
        return null
      }
      case 'held':
        return { kind: 'held', by: outcome.by }
      case 'fence-changed':
        return { kind: 'in-use' }
      case 'gone':
      case 'unknown':
        return { kind: 'gone' }
      case 'lost':
        this.#runner = null
        return await this.#acquire(store, id, hand)
      default:
        return outcome satisfies never
    }
  }

  /** A killed import still holds its session, and no other process may be there to free it. */
  async #register(store: Store): Promise<RunnerRow['id']> {
    for (const runner of await store.listRunners()) {
      const { id, beat } = runner
      if (this.#isGone(runner)) await store.dismissRunner({ runner: id, beat })
    }
    const id = runnerId(`import-${randomUUID()}`)
    const startedAt = Date.now()
    await store.registerRunner({ ...this.#host, id, startedAt, leaseMs: LEASE_MS })
    this.#renewedAt = performance.now()
    return id
  }

  /** Moves images and files out of the transcript, as for messages that arrive here. */
  async staged(lease: Lease, entry: AdoptedEntry): Promise<AdoptedEntry> {
    if (entry.kind !== 'input' || this.#store === null || this.#stageParts === null) return entry
    const { message } = entry.body as unknown as { readonly message: UserMessage }
    if (!message.parts.some((part) => part.type === 'image' || part.type === 'file')) return entry
    const staged = await this.#stageParts(this.#store, lease.sessionId, message.parts)
    // Content too large for the shelf stays in the entry.
    if (staged.kind !== 'staged' || staged.hashes.length === 0) return entry
    const body = { message: { ...message, parts: staged.parts } } as unknown as JsonValue
    return { ...entry, body, blobs: staged.hashes }
  }

  async write(lease: Lease, tail: Tail, entries: readonly AdoptedEntry[]): Promise<Tail> {
    if (this.#store === null) return tail
    if (performance.now() - this.#renewedAt > RENEW_MS) {
      await this.#store.renew({ runner: lease.runner })
      this.#renewedAt = performance.now()
    }
    const operation = operationId(randomUUID())
    const outcome = await this.#store.adoptEntries({ lease, tail, operation, entries })
    if (outcome.kind === 'appended') return outcome.tail
    const problem = `a page was refused (${outcome.kind}); run it again, it goes on from there`
    throw new ImportFailedError({ sessionId: lease.sessionId, problem })
  }

  async letGo(lease: Lease): Promise<void> {
    await this.#store?.release({ lease, reason: 'idle' })
  }

  async close(): Promise<void> {
    if (this.#runner !== null) await this.#store?.retireRunner({ runner: this.#runner })
    this.#runner = null
  }
}

/** One session while it is filled. */
export class SessionImport {
  readonly state: 'new' | 'continued'
  readonly positions: EntryPositions
  readonly #importer: SessionImporter
  readonly #page: AdoptedEntry[] = []
  #pageBytes = 0
  #lease: Lease | null = null
  #tail: Tail | null = null
  #added = 0

  constructor(importer: SessionImporter, state: 'new' | 'continued', positions: EntryPositions) {
    this.#importer = importer
    this.state = state
    this.positions = positions
  }

  hold(lease: Lease, tail: Tail): void {
    this.#lease = lease
    this.#tail = tail
  }

  /** How many entries this run has added. */
  get added(): number {
    return this.#added
  }

  /** `isAskedFor` false: no later row refers to it, so its position is not remembered. */
  async append(entry: AdoptedEntry, { isAskedFor = true } = {}): Promise<EntryNumber> {
    this.#added += 1
    const row = isAskedFor ? entry.row : null
    const number = this.positions.add({ row, kind: PLACES[entry.kind] ?? 'other' })
    if (this.#lease === null) return number
    const kept = await this.#importer.staged(this.#lease, entry)
    this.#page.push(kept)
    this.#pageBytes += sizeOf(kept.body)
    if (this.#page.length >= PAGE || this.#pageBytes >= PAGE_BYTES) await this.#flush()
    return number
  }

  async #flush(): Promise<void> {
    if (this.#lease === null || this.#tail === null || this.#page.length === 0) return
    this.#tail = await this.#importer.write(this.#lease, this.#tail, this.#page.splice(0))
    this.#pageBytes = 0
  }

  async close(): Promise<void> {
    await this.#flush()
    if (this.#lease !== null) await this.#importer.letGo(this.#lease)
  }
}

function settingsEntry({ createdAt, settings }: NewImport): AdoptedEntry {
  const { tokens, ...body } = settings
  return { kind: 'settings', row: null, at: createdAt, tokens, body: body as JsonObject }
}

const PLACES: { readonly [kind: string]: PositionKind } = {
  ...{ result: 'result', compaction: 'handoff', aside: 'aside', turn: 'aside' },
}

function positionOf(entry: Entry): Parameters<EntryPositions['add']>[0] {
  const row = 'row' in entry.meta && typeof entry.meta.row === 'number' ? entry.meta.row : null
  return { row, kind: PLACES[entry.kind] ?? 'other' }
}

/** Where a session was imported from, if this entry records it. */
export function importedFromOf(entry: Entry): ImportedFrom | null {
  if (entry.kind !== 'settings' || entry.body === null) return null
  const body = JSON.parse(entry.body) as JsonValue
  const from = isObject(body) ? body['importedFrom'] : null
  return isObject(from) && Array.isArray(from['ids']) ? (from as unknown as ImportedFrom) : null
}

/** An estimate of its characters; large texts are in the top levels. */
function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item as JsonValue), 16)
}
