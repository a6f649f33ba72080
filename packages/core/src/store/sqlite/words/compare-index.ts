import {
  BLOCK_ENTRIES,
  type Block,
  BlockWriter,
  blockOf,
  EMPTY_BLOCK,
  ENTRY_BYTES,
  PASSAGE_BYTES,
  passagesIn,
} from '../../search/blocks.ts'
import { compareBytes } from '../../search/bytes.ts'
import { type IndexState, runIds, unpackState } from '../../search/index-state.ts'
import { keyOf, type Posting, postingsOf } from '../../search/lists.ts'
import { renumbered } from '../../search/parts.ts'
import { PostingSums } from '../../search/posting-sums.ts'
import { totalsOf } from '../../search/sessions/totals.ts'
import { passagesOf } from '../../search/words.ts'
import type { SqliteColumns, SqliteConnection } from '../connection.ts'
import { packed } from '../tables.ts'
import { blockAt, decodeIndexed, runsIn, totalsIn } from './word-index.ts'

const PAGE = 200

/** How the index differs from the entries that it says it contains. */
export interface IndexDrift {
  readonly sessions: number
  /** Pages that cannot be read, or are stored where a search does not look for their words. */
  readonly pages: number
  readonly areTotalsWrong: boolean
}

/**
 * Computes the expected index from the entries and compares the actual one with it.
 * Reads each row once, a few at a time, in the transaction of the caller. Entries that are not
 * indexed yet are not looked at, as a search reads them directly.
 */
export function compareIndex(db: SqliteConnection): IndexDrift {
  const last = db.get('select max(n) as n from session')?.['n'] as number | null
  const sums = new PostingSums((last ?? 0) + 1)
  let pages = 0
  for (const run of runIds(runsIn(db))) pages += addRun(db, run, sums)
  for (const session of eachIndexed(db)) {
    if (!isAsIndexed(db, session, sums)) sums.mark(session.n)
  }
  return { sessions: sums.different, pages, areTotalsWrong: areTotalsWrong(db) }
}

/** Adds the postings of a run, and returns how many of its pages are damaged or out of place. */
function addRun(db: SqliteConnection, run: number, sums: PostingSums): number {
  const sql = `select key, lists from word_page where run = ? and key > ? order by key limit ${PAGE}`
  let damaged = 0
  let before: Uint8Array | null = null
  for (let at: Uint8Array = new Uint8Array(0); ; ) {
    const rows = db.all(sql, run, at)
    for (const row of rows) {
      const key = row['key'] as Uint8Array
      const postings = readPage(row['lists'] as Uint8Array)
      const [first, final] = [postings?.[0], postings?.at(-1)]
      if (postings === null || first === undefined || final === undefined) {
        damaged++
        continue
      }
      for (const posting of postings) sums.addPosting(posting)
      // A search takes the last page whose key is not behind the word.
      const isBehind = compareBytes(key, keyOf(first.root, first.session)) > 0
      if (isBehind || (before !== null && compareBytes(before, key) >= 0)) damaged++
      before = keyOf(final.root, final.session)
    }
    at = (rows.at(-1)?.['key'] ?? at) as Uint8Array
    if (rows.length < PAGE) return damaged
  }
}

/** Null: its bytes are not those of a page. */
function readPage(bytes: Uint8Array): readonly Posting[] | null {
  try {
    return [...postingsOf(bytes)]
  } catch {
    return null
  }
}

interface IndexedSession {
  readonly n: number
  /** Its own entries come after this one. */
  readonly after: number
  readonly upto: number
  readonly state: string
  readonly agent: string
  readonly scope: string
}

function* eachIndexed(db: SqliteConnection): Iterable<IndexedSession> {
  const sql = `select n, iif(origin is null, 0, forked_at) as after, upto, indexed.state, agent, scope
    from indexed join session on session.n = indexed.session where n > ? order by n limit ${PAGE}`
  for (let last = 0; ; ) {
    const page = db.all(sql, last) as unknown as readonly IndexedSession[]
    yield* page
    last = page.at(-1)?.n ?? last
    if (page.length < PAGE) return
  }
}

/**
 * Takes the postings of a session's texts out of the sums. Returns whether its state, its lengths
 * and its languages are those of its texts.
 */
function isAsIndexed(db: SqliteConnection, session: IndexedSession, sums: PostingSums): boolean {
  const { n, after, upto } = session
  const state = readState(session.state)
  if (state === null) return false
  const languages = new Set<string>()
  let isSame = true
  let number = -1
  let block: Block = EMPTY_BLOCK
  let [entries, slots, live, distinctSum] = [0, 0, 0, 0]
  for (const row of eachEntry(db, n, after, upto)) {
    const entry = renumbered(decodeIndexed(row), after)
    entries = entry.number
    if (blockOf(entries) !== number) {
      number = blockOf(entries)
      block = blockAt(db, n, number) ?? EMPTY_BLOCK
    }
    const stored = entryIn(block, entries)
    if (stored === null) return false
    if (entry.body === null) {
      // Erased: the numbers of its passages are not used again, and its words are gone.
      slots += stored.lengths.length / PASSAGE_BYTES
      isSame &&= stored.lengths.every((length) => length === 0)
      continue
    }
    const { language, passages } = passagesOf(entry)
    if (passages.length > 0) languages.add(language.name)
    const writer = new BlockWriter(EMPTY_BLOCK)
    writer.add(entry, passages)
    const own = writer.end()
    isSame &&=
      compareBytes(own.entries, stored.entries) === 0 &&
      compareBytes(own.lengths, stored.lengths) === 0
    for (const { roots, distinct } of passages) {
      sums.takePassage(n, roots, slots++)
      live++
      distinctSum += distinct
    }
  }
  const counted = { upto: entries, slots, live, distinctSum }
  return (
    isSame &&
    upto === entries &&
    Object.entries(counted).every(([name, count]) => state[name as keyof IndexState] === count) &&
    languages.isSubsetOf(new Set(state.languages)) &&
    totalsOf(session.agent, session.scope).every(([agent, scope]) =>
      languages.isSubsetOf(new Set(totalsIn(db, agent, scope).languages)),
    )
  )
}

function readState(packedState: string): IndexState | null {
  try {
    return unpackState(packedState)
  } catch {
    return null
  }
}

function* eachEntry(
  db: SqliteConnection,
  n: number,
  after: number,
  upto: number,
): Iterable<SqliteColumns> {
  const sql = `select id, kind, at, meta, body from entry
    where id > ? and id < ? order by id limit ${PAGE}`
  for (let [last, left] = [packed(n, after), upto]; ; ) {
    const page = db.all(sql, last, packed(n + 1, 0))
    yield* page.slice(0, left)
    left -= page.length
    if (page.length < PAGE || left <= 0) return
    last = BigInt(page.at(-1)?.['id'] as number)
  }
}

/** What a block says of an entry; null: it does not reach as far. */
function entryIn(block: Block, entry: number): Block | null {
  const at = ((entry - 1) % BLOCK_ENTRIES) * ENTRY_BYTES
  if (block.entries.length < at + ENTRY_BYTES) return null
  const { first, count } = passagesIn(block, entry)
  return {
    entries: block.entries.subarray(at, at + ENTRY_BYTES),
    lengths: block.lengths.subarray(first * PASSAGE_BYTES, (first + count) * PASSAGE_BYTES),
  }
}

/** Sums that differ from the sessions change the order of hits. */
function areTotalsWrong(db: SqliteConnection): boolean {
  const row = db.get(`
    with counted as (
      select agent, scope, indexed.state ->> 2 as live, indexed.state ->> 3 as roots
      from indexed join session on session.n = indexed.session
    ), summed as (
      select '' as agent, '' as scope, sum(live) as live, sum(roots) as roots from counted
      union all select agent, '', sum(live), sum(roots) from counted group by agent
      union all select '', scope, sum(live), sum(roots) from counted group by scope
      union all select agent, scope, sum(live), sum(roots) from counted group by agent, scope
    )
    select exists (
      select 1 from summed left join word_total using (agent, scope)
      where coalesce(totals ->> 0, 0) <> coalesce(live, 0)
        or coalesce(totals ->> 1, 0) <> coalesce(roots, 0)
    ) as wrong`)
  return row?.['wrong'] === 1
}
