import type { Handoff } from '../message/handoff/handoff.ts'
import type { Lease, Reads, WrittenRows } from '../store/contract.ts'
import { damagedEntry } from '../store/integrity/damaged-row.ts'
import type { Entry, SessionRow } from '../store/tables/rows.ts'
import { buildContext, type Context, continueContext, replyToOf } from './context/build.ts'
import type { SessionView } from './context/session-view.ts'
import { readRange } from './context/source.ts'
import type { SeenSession } from './protocol/state.ts'
import type { WantedSettings } from './settings.ts'

/** Of each lane of mail; and as many operations as any breaker counts, including digests in between. */
const ROWS_READ = 64
/** Auxiliary calls are among them. */
const ATTEMPTS_READ = 16
const LOOK_BACK = 200
/** Prefixes of call outcomes after which a turn waits. */
const FAILURES = ['deadline:', 'connection:', 'refused:', 'malformed:']

/**
 * Another session erased the handoff after our row was read and before its entries were: the row
 * does not name the erasure yet.
 */
function isTorn({ session, context }: SessionView): boolean {
  const message = context.handoff?.message
  const isErased = message?.role === 'handoff' && (message.handoff as Handoff | null) === null
  return isErased && session.owed.length === 0
}

/**
 * Reads the view from which the protocol decides. Called only while none of our commits is in
 * flight, and everything is read up to the tail of the row, so the reads are consistent. Meanwhile
 * mail may arrive, other programs may record entries after that tail, and another session may erase
 * entries that this one reads; the next look shows that.
 */
export class SessionViewReader {
  readonly #store: Reads
  readonly #lease: Lease
  readonly #wantedFor: (agent: string) => WantedSettings | undefined
  #view: SessionView | null = null

  constructor(
    store: Reads,
    lease: Lease,
    wantedFor: (agent: string) => WantedSettings | undefined = () => undefined,
  ) {
    this.#store = store
    this.#lease = lease
    this.#wantedFor = wantedFor
  }

  get session(): SessionRow | null {
    return this.#view?.session ?? null
  }

  get context(): Context | null {
    return this.#view?.context ?? null
  }

  /** Null if this process no longer holds the session. */
  async look(): Promise<SeenSession | null> {
    const first = await this.#lookOnce()
    if (first === null || !isTorn(first.view)) return first
    const second = await this.#lookOnce()
    if (second === null || !isTorn(second.view)) return second
    const { id, effective } = second.view.session
    throw damagedEntry(id, effective, 'has no body, and nothing says that it was erased')
  }

  /**
   * The view after our own commit, from what the commit returned: no read is needed if no mail has
   * arrived or left, or none waits, and nothing else has changed. Null: look.
   */
  follow({ session, entries }: WrittenRows): SeenSession | null {
    const before = this.#view
    const { pending, owed, operation, base } = session
    if (before === null || owed.length > 0) return null
    const waits = pending.control + pending.user + pending.notification > 0
    if (waits && !hasSameMail(session, before.session)) return null
    if (operation !== before.session.operation || base !== before.session.base) return null
    if (session.tail - entries.length !== before.session.tail) return null
    const context = this.#continued(before, entries, session)
    if (context === null) return null
    const { wasFailing: _, wanted: __, ...kept } = before
    const view: SessionView = {
      ...kept,
      ...this.#wanted(session),
      session,
      context,
      ...(!waits && { controls: [], waiting: [] }),
      replyTo: newestReplyTo(entries) ?? before.replyTo,
    }
    this.#view = view
    return { view, next: entries[0]?.operation ?? null }
  }

  async #lookOnce(): Promise<SeenSession | null> {
    const { sessionId } = this.#lease
    const before = this.#view
    const known = before?.session ?? null
    const found = await this.#store.look({
      sessionId,
      known: known && { tail: known.tail, operation: known.operation, base: known.base },
      limit: ROWS_READ,
    })
    if (found === undefined || !this.#isOurs(found.session)) return null
    const { session, mail } = found
    const added = [...found.added, ...(await this.#readOn(session, known, found.added))]
    const read = await this.#readContext(session, before, added)
    if (read === null) return null
    const { context, entries } = read
    const view: SessionView = {
      session,
      context,
      ...this.#wanted(session),
      controls: mail.control,
      waiting: [...mail.user, ...mail.notification],
      operations: found.operations ?? before?.operations ?? [],
      ...(before === null && (await this.#wasFailing(session)) && { wasFailing: true as const }),
      replyTo:
        newestReplyTo(entries) ??
        (before === null ? await this.#readLastPlace(session) : before.replyTo),
    }
    if (!isTorn(view)) this.#view = view
    return { view, next: added[0]?.operation ?? null }
  }

  #wanted({ agent }: SessionRow): Pick<SessionView, 'wanted'> {
    const wanted = this.#wantedFor(agent)
    return wanted === undefined ? {} : { wanted }
  }

  /** The entries after the first page, which are many only if another program recorded them. */
  async #readOn(
    { id, tail }: SessionRow,
    known: SessionRow | null,
    page: readonly Entry[],
  ): Promise<readonly Entry[]> {
    if (known === null) return []
    return await readRange(this.#store, id, known.tail + page.length, tail)
  }

  /** Read once, for a turn that another process started. */
  async #wasFailing({ id, turnState, recovered, fence }: SessionRow): Promise<boolean> {
    if (turnState !== 'running' || recovered === fence) return false
    const calls = await this.#store.readAttempts({ sessionId: id, since: 0, limit: ATTEMPTS_READ })
    const last = calls.find(({ task }) => task === 'turn')
    return FAILURES.some((word) => last?.outcome.startsWith(word))
  }

  #isOurs({ state, fence, holder, runner }: SessionRow): boolean {
    const lease = this.#lease
    return (
      state === 'open' &&
      fence === lease.fence &&
      holder === lease.holder &&
      runner === lease.runner
    )
  }

  /** The context, and the entries that are new here. */
  async #readContext(
    session: SessionRow,
    before: SessionView | null,
    added: readonly Entry[],
  ): Promise<{ readonly context: Context; readonly entries: readonly Entry[] } | null> {
    const continued = before && this.#continued(before, added, session)
    if (continued !== null) return { context: continued, entries: added }
    const source = await this.#store.readContext({ sessionId: session.id, upto: session.tail })
    if (source === null) return null
    const context = buildContext(source, session.limits, session.tail)
    return { context, entries: before === null ? source.entries : added }
  }

  /** Null: the context must be read again. */
  #continued(
    { context }: SessionView,
    added: readonly Entry[],
    { owed, limits }: SessionRow,
  ): Context | null {
    // Another session erased entries that the previous context still shows.
    if (owed.length > 0) return null
    return added.length === 0 ? context : continueContext(context, added, limits)
  }

  /**
   * The destination of the last answer, used if no input in the context names one. If none was sent
   * yet, the last entries before the context are read. An unbounded search took three seconds in a
   * session of 100,000 entries without any.
   */
  async #readLastPlace({ id, replies, covers }: SessionRow): Promise<SessionView['replyTo']> {
    if (replies === 0) {
      const after = Math.max(0, covers - LOOK_BACK)
      return newestReplyTo(await readRange(this.#store, id, after, covers)) ?? null
    }
    const query = { sessionId: id, after: replies - 1, limit: 1 }
    const [last] = await this.#store.listReplies(query)
    return last === undefined ? null : { edge: last.edge, address: last.address }
  }
}

/** Nothing was admitted, delivered, settled or withdrawn in between. */
function hasSameMail(after: SessionRow, before: SessionRow): boolean {
  const lanes = ['control', 'user', 'notification'] as const
  return (
    after.mail === before.mail &&
    lanes.every((lane) => after.pending[lane] === before.pending[lane])
  )
}

function newestReplyTo(entries: readonly Entry[]): SessionView['replyTo'] | undefined {
  for (const entry of entries.toReversed()) {
    const place = replyToOf(entry)
    if (place !== undefined) return place
  }
  return undefined
}
