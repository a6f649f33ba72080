/**
 * `npm run bench:age [-- --sessions N --entries N] [--year] [--postgres]`: a store that was used for a
 * year beside a fresh one. The ratio of each figure's lower quartiles counts: at most 1.2. A busy
 * machine only adds to a figure, and for seconds; hence a round takes every figure, in both stores.
 * `long`: the figure grows with the length of the session, for the reason beside it.
 * The aged store is kept, and a run that was ended goes on where it was: in `.throughline/bench-age`,
 * or on the server in THROUGHLINE_TEST_POSTGRES; without that, a server is started for this run alone.
 */
import { parseArgs } from 'node:util'
import { operationId, type RunnerId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import { SessionViewReader } from '../../packages/core/src/session/session-view-reader.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import {
  create,
  expectKind,
  LIMITS,
  register,
  replyTo,
  StoreFixture,
  said,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import { quantile } from '../product/machine.ts'
import type { Age } from './age.ts'
import { openPostgresStores, openSqliteStores } from './stores.ts'

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    entries: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '40' },
    year: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
  },
})
const RATIO_MAX = 1.2
/** What grows with the length of one session, and why; nothing else grows with the age of the store. */
const GROWS: Readonly<Record<string, string>> = {
  // 10,000 replies waited in the aged store: 283 pages of an index, empty since they were sent, 0.3 ms.
  ...(values.postgres && { 'health read': 'passes what waited until the server has vacuumed' }),
  search: 'more passages of the session hold the words',
  erasure: 'reads the lengths of all passages of the session',
}
/** Repeated, as the pause after each sample takes 0.6 ms of processor by itself, ten times a health read. */
const READS = ['take-over', 'idle round', 'health read', 'breaker', 'due reminders']
/** Entries of a session that was used for long, and of one that began today. */
const LONG = values.year ? 10_000 : 2_000
const SHORT = 40
const ROOMY = { ...LIMITS, hardTokens: 200_000, inputTokens: 40_000, stepTokens: 20_000 }

const sessions = values.year ? 10_000 : Number(values.sessions)
const entries = values.year ? 10_000_000 : Number(values.entries)
const share = Math.floor(entries * 0.3)
const age: Age = { sessions, entries, replies: share, attempts: share }

/** The session whose figures are taken: compacted but for its last exchanges. */
async function talk(store: Store, exchanges: number): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store, { limits: ROOMY })
  for (let index = 0; index < exchanges; index++) {
    await fixture.exchange(`question ${index} about tea`, `answer ${index}`, [replyTo('ana')])
  }
  await fixture.compact(fixture.tail.number - 12)
  return fixture
}

class Place {
  readonly store: Store
  readonly #fixture: StoreFixture
  readonly #claimant: RunnerId
  readonly #taken: Record<string, number[]> = {}

  private constructor(store: Store, fixture: StoreFixture, claimant: RunnerId) {
    this.store = store
    this.#fixture = fixture
    this.#claimant = claimant
  }

  static async open(store: Store, exchanges: number): Promise<Place> {
    return new Place(store, await talk(store, exchanges), await register(store))
  }

  /** The aged store is kept: what this run left waiting in it would be read by the next. */
  async close(): Promise<void> {
    for (const runner of [this.#claimant, this.#fixture.lease.runner]) {
      await this.store.retireRunner({ runner })
    }
  }

  async take(name: string): Promise<void> {
    const times = READS.includes(name) ? 100 : 1
    const started = stores.now()
    for (let time = 0; time < times; time++) await this.figures[name]?.()
    await stores.settle()
    this.#taken[name] = [...(this.#taken[name] ?? []), (stores.now() - started) / times]
  }

  typicalMs(name: string): number {
    return quantile(this.#taken[name] ?? [], 0.25)
  }

  readonly figures: Readonly<Record<string, () => Promise<unknown>>> = {
    message: () => this.#fixture.exchange('one more question', 'one more answer'),
    'message with a reply': async () => {
      await this.#fixture.exchange('where?', 'here', [replyTo('ana')])
      await this.#send()
    },
    'take-over': () => new SessionViewReader(this.store, this.#fixture.lease).look(),
    'idle round': async () => {
      await this.store.listRunners()
      await this.store.readReady({ agents: ['ada'], at: Date.now(), limit: 64 })
      await this.store.claimReply({ edge: 'none', claimant: this.#claimant, at: Date.now() })
    },
    'health read': async () => {
      await this.store.listReplies({ state: 'waiting', limit: 1_000 })
      await this.store.listReplies({ state: 'dead', limit: 1_000 })
    },
    breaker: async () => {
      const since = Date.now() - 3_600_000
      const query = { modelRoute: 'anthropic/m@host', task: 'compaction', since, limit: 20 }
      await this.store.readAttempts(query)
      await this.store.sumAttempts({ host: 'host', since, isAuxiliary: true })
    },
    'due reminders': () =>
      this.store.listSchedules({ state: 'waiting', dueBy: Date.now(), limit: 64 }),
    search: () => this.store.search({ ...this.#query, text: 'question 7 about tea' }),
    compaction: async () => {
      for (let index = 0; index < 3; index++) await this.#fixture.exchange('and', 'so on')
      await this.#fixture.compact(this.#fixture.tail.number - 2)
    },
    erasure: async () => {
      await this.#fixture.exchange('forget this', 'what?', [replyTo('ana')])
      // Erased before it is sent, it would stay as a dead reply.
      await this.#send()
      const { number } = this.#fixture.tail
      await this.#fixture.erase([number - 1, number - 2] as (typeof number)[], 'a new handoff')
    },
    start: async () => {
      const id = sessionId(`new-${operationId(crypto.randomUUID())}`)
      await create(this.store, { id, limits: ROOMY })
      const admitted = await this.store.admit({
        ...{ to: { sessionId: id }, source: 'chat', key: id, lane: 'user', tokens: 5 },
        body: said('hello') as JsonValue,
      })
      const { mail } = expectKind(admitted, 'admitted')
      await this.store.withdraw({ sessionId: id, mail })
    },
  }

  get #query() {
    return { sessionId: this.#fixture.id, limit: 5, neighbours: 1 }
  }

  async #send(): Promise<void> {
    const claimant = this.#claimant
    const claim = { edge: 'telegram', claimant, at: Date.now() }
    for (let next = await this.store.claimReply(claim); next.kind === 'claimed'; ) {
      const { sessionId: id, number, attempt } = next.reply
      const result = { kind: 'sent', receipt: 'r' } as const
      await this.store.settleReply({ sessionId: id, number, attempt, claimant, result })
      next = await this.store.claimReply(claim)
    }
  }
}

const stores = await (values.postgres ? openPostgresStores : openSqliteStores)(age, (text) =>
  process.stderr.write(`${text}\n`),
)
const fresh = await Place.open(stores.fresh, SHORT)
const aged = await Place.open(stores.aged, LONG)
await stores.untilIndexed()
const names = Object.keys(fresh.figures)
for (let round = 0; round < Number(values.rounds); round++) {
  const places = round % 2 === 0 ? [fresh, aged] : [aged, fresh]
  for (const name of names) for (const place of places) await place.take(name)
}
let misses = 0
for (const name of names) {
  const [young, old] = [fresh.typicalMs(name), aged.typicalMs(name)]
  const isMet = old / young <= RATIO_MAX
  const reason = isMet ? undefined : GROWS[name]
  if (!isMet && reason === undefined) misses++
  const verdict = isMet ? 'met ' : reason === undefined ? 'MISS' : 'long'
  const figures = `${(old / young).toFixed(2)} (${young.toFixed(2)} ms, ${old.toFixed(2)} ms)`
  console.log(`${verdict}  ${name.padEnd(24)} ${figures} ${reason ?? ''}`.trimEnd())
}
await aged.close()
await stores.close()
process.exitCode = misses === 0 ? 0 : 1
