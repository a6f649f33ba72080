import type { OperationId } from '../base/ids.ts'
import type { Handoff } from '../message/handoff/handoff.ts'
import type { Lease, Reads } from '../store/contract.ts'
import { damagedEntry } from '../store/integrity/damaged-row.ts'
import type { MailItem } from '../store/queries.ts'
import type { Entry, Lane, OperationRow, SessionRow } from '../store/rows.ts'
import { buildContext, type Context, continueContext, replyToOf } from './context/build.ts'
import type { SessionView } from './context/session-view.ts'
import { readRange } from './context/source.ts'
import type { WantedSettings } from './settings.ts'

/** As many operations as any breaker counts, including digests in between. */
const OPERATIONS_READ = 64
const MAIL_READ = 64
/** Auxiliary calls are among them. */
const ATTEMPTS_READ = 16
const LOOK_BACK = 200
/** Prefixes of call outcomes after which a turn waits. */
const FAILURES = ['deadline:', 'connection:', 'refused:', 'malformed:']

interface Look {
  readonly view: SessionView
  readonly next: OperationId | null
}

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
 * entries that this one reads; the next read of the row shows that.
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
  async look(): Promise<Look | null> {
    const first = await this.#lookOnce()
    if (first === null || !isTorn(first.view)) return first
    const second = await this.#lookOnce()
    if (second === null || !isTorn(second.view)) return second
    const { id, effective } = second.view.session
    throw damagedEntry(id, effective, 'has no body, and nothing says that it was erased')
  }

  async #lookOnce(): Promise<Look | null> {
    const { sessionId } = this.#lease
    const session = await this.#store.findSession(sessionId)
    if (session === undefined || !this.#isOurs(session)) return null
    const before = this.#view
    const added =
      before === null || before.session.tail === session.tail
        ? []
        : await readRange(this.#store, sessionId, before.session.tail, session.tail)
    const found = await this.#readContext(session, before, added)
    if (found === null) return null
    const { context, entries } = found
    const wanted = this.#wantedFor(session.agent)
    const view: SessionView = {
      session,
      context,
      ...(wanted !== undefined && { wanted }),
      controls: await this.#readMail(session, 'control'),
      waiting: [
        ...(await this.#readMail(session, 'user')),
        ...(await this.#readMail(session, 'notification')),
      ],
      operations: await this.#readOperations(session, before),
      ...(before === null && (await this.#wasFailing(session)) && { wasFailing: true as const }),
      replyTo:
        newestReplyTo(entries) ??
        (before === null ? await this.#readLastPlace(session) : before.replyTo),
    }
    if (!isTorn(view)) this.#view = view
    return { view, next: added[0]?.operation ?? null }
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

  /** Reads the entries that are new here. */
  async #readContext(
    session: SessionRow,
    before: SessionView | null,
    added: readonly Entry[],
  ): Promise<{ readonly context: Context; readonly entries: readonly Entry[] } | null> {
    // Another session erased entries that the previous context still shows: read it again.
    if (before !== null && session.owed.length === 0) {
      if (added.length === 0) return { context: before.context, entries: added }
      const continued = continueContext(before.context, added, session.limits)
      if (continued !== null) return { context: continued, entries: added }
    }
    const source = await this.#store.readContext({ sessionId: session.id, upto: session.tail })
    if (source === null) return null
    const context = buildContext(source, session.limits, session.tail)
    return { context, entries: before === null ? source.entries : added }
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

  async #readMail(session: SessionRow, lane: Lane): Promise<readonly MailItem[]> {
    if (session.pending[lane] === 0) return []
    return await this.#store.listMail({
      sessionId: session.id,
      lane,
      state: 'pending',
      ...(lane !== 'control' && { after: session.delivered[lane] }),
      limit: MAIL_READ,
    })
  }

  async #readOperations(
    session: SessionRow,
    before: SessionView | null,
  ): Promise<readonly OperationRow[]> {
    const isSame =
      before !== null &&
      before.session.operation === session.operation &&
      before.session.base === session.base
    if (isSame) return before.operations
    return await this.#store.listOperations({ sessionId: session.id, limit: OPERATIONS_READ })
  }
}

function newestReplyTo(entries: readonly Entry[]): SessionView['replyTo'] | undefined {
  for (const entry of entries.toReversed()) {
    const place = replyToOf(entry)
    if (place !== undefined) return place
  }
  return undefined
}
