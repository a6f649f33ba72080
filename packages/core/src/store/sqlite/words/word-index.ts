import { orUnreadable } from '../../integrity/damaged-row.ts'
import { type Block, blockOf, EMPTY_BLOCK, type IndexedEntry } from '../../search/blocks.ts'
import { type ErasedEntry, erasedPage, planErasure } from '../../search/erase.ts'
import type { IndexTotals } from '../../search/find.ts'
import {
  dueMerge,
  type IndexState,
  indexBatch,
  NO_INDEX,
  packState,
  type Run,
  runIds,
  unpackRuns,
  unpackState,
  withMerge,
  withRun,
} from '../../search/index-state.ts'
import { findPosting, keyOf, type ListPage, mergePages, packLists } from '../../search/lists.ts'
import { renumbered } from '../../search/parts.ts'
import {
  NO_TOTALS,
  packTotals,
  totalsAfter,
  totalsOf,
  unpackTotals,
} from '../../search/sessions/totals.ts'
import type { Entry } from '../../tables/rows.ts'
import type { SqliteColumns, SqliteConnection } from '../connection.ts'
import { packed, unpacked } from '../tables.ts'

/**
 * The rows of the word index: lists of passages by word root and session (`word_page`) in runs
 * (`word_runs`), each session's progress (`indexed`), the lengths of its passages (`passage_block`),
 * and sums over agents and scopes (`word_total`). Their content is the same on every engine
 * (search/). Indexing follows the appends, which leave a mark (`unindexed`); what is not indexed yet
 * is read directly, so a search is always complete.
 */
const INDEX_BATCH = 32
/** A transaction that indexes more text than this holds up commits (about 100 ms for 1 MB). */
const INDEX_BATCH_BYTES = 128 * 1024
/** Between two transactions of the index, commits come first. */
export const INDEX_PAUSE_MS = 20
/** The pause while commits keep coming. A search reads unindexed entries directly, so it can wait. */
const BUSY_INDEX_PAUSE_MS = 250
/** Above so many entries the index no longer waits: a search reads 1,000 that are not indexed. */
const UNINDEXED_MAX = 800
/** Per input of a merge, so that no transaction takes long. */
const MERGE_PAGES = 12
/** Above so many runs, merging comes before indexing. */
const RUNS_MAX = 60

export function runsIn(db: SqliteConnection): readonly Run[] {
  const row = db.get('select runs from word_runs where one = 1')
  return row === undefined ? [] : unpackRuns(row['runs'] as string)
}

function writeRuns(db: SqliteConnection, runs: readonly Run[]): void {
  db.run('update word_runs set runs = ? where one = 1', JSON.stringify(runs))
}

function pageIn(db: SqliteConnection, run: number, key: Uint8Array): ListPage | null {
  const row = db.get(
    'select key, lists from word_page where run = ? and key <= ? order by key desc limit 1',
    run,
    key,
  )
  return row === undefined
    ? null
    : { key: row['key'] as Uint8Array, bytes: row['lists'] as Uint8Array }
}

export function blocksIn(db: SqliteConnection, n: number, from = 0): readonly Block[] {
  const sql = 'select entries, lengths from passage_block where id between ? and ? order by id'
  return db.all(sql, packed(n, from), packed(n + 1, 0) - 1n) as unknown as readonly Block[]
}

export function blockAt(db: SqliteConnection, n: number, block: number): Block | null {
  const row = db.get('select entries, lengths from passage_block where id = ?', packed(n, block))
  return (row as unknown as Block | undefined) ?? null
}

export function stateIn(db: SqliteConnection, n: number): IndexState {
  const row = db.get('select state from indexed where session = ?', n)
  return row === undefined ? NO_INDEX : unpackState(row['state'] as string)
}

export function totalsIn(db: SqliteConnection, agent: string, scope: string): IndexTotals {
  const row = db.get('select totals from word_total where agent = ? and scope = ?', agent, scope)
  return row === undefined ? NO_TOTALS : unpackTotals(row['totals'] as string)
}

/** Says that a session has entries up to this one that are not indexed yet. */
export function markUnindexed(db: SqliteConnection, n: number, tail: number): void {
  db.run('insert or ignore into unindexed (id) values (?)', packed(n, tail))
}

/** Sessions with entries that are not indexed yet. */
export function markedIn(db: SqliteConnection): readonly number[] {
  return db.all('select distinct id >> 31 as n from unindexed').map((row) => row['n'] as number)
}

/** What a process has to index: the sessions that it knows of, and merges. */
export class IndexWork {
  readonly #db: SqliteConnection
  /** How many entries of each session are to be indexed. */
  readonly #sessions: Map<number, number>
  #mergesDue: boolean
  #steppedAt = Number.NEGATIVE_INFINITY
  /** The session that is being indexed, for the case that it cannot be. */
  #at: number | null = null

  constructor(db: SqliteConnection) {
    this.#db = db
    // Not only the marks: after a repair the index may be empty.
    const rows = db.all(
      `select n, session.tail - iif(origin is null, 0, forked_at) - coalesce(indexed.upto, 0) as missing
       from session left join indexed on indexed.session = session.n where missing > 0`,
    )
    this.#sessions = new Map(rows.map((row) => [row['n'] as number, row['missing'] as number]))
    // A damaged index must not keep a store from being opened.
    const runs = orUnreadable(() => runsIn(db)) ?? []
    this.#mergesDue = dueMerge(runs) !== null
  }

  get isLeft(): boolean {
    return this.#sessions.size > 0 || this.#mergesDue
  }

  isDue(now: number, committedAt: number): boolean {
    const isBusy = now - committedAt < INDEX_PAUSE_MS && this.#entries <= UNINDEXED_MAX
    const pauseMs = isBusy ? BUSY_INDEX_PAUSE_MS : INDEX_PAUSE_MS
    return this.isLeft && now - this.#steppedAt >= pauseMs
  }

  add(n: number, entries: number): void {
    this.#sessions.set(n, (this.#sessions.get(n) ?? 0) + entries)
  }

  get #entries(): number {
    return this.#sessions.values().reduce((sum, entries) => sum + entries, 0)
  }

  /** Does a little in the transaction of the caller, who calls the result after its commit. */
  step(isOver: () => boolean): () => void {
    this.#steppedAt = performance.now()
    this.#at = null
    let runs = runsIn(this.#db)
    const lists = new Map<number, ReadonlyMap<string, readonly number[]>>()
    const left = new Map<number, number>()
    let entries = 0
    for (const [n, count] of runs.length > RUNS_MAX ? [] : this.#sessions) {
      this.#at = n
      const batch = indexNext(this.#db, n)
      left.set(n, batch.isMore ? Math.max(1, count - batch.entries) : 0)
      entries += batch.entries
      if (batch.lists.size > 0) lists.set(n, batch.lists)
      if (isOver()) break
    }
    this.#at = null
    if (lists.size > 0) {
      const next = withRun(runs, entries)
      writePages(this.#db, next.id, packLists(lists))
      runs = next.runs
      writeRuns(this.#db, runs)
    }
    const merged = mergeSome(this.#db, runs)
    return () => {
      this.#mergesDue = dueMerge(merged) !== null
      for (const [n, count] of left) {
        this.#sessions.delete(n)
        if (count > 0) this.#sessions.set(n, count)
      }
    }
  }

  /** What cannot be indexed waits until it grows: retried each time, it would hold the lock. */
  giveUp(): void {
    if (this.#at !== null) this.#sessions.delete(this.#at)
    else this.#mergesDue = false
    if (orUnreadable(() => runsIn(this.#db)) === null) this.#sessions.clear()
  }
}

function indexNext(
  db: SqliteConnection,
  n: number,
): {
  readonly lists: ReadonlyMap<string, readonly number[]>
  readonly entries: number
  readonly isMore: boolean
} {
  const state = stateIn(db, n)
  const after = afterIn(db, n)
  const { from, to, isMore } = nextBatch(db, n, after + state.upto)
  // Reads only these columns, so that damage elsewhere in an entry does not affect its words.
  const rows = db.all(
    'select id, kind, at, meta, body from entry where id between ? and ? order by id',
    from,
    to,
  )
  const entries = rows.map((row) => renumbered(decodeIndexed(row), after))
  const [first] = entries
  let lists: ReadonlyMap<string, readonly number[]> = new Map()
  let { upto } = state
  if (first !== undefined) {
    const last = blockAt(db, n, blockOf(first.number))
    const batch = indexBatch(state, last, entries)
    for (const [number, block] of batch.blocks) writeBlock(db, n, number, block)
    writeState(db, n, state, batch.state)
    lists = batch.lists
    upto = batch.state.upto
  }
  db.run('delete from unindexed where id between ? and ?', packed(n, 0), packed(n, after + upto))
  return { lists, entries: rows.length, isMore }
}

/** The entries after `upto` that one transaction indexes: at least one, however long it is. */
function nextBatch(
  db: SqliteConnection,
  n: number,
  upto: number,
): { readonly from: bigint; readonly to: bigint; readonly isMore: boolean } {
  const from = packed(n, upto + 1)
  const to = packed(n, upto + INDEX_BATCH)
  const sizes = db.all(
    'select id, octet_length(body) as bytes from entry where id between ? and ? order by id',
    from,
    to,
  )
  let bytes = 0
  for (const [at, row] of sizes.entries()) {
    bytes += row['bytes'] as number
    if (bytes >= INDEX_BATCH_BYTES && at + 1 < sizes.length) {
      return { from, to: packed(n, unpacked(row['id'])), isMore: true }
    }
  }
  return { from, to, isMore: sizes.length === INDEX_BATCH }
}

/** A fork's own entries come after this one. */
function afterIn(db: SqliteConnection, n: number): number {
  const row = db.get('select forked_at from session where n = ? and origin is not null', n)
  return (row?.['forked_at'] ?? 0) as number
}

export function decodeIndexed(row: SqliteColumns): IndexedEntry {
  const { kind, at, body } = row as unknown as IndexedEntry
  const isUser = kind === 'input' && String(row['meta']).includes('"lane":"user"')
  const meta = { lane: isUser ? 'user' : '' }
  return { number: unpacked(row['id']) as Entry['number'], kind, at, body, meta }
}

function mergeSome(db: SqliteConnection, runs: readonly Run[]): readonly Run[] {
  const merge = dueMerge(runs)
  if (merge === null) return runs
  const sql = `select id, lists from word_page where run = ? order by key limit ${MERGE_PAGES + 1}`
  const taken = merge.inputs.map(({ id }) => db.all(sql, id))
  const inputs = taken.map((rows) => ({
    pages: rows.slice(0, MERGE_PAGES).map((row) => row['lists'] as Uint8Array),
    isMore: rows.length > MERGE_PAGES,
  }))
  const { merged, left } = mergePages(inputs)
  for (const rows of taken) {
    for (const row of rows.slice(0, MERGE_PAGES)) {
      db.run('delete from word_page where id = ?', row['id'] as number)
    }
  }
  for (const [index, pages] of left.entries()) writePages(db, merge.inputs[index]?.id ?? 0, pages)
  writePages(db, merge.output, merged)
  const isDone = inputs.every(({ isMore }, at) => !isMore && left[at]?.length === 0)
  const after = withMerge(runs, merge, isDone)
  writeRuns(db, after)
  return after
}

function writePages(db: SqliteConnection, run: number, pages: readonly ListPage[]): void {
  for (const { key, bytes } of pages) {
    db.run('insert into word_page (run, key, lists) values (?, ?, ?)', run, key, bytes)
  }
}

function writeBlock(db: SqliteConnection, n: number, number: number, block: Block): void {
  db.run(
    'insert or replace into passage_block (id, entries, lengths) values (?, ?, ?)',
    packed(n, number),
    block.entries,
    block.lengths,
  )
}

function writeState(db: SqliteConnection, n: number, before: IndexState, state: IndexState): void {
  db.run(
    `insert into indexed (session, upto, state) values (?, ?, ?)
     on conflict (session) do update set upto = excluded.upto, state = excluded.state`,
    n,
    state.upto,
    packState(state),
  )
  const row = db.get('select agent, scope from session where n = ?', n)
  const { agent, scope } = row as unknown as { agent: string; scope: string }
  for (const [one, other] of totalsOf(agent, scope)) {
    db.run(
      'insert or replace into word_total (agent, scope, totals) values (?, ?, ?)',
      one,
      other,
      packTotals(totalsAfter(totalsIn(db, one, other), before, state)),
    )
  }
}

/**
 * Removes entries from the index before their bodies are erased; the words leave the file at once.
 */
export function unindexInSqlite(db: SqliteConnection, n: number, numbers: readonly number[]): void {
  const state = stateIn(db, n)
  const after = afterIn(db, n)
  const entries = numbers.flatMap((number): readonly ErasedEntry[] => {
    const row = db.get('select kind, body from entry where id = ?', packed(n, number))
    return row && number - after <= state.upto
      ? [{ ...(row as unknown as ErasedEntry), number: number - after } as ErasedEntry]
      : []
  })
  if (entries.length === 0) return
  const blocks = blocksIn(db, n)
  const erasure = planErasure(state, entries, {
    block: (number) => blocks[number] ?? EMPTY_BLOCK,
    firstSlot: (number) =>
      blocks.slice(0, number).reduce((sum, { lengths }) => sum + lengths.length / 2, 0),
  })
  for (const run of runIds(runsIn(db))) {
    for (const root of erasure.roots) {
      const page = pageIn(db, run, keyOf(root, n))
      if (page === null || findPosting(page.bytes, root, n) === null) continue
      const left = erasedPage(page.bytes, n, erasure.isErased)
      if (left === null) continue
      db.run('delete from word_page where run = ? and key = ?', run, page.key)
      writePages(db, run, left)
    }
  }
  for (const [number, block] of erasure.blocks) writeBlock(db, n, number, block)
  writeState(db, n, state, erasure.state)
}
