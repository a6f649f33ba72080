import { DamagedRowError } from '../errors.ts'
import type { Search, SearchAnswer } from '../queries.ts'
import type { Entry } from '../rows.ts'
import { type Block, blockOf, EMPTY_BLOCK, type IndexedEntry } from '../search/blocks.ts'
import { ColumnsCache } from '../search/columns-cache.ts'
import { type ErasedEntry, erasedPage, erasesMost, planErasure } from '../search/erase.ts'
import { search } from '../search/find.ts'
import {
  dueMerge,
  type IndexState,
  indexBatch,
  NO_INDEX,
  withMerge,
} from '../search/index-state.ts'
import { type ListPage, mergePages } from '../search/lists.ts'
import { type Answers, type IndexLookup, perform } from '../search/lookup.ts'
import { renumbered, type SearchedStretch } from '../search/parts.ts'
import type { SqliteColumns, SqliteConnection } from './connection.ts'
import { packed, unpacked } from './tables.ts'
import { vectorsIn } from './vectors.ts'

/**
 * The rows of the word index: each session's progress (`indexed`), lists of passages by word root
 * (`word_page`), and the lengths of passages (`passage_block`). Their content is the same on every
 * engine (search/). Indexing follows the appends; entries that are not indexed yet are read
 * directly, so a search is always complete.
 */
const INDEX_BATCH = 32
/** Per input of a merge, so that no transaction takes long. */
const MERGE_PAGES = 12

export interface SearchedRow {
  /** The number of the session that stores the stretch. */
  readonly n: number
  readonly stretch: SearchedStretch
}

export function searchSqlite(
  db: SqliteConnection,
  query: Search,
  rows: readonly SearchedRow[],
  range: (row: SearchedRow, from: number, to: number) => readonly Entry[],
): SearchAnswer {
  const sessions = rows.map(({ n, stretch }) => ({ ...stretch, index: stateOf(db, n) }))
  const rowOf = (session: number) => rows[session] as SearchedRow
  return perform(
    search(query, sessions, { cache: cacheOf(db) }),
    (lookup: IndexLookup): Answers[keyof Answers] => {
      switch (lookup.want) {
        case 'pages':
          return lookup.of.map(({ session, runs }) =>
            runs.flatMap((run) =>
              lookup.roots.map((root) => pageOf(db, rowOf(session).n, run, root)?.bytes ?? null),
            ),
          )
        case 'range':
          return lookup.of.flatMap(({ session, runs }) =>
            runs.flatMap((run) => pagesBetween(db, rowOf(session).n, run, lookup)),
          )
        case 'blocks':
          return lookup.sessions.map((session) => blocksOf(db, rowOf(session).n, lookup.from))
        case 'bodies':
          return lookup.of.map(({ session, number }) => bodyOf(db, rowOf(session).n, number))
        case 'vectors':
          return lookup.of.map((session) => vectorsIn(db, rowOf(session).n, lookup))
        default:
          return lookup.ranges.map(({ session, from, to }) =>
            orDamage(() => range(rowOf(session), from, to)),
          )
      }
    },
  )
}

function orDamage<T>(read: () => T): T | DamagedRowError {
  try {
    return read()
  } catch (error) {
    if (error instanceof DamagedRowError) return error
    throw error
  }
}

function bodyOf(db: SqliteConnection, n: number, number: number): string | null {
  const row = db.get('select body from entry where id = ?', packed(n, number))
  return (row?.['body'] ?? null) as string | null
}

function pageOf(db: SqliteConnection, n: number, run: number, root: Uint8Array): ListPage | null {
  const row = db.get(
    `select root, lists from word_page where session = ? and run = ? and root <= ?
     order by root desc limit 1`,
    n,
    run,
    root,
  )
  return row === undefined ? null : decodePage(row)
}

function pagesBetween(
  db: SqliteConnection,
  n: number,
  run: number,
  { from, to }: { readonly from: Uint8Array; readonly to: Uint8Array },
): readonly Uint8Array[] {
  const first = pageOf(db, n, run, from)
  const rows = db.all(
    'select root, lists from word_page where session = ? and run = ? and root > ? and root < ?',
    n,
    run,
    from,
    to,
  )
  return [...(first === null ? [] : [first]), ...rows.map(decodePage)].map(({ bytes }) => bytes)
}

function decodePage(row: SqliteColumns): ListPage {
  return { root: row['root'] as Uint8Array, bytes: row['lists'] as Uint8Array }
}

/** One per connection that has searched. */
const caches = new WeakMap<SqliteConnection, ColumnsCache>()

function cacheOf(db: SqliteConnection): ColumnsCache {
  const cache = caches.get(db) ?? new ColumnsCache()
  caches.set(db, cache)
  return cache
}

function blocksOf(db: SqliteConnection, n: number, from = 0): readonly Block[] {
  const sql = 'select entries, lengths from passage_block where id between ? and ? order by id'
  return db.all(sql, packed(n, from), packed(n + 1, 0) - 1n) as unknown as readonly Block[]
}

function blockAt(db: SqliteConnection, n: number, block: number): Block | null {
  const row = db.get('select entries, lengths from passage_block where id = ?', packed(n, block))
  return (row as unknown as Block | undefined) ?? null
}

function stateOf(db: SqliteConnection, n: number): IndexState {
  const row = db.get('select state from indexed where session = ?', n)
  return row === undefined ? NO_INDEX : (JSON.parse(row['state'] as string) as IndexState)
}

/** Sessions with entries that are not indexed yet; read once when a store is opened. */
export function unindexedInSqlite(db: SqliteConnection): number[] {
  return db
    .all(
      `select n from session left join indexed on indexed.session = session.n
       where session.tail - iif(origin is null, 0, forked_at) > coalesce(indexed.upto, 0)`,
    )
    .map((row) => row['n'] as number)
}

/**
 * Indexes one batch of a session or merges a few pages, inside the caller's transaction. Returns
 * whether more is left. The cursor moves in the same transaction.
 */
export function indexInSqlite(db: SqliteConnection, n: number): boolean {
  const state = stateOf(db, n)
  if (mergeSome(db, n, state)) return true
  const after = afterIn(db, n)
  // Reads only these columns, so that damage elsewhere in an entry does not affect its words.
  const rows = db.all(
    'select id, kind, at, meta, body from entry where id between ? and ? order by id',
    packed(n, after + state.upto + 1),
    packed(n, after + state.upto + INDEX_BATCH),
  )
  const entries = rows.map((row) => renumbered(decodeIndexed(row), after))
  const [first] = entries
  if (first === undefined) return false
  const last = blockAt(db, n, blockOf(first.number))
  const batch = indexBatch(state, last, entries)
  writePages(db, n, batch.run, batch.pages)
  for (const [number, block] of batch.blocks) writeBlock(db, n, number, block)
  writeState(db, n, batch.state)
  return rows.length === INDEX_BATCH || dueMerge(batch.state) !== null
}

/** A fork's own entries come after this one. */
function afterIn(db: SqliteConnection, n: number): number {
  const row = db.get('select forked_at from session where n = ? and origin is not null', n)
  return (row?.['forked_at'] ?? 0) as number
}

function decodeIndexed(row: SqliteColumns): IndexedEntry {
  const { kind, at, body } = row as unknown as IndexedEntry
  const isUser = kind === 'input' && String(row['meta']).includes('"lane":"user"')
  const meta = { lane: isUser ? 'user' : '' }
  return { number: unpacked(row['id']) as Entry['number'], kind, at, body, meta }
}

function mergeSome(db: SqliteConnection, n: number, state: IndexState): boolean {
  const merge = dueMerge(state)
  if (merge === null) return false
  const sql = `select id, root, lists from word_page where session = ? and run = ?
    order by root limit ${MERGE_PAGES + 1}`
  const taken = merge.inputs.map(({ id }) => db.all(sql, n, id))
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
  for (const [index, pages] of left.entries()) {
    writePages(db, n, merge.inputs[index]?.id ?? 0, pages)
  }
  writePages(db, n, merge.output, merged)
  const isDone = inputs.every(({ isMore }, at) => !isMore && left[at]?.length === 0)
  writeState(db, n, withMerge(state, merge, isDone))
  return true
}

function writePages(
  db: SqliteConnection,
  n: number,
  run: number,
  pages: readonly ListPage[],
): void {
  for (const { root, bytes } of pages) {
    const sql = 'insert into word_page (session, run, root, lists) values (?, ?, ?, ?)'
    db.run(sql, n, run, root, bytes)
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

function writeState(db: SqliteConnection, n: number, state: IndexState): void {
  db.run(
    `insert into indexed (session, upto, state) values (?, ?, ?)
     on conflict (session) do update set upto = excluded.upto, state = excluded.state`,
    n,
    state.upto,
    JSON.stringify(state),
  )
}

/**
 * Removes entries from the index before their bodies are erased; the words leave the file at once.
 */
export function unindexInSqlite(db: SqliteConnection, n: number, numbers: readonly number[]): void {
  const state = stateOf(db, n)
  const after = afterIn(db, n)
  const entries = numbers.flatMap((number): readonly ErasedEntry[] => {
    const row = db.get('select kind, body from entry where id = ?', packed(n, number))
    return row && number - after <= state.upto
      ? [{ ...(row as unknown as ErasedEntry), number: number - after } as ErasedEntry]
      : []
  })
  if (entries.length === 0) return
  if (erasesMost(state, entries)) {
    db.run('delete from word_page where session = ?', n)
    db.run(
      'delete from passage_block where id between ? and ?',
      packed(n, 0),
      packed(n + 1, 0) - 1n,
    )
    db.run('delete from indexed where session = ?', n)
    return
  }
  const blocks = blocksOf(db, n)
  const erasure = planErasure(state, entries, {
    block: (number) => blocks[number] ?? EMPTY_BLOCK,
    firstSlot: (number) =>
      blocks.slice(0, number).reduce((sum, { lengths }) => sum + lengths.length / 2, 0),
  })
  for (const { runs, roots, from, to } of erasure.words) {
    for (const run of runs) for (const root of roots) erasePage(db, n, { run, root, from, to })
  }
  for (const [number, block] of erasure.blocks) writeBlock(db, n, number, block)
  writeState(db, n, erasure.state)
}

function erasePage(
  db: SqliteConnection,
  n: number,
  { run, root, from, to }: { run: number; root: Uint8Array; from: number; to: number },
): void {
  const page = pageOf(db, n, run, root)
  const left = page === null ? null : erasedPage(page.bytes, from, to)
  if (page === null || left === null) return
  db.run('delete from word_page where session = ? and run = ? and root = ?', n, run, page.root)
  writePages(db, n, run, left)
}
