import { DatabaseSync } from 'node:sqlite'
import { expect, it, vi } from 'vitest'
import { STORE_CONTRACT } from '../../packages/core/src/store/contract-suite/store-contract.ts'
import { migrateSqlite } from '../../packages/core/src/store/sqlite/schema.ts'
import { Reader } from '../../packages/core/src/store/sqlite/worker/reader.ts'
import { Writer } from '../../packages/core/src/store/sqlite/worker/writer.ts'
import { storeInThread } from './benches/in-thread.ts'
import { sqliteBench } from './benches/sqlite.ts'

/** Tables that do not grow for as long as a store is used. */
const SMALL = new Set([
  'runner',
  'token',
  'store',
  'json_each',
  'CONSTANT',
  'sqlite_master',
  'sqlite_schema',
])

/** Statements that may read many rows, or look as if they did, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'from session left join indexed': 'asked once, when a store is opened',
  'from audit order by cursor desc limit 1': 'reads the newest row',
  'from audit where cursor > ? order by cursor limit ?': 'a page behind a cursor',
  'from entry where id between ? and ? order by id': 'as many entries as were asked for',
  'from session where id > ? order by id limit ?': 'a page of all sessions',
  'from session where n in (': 'sorts sessions with work that no process holds',
  'from session where id = ?1 or root = ?1 order by n': 'sorts sessions that share one chain',
  'from mail where id > ?1 and id < ?2 and lane = coalesce(?3, lane)': 'a page of a mailbox',
  "kind not in ('input', 'assistant', 'result', 'turn')":
    'reads the few entries of other kinds by their own index',
  "from entry where id between ? and ? and kind = 'input'": 'entries that no step has seen yet',
  "and kind in ('assistant', 'turn') order by id desc": 'reads back to the newest reply',
  'and body is null order by id': 'erased entries of sessions that share a chain; once per import',
  "json_each(entry.meta, '$.blobs')": 'what forks of a deleted session still read',
  'from unindexed where id between ? and ?': 'marks of one session',
  'select distinct id >> 31 as n from unindexed': 'marks of what is not indexed yet',
  "select id from session where state = 'open' and agent = coalesce(?1, agent)":
    'all sessions, if their meanings are compared',
  'from passage_block where id between ? and ?': '16 bits for each passage of one session',
  'from entry_vector where id between ? and ?': 'the vectors of one session, if embeddings are on',
  'from session left join embedded': 'what is not embedded yet, at most once a second',
  'from entry where id > ? and id <= ? and body is not null':
    'as many entries as are embedded at once',
  'from reply where id > ? and id < ? order by id limit ?': 'a page of one session',
  'where reply.id > ? order by reply.id limit ?': 'a page of all replies, once a minute',
  'from schedule where id > ? order by id limit ?': 'a page of all schedules',
  "from schedule where state = 'waiting' and due_at <= ?": 'what is due, by its own index',
  'from attempt where at < ? order by at limit ?': 'a page of the oldest calls',
  'from attempt where at >= ? order by at desc limit ?': 'a page of the newest calls',
  'from attempt where at >= ? and model_route = ? order by': 'the server also names the task',
  'from attempt where at >= ? and task = ? order by': 'the server also names session or route',
  'as unpriced from attempt where at >= ?': 'the server names a session, or only auxiliary calls',
  'from blob where uses = 0 and at < ? limit 1000': 'reads what is staged by its own index',
  'body is not null order by id limit ?': 'a piece of a deletion, behind the piece before',
  'key is not null) order by id limit ?': 'a piece of a deletion, behind the piece before',
  'from note where agent = ? and id > ? order by id, scope limit ?': 'the notes of one agent',
}

const { concurrency: _, ...THEMES } = STORE_CONTRACT
const CASES = Object.values(THEMES).flatMap((cases) => [...cases])

/** Runs the contract in this thread; gives each statement with the verb that needed it first. */
async function collectStatements(): Promise<ReadonlyMap<string, string>> {
  const verbOf = new Map<string, string>()
  let verb = 'open'
  const during = <Value>(name: string, work: () => Value): Value => {
    verb = name
    try {
      return work()
    } finally {
      verb = 'open'
    }
  }
  const open = async ({ path }: { readonly path: string }) => {
    const writer = new Writer({ path, anchorPath: `${path}.anchor`, busyMs: 1_000, anchorMs: 0 })
    const reader = new Reader(path)
    return storeInThread({
      reader,
      commit: (name, request) => {
        const [result] = during(name, () => writer.commit([{ verb: name, request }]))
        during('index', () => {
          while (writer.maintain()) vi.advanceTimersByTime(1_000)
        })
        if (result === undefined || 'error' in result) throw result?.error
        return result.outcome
      },
      read: (name, query) => during(name, () => reader.read(name, query)),
      closeWriter: () => writer.close(),
    })
  }
  // The index waits while commits keep coming.
  vi.useFakeTimers({ toFake: ['performance'] })
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (sql) {
    // What checks a whole store reads the whole store.
    if (verb !== 'verify' && !verbOf.has(sql)) verbOf.set(sql, verb)
    return prepare.call(this, sql)
  }
  try {
    for (const { name, run } of CASES) {
      await using bench = await sqliteBench(open)
      await run(bench).catch((error: unknown) => {
        throw new Error(name, { cause: error })
      })
    }
  } finally {
    DatabaseSync.prototype.prepare = prepare
    vi.useRealTimers()
  }
  return verbOf
}

/** What a plan says that could take longer in an older store. */
function growthIn(plan: readonly string[]): readonly string[] {
  const isOnlyRange = (detail: string) => !detail.includes('=?') && /[<>]\?/.test(detail)
  const found = plan.filter((detail) => {
    const [, verb, table = ''] = /^(SCAN|SEARCH) (\w+)/.exec(detail) ?? []
    if (verb === undefined || SMALL.has(table)) return false
    return verb === 'SCAN' || isOnlyRange(detail)
  })
  const isSorted = plan.some((detail) => detail.startsWith('USE TEMP B-TREE'))
  return isSorted ? [...found, 'sorts all that it found'] : found
}

it('finds what it needs by an index, in a store of any age', async () => {
  const statements = await collectStatements()
  const database = new DatabaseSync(':memory:')
  migrateSqlite(database, ':memory:')
  const used = new Set<string>()
  const growing: string[] = []
  for (const [sql, verb] of statements) {
    if (/^\s*(pragma|vacuum)/i.test(sql)) continue
    const rows = database.prepare(`explain query plan ${sql}`).all()
    const growth = growthIn(rows.map((row) => String(row['detail'])))
    if (growth.length === 0) continue
    const text = sql.replaceAll(/\s+/g, ' ')
    const allowed = Object.keys(ALLOWED).find((part) => text.includes(part))
    if (allowed === undefined) growing.push(`${verb}: ${text}: ${growth.join('; ')}`)
    else used.add(allowed)
  }
  expect(growing).toEqual([])
  expect(Object.keys(ALLOWED).filter((part) => !used.has(part))).toEqual([])
  expect(statements.size).toBeGreaterThan(100)
}, 120_000)
