import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { thisHost } from '../../packages/core/src/base/host.ts'
import { operationId, runnerId, sessionId } from '../../packages/core/src/base/ids.ts'
import { limitsFor } from '../../packages/core/src/session/limits.ts'
import type { AdoptEntriesOutcome, AdoptedEntry } from '../../packages/core/src/store/adoption.ts'
import type { CommitVerb, RequestOf } from '../../packages/core/src/store/contract.ts'
import { newSession } from '../../packages/core/src/store/rules/create-session.ts'
import { SqliteConnection } from '../../packages/core/src/store/sqlite/connection.ts'
import { Reader } from '../../packages/core/src/store/sqlite/worker/reader.ts'
import { Writer } from '../../packages/core/src/store/sqlite/worker/writer.ts'
import type { SessionRow } from '../../packages/core/src/store/tables/rows.ts'

/**
 * What the index costs an append, one entry for each commit. Three stores take turns with the same
 * entries. In the first, no commit leaves a mark for the indexer; in the second it does, and nothing
 * else happens; the third is also indexed after each commit, as its thread does. Only the commits are
 * compared, which is what a writer waits for; they are timed in this thread, in milliseconds of
 * processor. SQLite moves its log into the file during some transaction: in the third store that is
 * mostly one of the indexer, so its commits may be the cheapest.
 */
const WARM = 500
const BATCH = 50
const KINDS = ['plain', 'marked', 'indexed'] as const
type Kind = (typeof KINDS)[number]

export interface AppendCost {
  /** Milliseconds of a commit, by store, and of the indexing that follows it in the third. */
  readonly commits: Readonly<Record<Kind, number>>
  readonly background: number
  /** Against `plain`, median of groups of commits: an interruption falls on one of them. */
  readonly ratios: Readonly<Record<Kind, number>>
}

export function measureAppends(folder: string, entries: readonly AdoptedEntry[]): AppendCost {
  const stores = KINDS.map((kind) => ({ kind, store: new Appender(folder, kind) }))
  const marks = watchMarks()
  const groups: Record<Kind, number>[] = []
  let background = 0
  for (let at = 0; at < entries.length; at += BATCH) {
    const costs = { plain: 0, marked: 0, indexed: 0 }
    for (const entry of entries.slice(at, at + BATCH)) {
      for (const { kind, store } of stores) {
        marks.isMarking = kind !== 'plain'
        costs[kind] += store.append(entry) / BATCH
      }
      const after = cpu(() => stores.find(({ kind }) => kind === 'indexed')?.store.maintain())
      if (at >= WARM) background += after
      // Each is as often the one behind the indexer.
      stores.push(...stores.splice(0, 1))
    }
    if (at >= WARM) groups.push(costs)
  }
  marks.end()
  for (const { store } of stores) store.close()
  const each = (of: (kind: Kind) => readonly number[]) =>
    Object.fromEntries(KINDS.map((kind) => [kind, median(of(kind))])) as Record<Kind, number>
  return {
    commits: each((kind) => groups.map((costs) => costs[kind])),
    background: background / (groups.length * BATCH),
    ratios: each((kind) => groups.map((costs) => costs[kind] / costs.plain)),
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0
}

class Appender {
  readonly #writer: Writer
  readonly #lease
  #tail

  constructor(folder: string, name: string) {
    const file = path.join(folder, `${name}.db`)
    const options = { path: file, anchorPath: `${file}.anchor`, busyMs: 10_000, anchorMs: 60_000 }
    this.#writer = new Writer(options)
    const id = sessionId(name)
    const limits = limitsFor({ windowTokens: 1_000_000, fixedTokens: 0 })
    const stamp = { at: Date.now(), seed: '' }
    const given = { id, agent: 'bench', limits, policy: 'steer' } as const
    const nothing = { entries: [], mail: [], replies: [], blobs: [] }
    const session = newSession(given, 'imported', stamp)
    this.#commit('adoptSession', { session, ...nothing, operation: operationId(randomUUID()) })
    const runner = runnerId(randomUUID())
    const lease = { ...thisHost(), id: runner, startedAt: stamp.at, leaseMs: 3_600_000 }
    this.#commit('registerRunner', lease)
    const reader = new Reader(file)
    const born = reader.read('findSession', id) as SessionRow
    reader.close()
    const request = { sessionId: id, runner, holder: 'bench', fence: born.fence }
    const acquired = this.#commit('acquire', request) as {
      lease: RequestOf<'adoptEntries'>['lease']
    }
    this.#lease = acquired.lease
    this.#tail = { number: born.tail, hash: born.tailHash }
  }

  append(entry: AdoptedEntry): number {
    const operation = operationId(randomUUID())
    const request = { lease: this.#lease, tail: this.#tail, operation, entries: [entry] }
    let outcome: unknown
    const cost = cpu(() => {
      outcome = this.#commit('adoptEntries', request)
    })
    const { tail } = outcome as AdoptEntriesOutcome & { readonly kind: 'appended' }
    this.#tail = tail
    return cost
  }

  #commit<Verb extends CommitVerb>(verb: Verb, request: RequestOf<Verb>): unknown {
    const [result] = this.#writer.commit([{ verb, request }])
    if (result === undefined || 'error' in result) throw result?.error
    return result.outcome
  }

  maintain(): void {
    this.#writer.maintain()
  }

  close(): void {
    this.#writer.close()
  }
}

/** Passes every statement on, except the marks of the plain store. */
function watchMarks(): { isMarking: boolean; end(): void } {
  const { run } = SqliteConnection.prototype
  const marks = {
    isMarking: true,
    end: () => {
      SqliteConnection.prototype.run = run
    },
  }
  SqliteConnection.prototype.run = function (sql, ...values) {
    return marks.isMarking || !sql.includes('into unindexed') ? run.call(this, sql, ...values) : 0
  }
  return marks
}

function cpu(work: () => void): number {
  const started = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}
