import { batch, computed, type Signal, signal } from '@preact/signals'
import type { JsonObject } from '../../core/src/base/json.ts'
import type { LiveEvent, RuntimeEvent } from '../../core/src/session/events/runtime-event.ts'
import { warningIn } from '../../core/src/session/events/runtime-event.ts'
import type { Mail, SessionSummary, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { count, second } from '../parts/words.ts'
import { hashOf } from './address.ts'
import { call, errorText, ServerRefusal, sessionPath } from './api.ts'
import { type Attempt, attemptsIn, type Notice, noticeIn, withPiece } from './attempt-text.ts'
import { listen } from './events.ts'
import { dropDraft } from './keep.ts'
import { outboxOf } from './outbox.ts'
import { noteSummary } from './session-list.ts'

/**
 * One session on the screen. The transcript is the source of truth; only visible pages of it are read,
 * and events announce more. Text that a model is writing is provisional: it is shown until its entry
 * arrives or the attempt is withdrawn.
 */
export const PAGE_ENTRIES = 10
const PAGES_MAX = 100
const PENDING_MAX = 100
const SETTLED_MAX = 20
const REFRESH_MS = 30

/** The answer to a request: a session of a proxy's client undoes a handoff at once, without mail. */
interface Taken {
  readonly mail?: number
  readonly uncachedTokens?: number
}

export type Pages = ReadonlyMap<number, readonly TranscriptEntry[]>

export class Conversation {
  readonly id: string
  readonly summary = signal<SessionSummary | null>(null)
  /** The number of the newest entry that is known. */
  readonly tail = signal(0)
  readonly pages = signal<Pages>(new Map())
  readonly attempts: Signal<readonly Attempt[]>
  readonly pending = signal<readonly Mail[]>([])
  /** Why the turn waits, for the person. */
  readonly notice = computed(() => this.#noticeText())
  /** Warns that details fade with every compaction, until dismissed. */
  readonly warning = signal<string | null>(null)
  readonly problem = signal<string | null>(null)
  /** Why the last request was refused. */
  readonly refusal = signal<string | null>(null)
  /** Rises with every compaction that starts, ends or is undone. */
  readonly compactions = signal(0)
  /** Rises when entries are erased: whatever was read before may repeat them. */
  readonly erasures = signal(0)
  /** A client continues it through the proxy: no agent reads what is written here. */
  readonly isOfClient = signal(false)
  readonly outbox: ReturnType<typeof outboxOf>
  readonly #notice: Signal<Notice | null>
  readonly #unlisten: () => void
  readonly #reading = new Set<number>()
  /** Pages that could not be read: requested again when the server is back. */
  readonly #missed = new Set<number>()
  /** Entries whose text may still arrive with an answer from before. */
  readonly #erased = new Set<number>()
  /** Requests from this page that the session may still refuse. */
  readonly #requested = new Set<number>()
  /** The newest settled requests: an event may overtake the answer to its request. */
  readonly #settled: { readonly mail: number; readonly facts: JsonObject }[] = []
  #liveEvents: LiveEvent[] = []
  #frame = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isRefreshing = false
  #isStale = false
  #isClosed = false
  #isDeleted = false
  #isOriginRead = false
  /** The entry that ended the newest finished turn. */
  #turnEndedAt = 0
  /** How often the covered range has changed, and up to which change it was read. */
  #coverageVersion = 0
  #coverageRead = 0

  constructor(id: string) {
    this.id = id
    this.attempts = signal(attemptsIn(id))
    this.#notice = signal(noticeIn(id))
    this.outbox = outboxOf(id)
    this.outbox.onTaken = () => this.#refreshSoon()
    this.#unlisten = listen((event) => this.#onEvent(event))
    this.#refreshSoon()
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    clearTimeout(this.#timer)
    cancelAnimationFrame(this.#frame)
  }

  /** Reads a page unless it is loaded or loading. */
  async ensure(page: number): Promise<void> {
    const known = this.pages.value.get(page)
    const wanted = Math.min(PAGE_ENTRIES, this.tail.value - page * PAGE_ENTRIES)
    if (wanted <= 0 || this.#reading.has(page)) return
    if (known !== undefined && known.length >= wanted) return
    await this.#read(page)
  }

  async act(path: string, request: Parameters<typeof call>[1]): Promise<boolean> {
    try {
      this.refusal.value = null
      const wanted = { key: crypto.randomUUID(), ...request }
      const taken = await call<Taken | undefined>(sessionPath(this.id, path), wanted)
      if (taken?.mail !== undefined) this.#await(taken.mail)
      if (taken?.uncachedTokens !== undefined) {
        this.warning.value = `Undone. The client's next request pays the full price for about ${count(taken.uncachedTokens)} tokens that the provider has not cached.`
      }
      this.#refreshSoon()
      return true
    } catch (error) {
      this.refusal.value = errorText(error)
      return false
    }
  }

  /** Deletes the session; the forks that read it, if that is why it is refused. */
  async erase(): Promise<'erased' | 'refused' | readonly string[]> {
    try {
      this.refusal.value = null
      const request = { method: 'DELETE', key: crypto.randomUUID() } as const
      await call(sessionPath(this.id), request)
      this.#refreshSoon()
      return 'erased'
    } catch (error) {
      const isForked = error instanceof ServerRefusal && error.code === 'has-forks'
      if (isForked) return (error.facts['forks'] ?? []) as readonly string[]
      this.refusal.value = errorText(error)
      return 'refused'
    }
  }

  async revert(entry: number): Promise<void> {
    await this.act(`/compactions/${entry}/revert`, { method: 'POST' })
  }

  /** Opens a new session that begins with the entries up to this one; this one stays as it is. */
  async fork(entry: number): Promise<void> {
    try {
      const request = { method: 'POST', body: { at: entry }, key: crypto.randomUUID() } as const
      const path = sessionPath(this.id, '/forks')
      const { sessionId } = await call<{ sessionId: string }>(path, request)
      location.hash = hashOf(sessionId)
    } catch (error) {
      this.refusal.value = errorText(error)
    }
  }

  async #read(page: number): Promise<void> {
    this.#reading.add(page)
    try {
      const from = page * PAGE_ENTRIES + 1
      const path = `/transcript?from=${from}&limit=${PAGE_ENTRIES}`
      const { entries } = await call<{ entries: TranscriptEntry[] }>(sessionPath(this.id, path))
      const pages = new Map(this.pages.value)
      // Insertion order is eviction order.
      pages.delete(page)
      pages.set(page, this.#withoutErased(entries))
      for (const old of pages.keys()) {
        if (pages.size <= PAGES_MAX) break
        pages.delete(old)
      }
      const last = entries.at(-1)?.number ?? 0
      batch(() => {
        this.pages.value = pages
        this.tail.value = Math.max(this.tail.value, last)
        this.#dropCommitted(last)
      })
    } catch (error) {
      this.problem.value = errorText(error)
      this.#missed.add(page)
    } finally {
      this.#reading.delete(page)
    }
  }

  #onEvent(event: RuntimeEvent | { readonly type: 'broken' }): void {
    if (event.type === 'broken') {
      // The writing process may be gone; stored events come again.
      this.#liveEvents = []
      this.attempts.value = []
      return
    }
    if (event.type === 'caught-up') {
      this.#refreshSoon()
      const missed = [...this.#missed]
      this.#missed.clear()
      for (const page of missed) void this.#read(page)
      return
    }
    if (event.sessionId !== this.id) return
    if (event.type === 'live') {
      this.#liveEvents.push(event)
      if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#applyLiveEvents())
      return
    }
    const { kind } = event
    if (kind === 'session deleted') this.#delete()
    if (kind === 'entries erased') this.#erase(event.facts['entries'])
    if (kind === 'turn ended') this.#turnEndedAt = Number(event.facts['entry'])
    if (kind === 'control settled') this.#noteRefusal(event.facts)
    const warning = warningIn(event)
    if (warning !== null) this.warning.value = warning
    if (kind.startsWith('compaction ') || kind === 'entries erased') {
      this.compactions.value++
      // The covered range has changed.
      if (kind !== 'compaction started') this.#coverageVersion++
    }
    this.#refreshSoon()
  }

  #delete(): void {
    this.#isDeleted = true
    this.#clear()
  }

  /** The session was deleted, or the server does not know it: nothing of it may stay on the screen. */
  #clear(): void {
    const summary = this.summary.value
    batch(() => {
      this.pages.value = new Map()
      this.attempts.value = []
      this.pending.value = []
      this.warning.value = null
      this.refusal.value = null
      this.erasures.value++
      if (summary !== null) this.summary.value = { ...summary, title: null, state: 'gone' }
    })
    dropDraft(this.id)
  }

  /** At once: reading them again may fail or take its time. */
  #erase(numbers: unknown): void {
    if (Array.isArray(numbers)) for (const number of numbers) this.#erased.add(Number(number))
    batch(() => {
      this.pages.value = new Map(
        [...this.pages.value].map(([page, entries]) => [page, this.#withoutErased(entries)]),
      )
      this.erasures.value++
    })
  }

  #withoutErased(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
    return entries.map((entry) =>
      this.#erased.has(entry.number) ? { ...entry, message: null, body: null } : entry,
    )
  }

  #await(mail: number): void {
    const early = this.#settled.find((each) => each.mail === mail)
    if (early === undefined) this.#requested.add(mail)
    else void this.#explain(mail, early.facts)
  }

  /** The server has the words for it, and what helps. */
  async #explain(mail: number, facts: JsonObject): Promise<void> {
    if (typeof facts['refused'] !== 'string') return
    try {
      const path = sessionPath(this.id, `/mailbox/${mail}/outcome`)
      const { refusal } = await call<{ refusal: string | null }>(path)
      this.refusal.value = refusal ?? 'The session refused the request; nothing was changed.'
    } catch (error) {
      this.refusal.value = errorText(error)
    }
  }

  #noteRefusal(facts: JsonObject): void {
    const numbers = Array.isArray(facts['mail']) ? facts['mail'].map(Number) : []
    for (const mail of numbers) {
      if (this.#requested.delete(mail)) void this.#explain(mail, facts)
      else this.#settled.push({ mail, facts })
    }
    this.#settled.splice(0, Math.max(0, this.#settled.length - SETTLED_MAX))
  }

  /** Runs once per frame, however many events came. */
  #applyLiveEvents(): void {
    this.#frame = 0
    const liveEvents = this.#liveEvents
    this.#liveEvents = []
    let attempts = this.attempts.value
    for (const event of liveEvents) {
      if (event.kind === 'notice') {
        this.#notice.value = event
        this.#refreshSoon()
      } else if (event.kind === 'void' || !this.#isCommitted(event.step)) {
        attempts = withPiece(attempts, event)
      }
    }
    this.attempts.value = attempts
  }

  /**
   * The session's state decides whether it still waits: live events overtake stored ones, and the end
   * of an earlier turn may arrive after the notice of this one.
   */
  #noticeText(): string | null {
    const [notice, summary] = [this.#notice.value, this.summary.value]
    const isOurs = notice?.turn === summary?.turn
    const isRetry =
      notice?.code === 'retrying' && ['turn', 'waiting-for-model'].includes(summary?.state ?? '')
    if (notice === null || !isOurs || (!isRetry && notice.code !== summary?.state)) return null
    const { text, nextTryAt, code } = notice
    const isTimed = nextTryAt !== undefined && code !== 'waiting-for-approval'
    return isTimed ? `${text} Next try at ${second(nextTryAt)}.` : text
  }

  /** An entry after `step` holds the reply to it, or to a later step. */
  #isCommitted(step: number): boolean {
    for (let number = this.tail.value; number > step; number--) {
      const page = this.pages.value.get(Math.floor((number - 1) / PAGE_ENTRIES))
      const entry = page?.[(number - 1) % PAGE_ENTRIES]
      if (entry?.kind === 'assistant') return entry.meta['upto' as never] >= step
    }
    return false
  }

  #dropCommitted(last: number): void {
    const left = this.attempts.value.filter(({ step }) => step >= last || !this.#isCommitted(step))
    if (left.length !== this.attempts.value.length) this.attempts.value = left
  }

  #refreshSoon(): void {
    if (this.#isClosed) return
    this.#isStale = true
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#refresh()
    }, REFRESH_MS)
  }

  async #refresh(): Promise<void> {
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    try {
      while (this.#isStale && !this.#isClosed) {
        this.#isStale = false
        await this.#readChanges()
      }
    } catch (error) {
      const isGone = error instanceof ServerRefusal && error.status === 404
      if (isGone) this.#clear()
      this.problem.value = isGone ? 'This session does not exist.' : errorText(error)
    } finally {
      this.#isRefreshing = false
    }
  }

  async #readOrigin(): Promise<void> {
    const path = sessionPath(this.id, '/transcript?from=1&limit=1')
    const [first] = (await call<{ entries: TranscriptEntry[] }>(path)).entries
    const settings = first?.kind === 'settings' ? first.body : null
    this.isOfClient.value =
      typeof settings === 'object' && settings !== null && 'client' in settings
    this.#isOriginRead = true
  }

  async #readChanges(): Promise<void> {
    const [coverageVersion, turnEndedAt] = [this.#coverageVersion, this.#turnEndedAt]
    const { taken } = this.outbox
    const mailPath = `/mailbox?state=pending&limit=${PENDING_MAX}`
    const [summary, { mail }] = await Promise.all([
      call<SessionSummary>(sessionPath(this.id)),
      call<{ mail: Mail[] }>(sessionPath(this.id, mailPath)),
    ])
    if (summary.state === 'gone') {
      this.#delete()
      this.summary.value = summary
      noteSummary(summary)
    }
    // An answer from before the deletion must not bring the session back.
    if (this.#isDeleted) return
    if (!this.#isOriginRead && summary.entries > 0) await this.#readOrigin()
    const before = this.tail.value
    const lastPage = Math.floor((summary.entries - 1) / PAGE_ENTRIES)
    const firstNew = Math.floor(Math.max(0, before - 1) / PAGE_ENTRIES)
    const wanted = new Set<number>(
      coverageVersion > this.#coverageRead ? this.pages.value.keys() : [],
    )
    // If the end is on the screen, new entries are read before the tail moves, so nothing flickers.
    if (summary.entries > before && (before === 0 || this.pages.value.has(firstNew))) {
      wanted.add(lastPage)
      if (lastPage - firstNew === 1) wanted.add(firstNew)
    }
    this.#coverageRead = coverageVersion
    await Promise.all([...wanted].filter((page) => page >= 0).map((page) => this.#read(page)))
    // An attempt may belong to a later turn than the summary: it has seen more entries.
    const from = summary.state === 'idle' ? summary.entries + 1 : turnEndedAt
    batch(() => {
      this.summary.value = summary
      this.tail.value = Math.max(this.tail.value, summary.entries)
      this.pending.value = mail.filter(({ lane }) => lane !== 'control')
      this.outbox.forget(taken)
      this.attempts.value = this.attempts.value.filter(({ step }) => step >= from)
      this.problem.value = null
      noteSummary(summary)
    })
  }
}
