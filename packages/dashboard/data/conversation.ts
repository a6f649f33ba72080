import { batch, computed, type Signal, signal } from '@preact/signals'
import type { JsonObject } from '../../core/src/base/json.ts'
import type { LiveEvent, RuntimeEvent } from '../../server/src/runtime/events/runtime-event.ts'
import { warningIn } from '../../server/src/runtime/events/runtime-event.ts'
import type { Mail, SessionSummary, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { count } from '../parts/words.ts'
import { call, ServerRefusal, sessionPath, wordsOf } from './api.ts'
import { type Attempt, type Notice, noticeIn, withPiece, writingIn } from './attempt-text.ts'
import { listen } from './events.ts'
import { Outbox } from './outbox.ts'
import { noteSummary } from './session-list.ts'

/**
 * One session on the screen. The transcript is the truth and is read in pages, only those that are
 * looked at; the events say when there is more. What a model is writing is provisional: it is shown
 * until its entry is there, or until it is taken back.
 */
export const PAGE_ENTRIES = 10
const PAGES_MAX = 100
const PENDING_MAX = 100
const REFRESH_MS = 30

export type Pages = ReadonlyMap<number, readonly TranscriptEntry[]>

export class Conversation {
  readonly id: string
  readonly summary = signal<SessionSummary | null>(null)
  /** The number of the newest entry that is known. */
  readonly tail = signal(0)
  readonly pages = signal<Pages>(new Map())
  readonly attempts: Signal<readonly Attempt[]>
  readonly pending = signal<readonly Mail[]>([])
  /** What the turn waits for, in words for whoever waits with it. */
  readonly notice = computed(() => this.#wordsOfWait())
  /** That details fade with every compaction, until it is dismissed. */
  readonly warning = signal<string | null>(null)
  readonly problem = signal<string | null>(null)
  /** Why what was asked for last could not be done. */
  readonly refusal = signal<string | null>(null)
  /** Rises with every compaction that starts, ends or is undone. */
  readonly compactions = signal(0)
  readonly outbox: Outbox
  readonly #told: Signal<Notice | null>
  readonly #unlisten: () => void
  readonly #reading = new Set<number>()
  /** Pages that could not be read: asked for again when the server is back. */
  readonly #missed = new Set<number>()
  /** What was asked for from here and may still be turned down. */
  readonly #asked = new Set<number>()
  #news: LiveEvent[] = []
  #frame = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isRefreshing = false
  #isStale = false
  #isClosed = false
  /** The entry that ended the newest turn that is over. */
  #overAt = 0
  /** How often what is covered has changed, and how much of that was read. */
  #marks = 0
  #marksRead = 0

  constructor(id: string) {
    this.id = id
    this.attempts = signal(writingIn(id))
    this.#told = signal(noticeIn(id))
    this.outbox = new Outbox(id, () => this.#soon())
    this.#unlisten = listen((event) => this.#take(event))
    this.#soon()
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    this.outbox.close()
    clearTimeout(this.#timer)
    cancelAnimationFrame(this.#frame)
  }

  /** Has a page read unless it is there or under way. */
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
      const taken = await call<{ mail?: number } | undefined>(sessionPath(this.id, path), wanted)
      if (taken?.mail !== undefined) this.#asked.add(taken.mail)
      this.#soon()
      return true
    } catch (error) {
      this.refusal.value = wordsOf(error)
      return false
    }
  }

  async revert(entry: number): Promise<void> {
    await this.act(`/compactions/${entry}/revert`, { method: 'POST' })
  }

  async #read(page: number): Promise<void> {
    this.#reading.add(page)
    try {
      const from = page * PAGE_ENTRIES + 1
      const path = `/transcript?from=${from}&limit=${PAGE_ENTRIES}`
      const { entries } = await call<{ entries: TranscriptEntry[] }>(sessionPath(this.id, path))
      const pages = new Map(this.pages.value)
      // The newest read is the last to be forgotten.
      pages.delete(page)
      pages.set(page, entries)
      for (const old of pages.keys()) {
        if (pages.size <= PAGES_MAX) break
        pages.delete(old)
      }
      const last = entries.at(-1)?.number ?? 0
      batch(() => {
        this.pages.value = pages
        this.tail.value = Math.max(this.tail.value, last)
        this.#dropWritten(last)
      })
    } catch (error) {
      this.problem.value = wordsOf(error)
      this.#missed.add(page)
    } finally {
      this.#reading.delete(page)
    }
  }

  #take(event: RuntimeEvent | { readonly type: 'broken' }): void {
    if (event.type === 'broken') {
      // Whoever wrote it may be gone; what is stored comes again.
      this.#news = []
      this.attempts.value = []
      return
    }
    if (event.type === 'caught-up') {
      this.#soon()
      const missed = [...this.#missed]
      this.#missed.clear()
      for (const page of missed) void this.#read(page)
      return
    }
    if (event.sessionId !== this.id) return
    if (event.type === 'live') {
      this.#news.push(event)
      if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#show())
      return
    }
    const { kind } = event
    if (kind === 'turn ended') this.#overAt = Number(event.facts['entry'])
    if (kind === 'control settled') this.#noteRefusal(event.facts)
    const warning = warningIn(event)
    if (warning !== null) this.warning.value = warning
    if (kind.startsWith('compaction ') || kind === 'entries erased') {
      this.compactions.value++
      // What is covered has changed.
      if (kind !== 'compaction started') this.#marks++
    }
    this.#soon()
  }

  #noteRefusal(facts: JsonObject): void {
    const { mail } = facts
    const isOurs = Array.isArray(mail) && mail.some((number) => this.#asked.delete(Number(number)))
    if (isOurs) this.refusal.value = refusalIn(facts)
  }

  /** Once per frame, however many words came. */
  #show(): void {
    this.#frame = 0
    const news = this.#news
    this.#news = []
    let attempts = this.attempts.value
    for (const event of news) {
      if (event.kind === 'notice') {
        this.#told.value = event
        this.#soon()
      } else if (event.kind === 'void' || !this.#isWritten(event.step)) {
        attempts = withPiece(attempts, event)
      }
    }
    this.attempts.value = attempts
  }

  /**
   * Whether it still waits is the session's to say: what is live overtakes what is stored, and the end
   * of an earlier turn may come behind the notice of this one.
   */
  #wordsOfWait(): string | null {
    const [told, summary] = [this.#told.value, this.summary.value]
    if (told === null || told.turn !== summary?.turn || told.code !== summary.state) return null
    return told.text
  }

  /** The reply to a context up to `step`, or to a later one, is an entry behind it. */
  #isWritten(step: number): boolean {
    for (let number = this.tail.value; number > step; number--) {
      const page = this.pages.value.get(Math.floor((number - 1) / PAGE_ENTRIES))
      const entry = page?.[(number - 1) % PAGE_ENTRIES]
      if (entry?.kind === 'assistant') return entry.meta['upto' as never] >= step
    }
    return false
  }

  #dropWritten(last: number): void {
    const left = this.attempts.value.filter(({ step }) => step >= last || !this.#isWritten(step))
    if (left.length !== this.attempts.value.length) this.attempts.value = left
  }

  #soon(): void {
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
        await this.#readNews()
      }
    } catch (error) {
      const isGone = error instanceof ServerRefusal && error.status === 404
      this.problem.value = isGone ? 'There is no such session.' : wordsOf(error)
    } finally {
      this.#isRefreshing = false
    }
  }

  async #readNews(): Promise<void> {
    const [marks, overAt] = [this.#marks, this.#overAt]
    const { taken } = this.outbox
    const mailPath = `/mailbox?state=pending&limit=${PENDING_MAX}`
    const [summary, { mail }] = await Promise.all([
      call<SessionSummary>(sessionPath(this.id)),
      call<{ mail: Mail[] }>(sessionPath(this.id, mailPath)),
    ])
    const before = this.tail.value
    const lastPage = Math.floor((summary.entries - 1) / PAGE_ENTRIES)
    const firstNew = Math.floor(Math.max(0, before - 1) / PAGE_ENTRIES)
    const wanted = new Set<number>(marks > this.#marksRead ? this.pages.value.keys() : [])
    // Where the end is on the screen, what is new is read before it is announced: nothing flickers.
    if (summary.entries > before && (before === 0 || this.pages.value.has(firstNew))) {
      wanted.add(lastPage)
      if (lastPage - firstNew === 1) wanted.add(firstNew)
    }
    this.#marksRead = marks
    await Promise.all([...wanted].filter((page) => page >= 0).map((page) => this.#read(page)))
    // What is being written may be of a later turn than what was read: it has seen more entries.
    const from = summary.state === 'idle' ? summary.entries + 1 : overAt
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

const REFUSALS: Readonly<Record<string, string>> = {
  'no-room': 'There is no room for it',
  'nothing-to-revert': 'There is no compaction to undo',
  'nothing-to-compact': 'There is nothing to compact yet',
  'tried-too-often': 'No model could write it just now; it is tried again later',
  'out-of-date': 'The conversation went on since the preview; make another one',
  'unknown-pin': 'There is no such pin',
}

function refusalIn(facts: JsonObject): string | null {
  const { refused, tokensAfter, limit } = facts
  if (typeof refused !== 'string') return null
  const words = REFUSALS[refused] ?? `It could not be done (${refused})`
  const isCounted = typeof tokensAfter === 'number' && typeof limit === 'number'
  return isCounted ? `${words}: ${count(tokensAfter)} tokens of ${count(limit)}.` : `${words}.`
}
