import { randomUUID } from 'node:crypto'
import { type Clock, pause } from '#core/base/clock'
import { isGone } from '#core/base/host'
import {
  type EntryNumber,
  entryNumber,
  operationId,
  type RunnerId,
  type SessionId,
} from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { Part, UserPart } from '#core/message/message'
import { stageParts } from '#core/session/blobs'
import { readRange } from '#core/session/context/source'
import { EMPTIED_HANDOFF } from '#core/session/protocol/rules/controls'
import type { AdoptedEntry } from '#core/store/adoption'
import type { EraseEntries } from '#core/store/commits'
import type { Lease, Store, Tail } from '#core/store/contract'
import {
  type EntryPlan,
  type PlannedEntry,
  planEntries,
  rewindBody,
  sharedDepth,
} from '../../proxy/entry-plan.ts'
import { locate, type Placed, unitCount, unitsBehind } from '../../proxy/history.ts'
import { hashUnit } from '../../proxy/unit.ts'
import { boundariesOf, type UnitNode, UnitTree } from '../../proxy/unit-tree.ts'
import type { UpstreamReply } from '../../proxy/wire/wire.ts'
import { addToTree, adoptedEntry } from './entries.ts'
import { frameSettings, isSameFrame, type RequestFrame } from './frame.ts'

type Change = EntryPlan | AdoptedEntry | Settings | Erasure
type Settings = ReturnType<typeof frameSettings>

interface Erasure {
  readonly erases: readonly EntryNumber[]
  readonly reason: string
}

/** How long a write may take before the client's request is forwarded without it. */
const WRITE_MS_MAX = 5_000
const RETRY_MS = 25
/** A session without a write for this long is released to other processes. */
const LINGER_MS = 2_000
/** Even a busy session is released from time to time, for other processes that wait. */
const HELD_MS_MAX = 10_000
/** Long enough for the process that holds the session to release it. */
const HOLDER_MS_MAX = 3 * HELD_MS_MAX

/**
 * A history seen for the first time may be long. Each entry is in memory several times on its way to
 * the disk: a request of 3.8 MB took 40 MB at once. Pieces of 2 MB cost no more processor time than
 * one of 4.4 MB; those of 0.5 MB cost 29 % more.
 */
const ENTRIES_AT_ONCE = 500
const BYTES_AT_ONCE = 2 * 1024 * 1024

function firstPiece(planned: Change): Change {
  if (!('entries' in planned)) return planned
  return { ...planned, entries: planned.entries.slice(0, ENTRIES_AT_ONCE) }
}

/** What a plan still has to write behind its first piece. */
function restOf(planned: EntryPlan): EntryPlan {
  return { rewindTo: null, entries: planned.entries.slice(ENTRIES_AT_ONCE) }
}

export class NotRecordedError extends Error {
  override readonly name = 'NotRecordedError'
}

/** One client session: its transcript in the store, and the tree of everything the client sent. */
export class StoredSession {
  readonly id: SessionId
  readonly #store: Store
  readonly #clock: Clock
  readonly #runner: () => Promise<RunnerId>
  #tree = new UnitTree()
  #frame: RequestFrame | null = null
  #tail: Tail
  #lease: Lease | null = null
  #heldSince = 0
  #release: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    id: SessionId,
    tail: Tail,
    terms: { store: Store; clock: Clock; runner: () => Promise<RunnerId> },
  ) {
    this.id = id
    this.#tail = tail
    this.#store = terms.store
    this.#clock = terms.clock
    this.#runner = terms.runner
  }

  get isEmpty(): boolean {
    return this.#tail.number === 0
  }

  get tree(): UnitTree {
    return this.#tree
  }

  /** Reads the new entries of the transcript. */
  async refresh(): Promise<void> {
    const row = await this.#store.findSession(this.id)
    if (row === undefined || row.state !== 'open') throw new NotRecordedError('It was deleted.')
    const entries = await readRange(this.#store, this.id, this.#seen, row.tail)
    for (const entry of entries) {
      addToTree(this.#tree, entry)
      if (entry.kind !== 'settings') continue
      this.#frame = { windowTokens: row.limits.hardTokens, fixedTokens: entry.tokens }
    }
    const last = entries.at(-1)
    if (last !== undefined) {
      this.#seen = last.number
      this.#tail = { number: last.number, hash: last.hash }
    }
  }
  #seen = 0

  /** Records what is new in a history, durably. Returns its last unit. */
  async record(placed: Placed): Promise<UnitNode> {
    const whole = unitCount(placed)
    if (locate(this.#tree, placed).depth === whole) {
      // Nothing to write, so nothing would tell that another process undid a handoff.
      await this.#oneAtATime(() => this.refresh())
      return locate(this.#tree, placed)
    }
    await this.#oneAtATime(() =>
      this.#write(() => {
        const known = locate(this.#tree, placed)
        if (known.depth === whole) return null
        const from = sharedDepth(known)
        const units = unitsBehind(placed, from, BYTES_AT_ONCE)
        const plan = planEntries(this.#tree, known, units)
        // The last entry may continue behind this piece.
        const isEnd = from + units.length === whole || plan.entries.length === 1
        return isEnd ? plan : { ...plan, entries: plan.entries.slice(0, -1) }
      }),
    )
    return locate(this.#tree, placed)
  }

  /** Records an answer after its request, as far as it came. */
  async recordReply(
    request: Placed,
    { units, isWhole }: Pick<UpstreamReply, 'units' | 'isWhole'>,
  ): Promise<void> {
    if (units.length === 0) return
    const hashes = units.map(hashUnit)
    await this.#oneAtATime(() =>
      this.#write(() => {
        const asked = locate(this.#tree, request)
        if (asked.depth < unitCount(request)) return null
        const known = this.#tree.follow(asked, hashes)
        if (known.depth === asked.depth + hashes.length) return null
        // The end of a request always closes an entry, so at most the reply is recorded again.
        const behind = Math.max(0, sharedDepth(known) - asked.depth)
        return planEntries(this.#tree, known, units.slice(behind), { isPartial: !isWhole })
      }),
    )
  }

  /** Records the window and the size of system text and tools, if they are not those on record. */
  async setFrame(frame: RequestFrame, client: JsonObject): Promise<void> {
    const plan = () => {
      const isKnown = this.#frame !== null && isSameFrame(frame, this.#frame)
      return isKnown ? null : frameSettings(frame, { client })
    }
    if (plan() !== null) await this.#oneAtATime(() => this.#write(plan))
  }

  /** Appends other entries, such as a handoff. Null: no longer possible. */
  async append(make: () => AdoptedEntry | null): Promise<boolean> {
    return await this.#oneAtATime(() => this.#write(make))
  }

  /** Removes the text of entries for good, and of the handoffs that cover them. */
  async erase(erases: readonly EntryNumber[], reason: string): Promise<void> {
    await this.#oneAtATime(() => this.#write(() => ({ erases, reason }), HOLDER_MS_MAX))
  }

  /** Sends the messages that this handoff covers themselves again. False: it is not the newest. */
  async undo(handoff: EntryNumber): Promise<boolean> {
    const plan = (): AdoptedEntry | null => {
      const [newest, below] = boundariesOf(this.#tree.head)
      if (newest?.boundary.entry !== handoff) return null
      const effective = entryNumber(below?.boundary.entry ?? 0)
      return { kind: 'rewind', row: null, at: this.#clock.now(), tokens: 0, body: null, effective }
    }
    return await this.#oneAtATime(() => this.#write(plan, HOLDER_MS_MAX))
  }

  async close(): Promise<void> {
    clearTimeout(this.#release)
    await this.#last.catch(() => {})
    await this.#letGo()
  }

  /** Requests of one session do not wait for each other; only their writes are ordered. */
  #oneAtATime<Value>(act: () => Promise<Value>): Promise<Value> {
    const next = this.#last.then(act, act)
    this.#last = next.catch(() => {})
    return next
  }

  /**
   * After a lost race the write is retried on top of the winner's; often nothing is left to write.
   */
  async #write(plan: () => Change | null, msMax = WRITE_MS_MAX): Promise<boolean> {
    const until = this.#clock.monotonic() + msMax
    let isWritten = false
    // To read a request again for each piece would take time in proportion to the square of its size.
    let rest: EntryPlan | null = null
    while (true) {
      const whole: Change | null = rest ?? plan()
      if (whole === null || ('entries' in whole && whole.entries.length === 0)) return isWritten
      const planned = firstPiece(whole)
      const lease = await this.#acquire()
      if (lease !== null) {
        const outcome = await this.#commit(planned, lease)
        if (outcome.kind === 'appended' || outcome.kind === 'erased') {
          await this.#follow(planned, outcome.tail)
          this.#lingerOn()
          if (!('entries' in whole)) return true
          isWritten = true
          rest = whole.entries.length > ENTRIES_AT_ONCE ? restOf(whole) : null
          continue
        }
        if (outcome.kind !== 'superseded') throw new NotRecordedError(outcome.kind)
        if (outcome.by === 'fence') this.#lease = null
        if (outcome.by === 'gone') throw new NotRecordedError('It was deleted.')
      } else await pause(this.#clock, RETRY_MS)
      if (this.#clock.monotonic() > until) throw new NotRecordedError('Another process holds it.')
      rest = null
      await this.refresh()
    }
  }

  async #commit(planned: Change, lease: Lease) {
    const fenced = { lease, tail: this.#tail, operation: operationId(randomUUID()) }
    if ('erases' in planned) return await this.#erase({ ...fenced, ...planned })
    if ('limits' in planned) return await this.#store.changeSettings({ ...fenced, ...planned })
    return await this.#store.adoptEntries({ ...fenced, entries: await this.#entriesFor(planned) })
  }

  /** The client has the whole conversation, so an erased handoff needs no other in its place. */
  async #erase({ erases: entries, ...fenced }: Omit<EraseEntries, 'entries'> & Erasure) {
    const outcome = await this.#store.eraseEntries({ ...fenced, entries })
    if (outcome.kind !== 'replacement-needed') return outcome
    const { owed = [] } = (await this.#store.findSession(this.id)) ?? {}
    const replacement = EMPTIED_HANDOFF
    return await this.#store.eraseEntries({ ...fenced, entries, owed, replacement })
  }

  async #entriesFor(planned: EntryPlan | AdoptedEntry): Promise<readonly AdoptedEntry[]> {
    if (!('entries' in planned)) return [planned]
    const at = this.#clock.now()
    const entries: AdoptedEntry[] = []
    if (planned.rewindTo !== null) {
      const node = this.#tree.upTo(planned.rewindTo)
      const effective = entryNumber(boundariesOf(node)[0]?.boundary.entry ?? 0)
      const to = entryNumber(planned.rewindTo)
      const body = rewindBody(planned)
      entries.push({ kind: 'rewind', row: null, at, tokens: 0, body, to, effective })
    }
    for (const entry of planned.entries) {
      const { parts, blobs } = await this.#withBlobs(entry)
      const message = { ...entry.message, parts } as PlannedEntry['message']
      entries.push(adoptedEntry({ ...entry, message }, at, blobs))
    }
    return entries
  }

  /** Images and files are stored once, beside the transcript. */
  async #withBlobs({ message }: PlannedEntry): Promise<{ parts: unknown; blobs: string[] }> {
    if (message.role === 'assistant') return { parts: message.parts, blobs: [] }
    const [first] = message.parts as readonly Part[]
    const isTool = message.role === 'tool'
    const parts = isTool && first?.type === 'tool-result' ? first.output : message.parts
    const staged = await stageParts(this.#store, this.id, parts as readonly UserPart[])
    if (staged.kind !== 'staged') throw new NotRecordedError(`A picture: ${staged.kind}.`)
    const kept = isTool ? [{ ...first, output: staged.parts }] : staged.parts
    return { parts: kept, blobs: staged.hashes }
  }

  async #follow(planned: Change, tail: Tail): Promise<void> {
    if (!('entries' in planned)) {
      await this.refresh()
      return
    }
    const count = planned.entries.length + (planned.rewindTo === null ? 0 : 1)
    let number = tail.number - count
    if (planned.rewindTo !== null) {
      number += 1
      this.#tree.rewind(number, planned.rewindTo)
    }
    for (const { hashes } of planned.entries) {
      number += 1
      this.#tree.add(number, hashes)
    }
    this.#seen = tail.number
    this.#tail = tail
  }

  async #acquire(): Promise<Lease | null> {
    if (this.#lease !== null) return this.#lease
    const row = await this.#store.findSession(this.id)
    if (row === undefined) throw new NotRecordedError('It was deleted.')
    const runner = await this.#runner()
    const { fence } = row
    const request = { sessionId: this.id, runner, holder: randomUUID(), fence }
    const outcome = await this.#store.acquire(request)
    if (outcome.kind === 'acquired') {
      this.#lease = outcome.lease
      this.#heldSince = this.#clock.monotonic()
      return outcome.lease
    }
    if (outcome.kind === 'held') await this.#dismissIfGone(outcome.by)
    return null
  }

  async #dismissIfGone(id: RunnerId): Promise<void> {
    const row = (await this.#store.listRunners()).find((each) => each.id === id)
    if (row !== undefined && isGone(row)) {
      await this.#store.dismissRunner({ runner: id, beat: row.beat })
    }
  }

  #lingerOn(): void {
    clearTimeout(this.#release)
    const isLong = this.#clock.monotonic() - this.#heldSince > HELD_MS_MAX
    this.#release = setTimeout(
      () => void this.#oneAtATime(() => this.#letGo()).catch(() => {}),
      isLong ? 0 : LINGER_MS,
    )
    this.#release.unref()
  }

  async #letGo(): Promise<void> {
    const lease = this.#lease
    this.#lease = null
    if (lease !== null) await this.#store.release({ lease, reason: 'idle' })
  }
}
