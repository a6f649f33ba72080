import { type Clock, pause } from '#core/base/clock'
import { entryNumber, type MailNumber, type SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { LIST_MAX } from '#core/store/bounds'
import type { Reads, Store } from '#core/store/contract'
import { DamagedRowError, StoreDamagedError } from '#core/store/errors'
import type { SessionRow } from '#core/store/tables/rows'

/**
 * A store up to this size is checked completely before it is served: 41 MB took 3.6 s on two busy
 * cores.
 */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024
/**
 * A larger store is checked for this long before it is served; the rest is checked in the
 * background.
 */
const START_MS = 2_000
/** The pause after each page of the background check, which leaves the store to others. */
const PAGE = LIST_MAX
const REST_MS = 50
const LINES_MAX = 10

/**
 * The sessions with damaged data that this process has found: at its start, when it takes a session,
 * and with every read. From then on such a session takes no messages and runs no turn; all others
 * continue. A restarted process checks again.
 */
export class DamagedSessions {
  readonly #logger: Logger
  readonly #found = new Map<SessionId, DamagedRowError | StoreDamagedError>()
  /** Damage that belongs to no session. */
  readonly #others: string[] = []
  readonly #closing = new AbortController()
  #reading: Promise<void> = Promise.resolve()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** For operators: one line per damaged session, and the number of further ones. */
  get problems(): readonly string[] {
    const lines = [
      ...this.#others,
      ...[...this.#found].map(([id, { facts }]) => `Session ${id} is damaged: ${facts.problem}`),
    ]
    const more = lines.length - LINES_MAX
    const rest = more > 0 ? [`${more} more are damaged; \`throughline doctor\` names them all`] : []
    return [...lines.slice(0, LINES_MAX), ...rest]
  }

  /**
   * Wraps the store so that damage found by its reads is recorded and damaged sessions accept
   * nothing.
   */
  heard(store: Store): Store {
    const heard = <Query extends { readonly sessionId: SessionId }, Answer>(
      read: (query: Query) => Promise<Answer>,
    ) => {
      return (query: Query) => this.#hear(query.sessionId, () => read(query))
    }
    return {
      ...store,
      findSession: (id) => this.#hear(id, () => store.findSession(id)),
      look: heard((query) => store.look(query)),
      readEntries: heard((query) => store.readEntries(query)),
      readContext: heard((query) => store.readContext(query)),
      listMail: heard((query) => store.listMail(query)),
      // A damaged index stops no session.
      search: (query) => this.#hear(null, () => store.search(query)),
      findBlob: heard((query) => store.findBlob(query)),
      acquire: heard(async (request) => {
        this.#refuse(request.sessionId)
        return await store.acquire(request)
      }),
      admit: async (request) => {
        const id = 'sessionId' in request.to ? request.to.sessionId : null
        if (id !== null) this.#refuse(id)
        return await this.#hear(id, () => store.admit(request))
      },
    }
  }

  /**
   * Checks the store before it is served. A large store is checked for a bounded time and then in the
   * background; every read is checked anyway.
   */
  async check(store: Store, clock: Clock): Promise<void> {
    const bytes = await store.readSize()
    if (bytes === null) return
    try {
      await this.#verify(store, bytes <= WHOLE_BYTES_MAX ? {} : { sessionId: null })
      if (bytes > WHOLE_BYTES_MAX)
        await this.#readSome(readAll(store)[Symbol.asyncIterator](), clock)
    } catch (error) {
      // Readable data is still served, but sessions cannot be listed.
      if (!isDamage(error)) throw error
      this.#note(null, error)
    }
  }

  async #verify(store: Store, what: { readonly sessionId?: null }): Promise<void> {
    for (const { sessionId, problem } of await store.verify(what)) {
      this.#note(
        sessionId,
        new DamagedRowError({ row: `session ${sessionId}`, problem, foundBy: 'verify' }),
      )
    }
  }

  async #readSome(pages: AsyncIterator<void>, clock: Clock): Promise<void> {
    const until = clock.monotonic() + START_MS
    while (clock.monotonic() < until) if ((await pages.next()).done === true) return
    this.#reading = this.#readOn(pages, clock)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#reading
  }

  async #readOn(pages: AsyncIterator<void>, clock: Clock): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await pause(clock, REST_MS, signal)
      const isOver = await pages.next().then(
        ({ done }) => done === true,
        // The store is busy or unreachable: later reads check the rest.
        () => true,
      )
      if (isOver) return
    }
  }

  async #hear<Answer>(id: SessionId | null, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof DamagedRowError) this.#note(id ?? ofSession(error), error)
      throw error
    }
  }

  #refuse(id: SessionId): void {
    const error = this.#found.get(id)
    if (error !== undefined) throw error
  }

  #note(id: SessionId | null, error: DamagedRowError | StoreDamagedError): void {
    const problem = id === null ? problemIn(error) : error.facts.problem
    if (id === null) {
      if (this.#others.includes(problem)) return
      this.#others.push(problem)
      this.#logger.error({ problem }, 'store is damaged')
    } else {
      if (this.#found.has(id)) return
      this.#found.set(id, error)
      this.#logger.error({ sessionId: id, problem }, 'session is damaged')
    }
  }
}

/**
 * For a process that takes a message without having checked the store: reads the session for a
 * bounded time, and throws the damage that it meets.
 */
export async function refuseDamagedSession(
  store: Reads,
  id: SessionId,
  clock: Clock,
): Promise<void> {
  const session = await store.findSession(id)
  if (session?.state !== 'open') return
  const until = clock.monotonic() + START_MS
  for await (const _ of readSession(store, session)) if (clock.monotonic() >= until) return
}

function isDamage(error: unknown): error is DamagedRowError | StoreDamagedError {
  return error instanceof DamagedRowError || error instanceof StoreDamagedError
}

/** Damage of no session: what a read has found does not name its row. */
function problemIn({ facts }: DamagedRowError | StoreDamagedError): string {
  if (!('row' in facts) || facts.foundBy === 'verify') return facts.problem
  return [`${facts.row} ${facts.problem}`, facts.remedy].filter(Boolean).join(': ')
}

function ofSession({ facts }: DamagedRowError): SessionId | null {
  return (facts.sessionId as SessionId | undefined) ?? null
}

/** Reads every open session page by page; the reads detect damage. */
async function* readAll(store: Reads): AsyncIterable<void> {
  for (let after: SessionId | undefined; ; ) {
    const page = await store.listSessions({
      ...(after !== undefined && { after }),
      ...{ state: 'open', limit: LIST_MAX },
    })
    for (const session of page) {
      try {
        yield* readSession(store, session)
      } catch (error) {
        if (!isDamage(error)) throw error
      }
    }
    after = page.at(-1)?.id
    if (page.length < LIST_MAX) return
  }
}

async function* readSession(
  store: Reads,
  { id: sessionId, tail, mail }: SessionRow,
): AsyncIterable<void> {
  await store.readContext({ sessionId })
  for (let from = 1; from <= tail; from += PAGE) {
    const to = entryNumber(Math.min(tail, from + PAGE - 1))
    yield void (await store.readEntries({ sessionId, from: entryNumber(from), to }))
  }
  for (let after = 0; after < mail; after += PAGE) {
    yield void (await store.listMail({ sessionId, after: after as MailNumber, limit: PAGE }))
  }
}
