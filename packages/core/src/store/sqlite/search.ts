import { entryNumber } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import type { Search, SearchHit } from '../queries.ts'
import type { Entry, SessionRow } from '../rows.ts'
import { around, CANDIDATES_MAX, rankEntries } from '../search/rank.ts'
import { isSearched, questionWords, textOf, wordsOf } from '../search/words.ts'
import type { SqliteColumns, SqliteConnection } from './connection.ts'
import { packed, unpacked } from './tables.ts'

/**
 * Every word is indexed with its session's number before it ("12xorchid"), so that a word is a word
 * of one session: counts, postings and cost are the session's own, whatever others have said (at a
 * million rows 0.2 ms instead of 17). Indexing follows behind the appends; what is not indexed yet
 * is few and is read directly, so a search is complete at once.
 */
const INDEX_BATCH = 32

function prefixed(n: number, word: string): string {
  return `${n}x${word}`
}

export function searchSession(
  db: SqliteConnection,
  n: number,
  session: SessionRow,
  { text, limit, neighbours }: Search,
  range: (from: number, to: number) => readonly Entry[],
): readonly SearchHit[] {
  const question = questionWords(text)
  if (question.length === 0) return []
  // Words hold letters and digits only, so nothing in the quotes can end them.
  const match = question.map((word) => `"${prefixed(n, word)}"`).join(' OR ')
  const found = db.all(
    'select rowid as id from entry_words where entry_words match ? order by rank limit ?',
    match,
    CANDIDATES_MAX,
  )
  const indexed = found.flatMap((row) => {
    const number = unpacked(row['id'])
    return range(number, number)
  })
  const wanted = new Set(question)
  const fresh = range(indexedUpTo(db, n) + 1, session.tail).filter(
    (entry) => isSearched(entry) && wordsOf(textOf(entry)).some((word) => wanted.has(word)),
  )
  const hits = rankEntries(question, [...indexed, ...fresh]).slice(0, Math.min(limit, LIST_MAX))
  return hits.map((entry) => {
    const { from, to } = around(entry.number, session.tail, neighbours)
    const near = range(from, to)
    return {
      entry,
      before: near.filter((each) => each.number < entry.number),
      after: near.filter((each) => each.number > entry.number),
    }
  })
}

function indexedUpTo(db: SqliteConnection, n: number): number {
  return (db.get('select upto from indexed where session = ?', n)?.['upto'] ?? 0) as number
}

/** Sessions with entries that are not indexed yet; asked once when a store is opened. */
export function unindexedSessions(db: SqliteConnection): number[] {
  return db
    .all(
      `select n from session left join indexed on indexed.session = session.n
       where session.tail > coalesce(indexed.upto, 0)`,
    )
    .map((row) => row['n'] as number)
}

/**
 * Indexes one batch of a session, inside a transaction that the caller holds; true when more is
 * left. The cursor moves in the same transaction, because the index takes a row twice silently.
 */
export function indexSome(db: SqliteConnection, n: number): boolean {
  const upto = indexedUpTo(db, n)
  const rows = db.all(
    `select ${WORDS} from entry where id between ? and ? order by id`,
    packed(n, upto + 1),
    packed(n, upto + INDEX_BATCH),
  )
  const last = rows.at(-1)
  if (last === undefined) return false
  for (const row of rows) {
    const words = indexedWords(n, row)
    if (words === null) continue
    db.run('insert into entry_words (rowid, words) values (?, ?)', row['id'] ?? null, words)
  }
  db.run(
    `insert into indexed (session, upto) values (?, ?)
     on conflict (session) do update set upto = excluded.upto`,
    n,
    entryNumber(unpacked(last['id'])),
  )
  return rows.length === INDEX_BATCH
}

/** No more than this is asked for: what else of an entry is harmed keeps no words in, and none out. */
const WORDS = 'id, kind, body'

function indexedWords(n: number, row: SqliteColumns): string | null {
  const entry = row as unknown as Pick<Entry, 'kind' | 'body'>
  if (!isSearched(entry) || entry.body === null) return null
  return wordsOf(textOf(entry))
    .map((word) => prefixed(n, word))
    .join(' ')
}

/**
 * Takes an entry out of the index, before its body is gone. A contentless index finds a row's words
 * only by being told them; in return they leave the file at once, and not when segments happen to be
 * merged.
 */
export function unindex(db: SqliteConnection, n: number, number: number): void {
  const row = db.get(`select ${WORDS} from entry where id = ?`, packed(n, number))
  const words = row && number <= indexedUpTo(db, n) ? indexedWords(n, row) : null
  if (words === null) return
  const sql = "insert into entry_words (entry_words, rowid, words) values ('delete', ?, ?)"
  db.run(sql, packed(n, number), words)
}
