import type { SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import type { Search, SearchHit } from '../queries.ts'
import type { Entry } from '../rows.ts'
import { around, CANDIDATES_MAX, rankEntries } from '../search/rank.ts'
import { isSearched, questionWords, textOf, wordsOf } from '../search/words.ts'
import { checkedSingles } from '../verify/answers.ts'
import type { Connections, LoanedClient } from './connections.ts'
import { type Columns, fromText, POSTGRES } from './tables.ts'

/**
 * Every word is indexed with its session's number before it ("12xorchid"), so that a word is a word
 * of one session and the index needs no extension to keep sessions apart. Words are made here, like
 * on every engine: the server's text search only stores and finds them. Indexing follows behind the
 * appends; what is not indexed yet is few and is read directly, so a search is complete at once.
 */
const INDEX_BATCH = 128
/** Of very many hits the newest are ranked. */
const HITS_MAX = 5_000
/** A vector of words has at most a megabyte; pairs of a text without blanks can come near it. */
const WORDS_BYTES_MAX = 900_000

const ENTRIES = `select ${POSTGRES.entry.columns} from entry`

/** Runs in one snapshot, which the caller has opened. */
export async function searchSession(
  loan: LoanedClient,
  { sessionId, text, limit, neighbours }: Search,
): Promise<readonly SearchHit[]> {
  const question = questionWords(text)
  if (question.length === 0) return []
  const [[row] = []] = await loan.send([
    {
      text: `select n, ${POSTGRES.session.columns}, coalesce(upto, 0) as upto
        from session left join indexed on indexed.session = session.id where id = $1`,
      values: [sessionId],
    },
  ])
  if (row === undefined) return []
  const { tail } = POSTGRES.session.decode(row)
  const n = row['n'] as number
  // Words hold letters and digits only, so nothing in the quotes can end them.
  const match = question.map((word) => `'${prefixed(n, word)}'`).join(' | ')
  const [found = [], fresh = []] = await loan.send([
    {
      text: `${ENTRIES} where session = $1 and number in (
          select number from (
            select number, words from entry_words
            where words @@ $2::tsquery and session = $1 order by number desc limit ${HITS_MAX}
          ) as hits
          order by ts_rank(words, $2::tsquery) desc, number desc limit ${CANDIDATES_MAX}
        )`,
      values: [sessionId, match],
    },
    {
      text: `${ENTRIES} where session = $1 and number > $2 order by number`,
      values: [sessionId, row['upto']],
    },
  ])
  const wanted = new Set(question)
  const read = (rows: readonly Columns[]) =>
    checkedSingles(sessionId, rows.map(POSTGRES.entry.decode))
  const candidates = [
    ...read(found),
    ...read(fresh).filter(
      (entry) => isSearched(entry) && wordsOf(textOf(entry)).some((word) => wanted.has(word)),
    ),
  ]
  const hits = rankEntries(question, candidates).slice(0, Math.min(limit, LIST_MAX))
  if (neighbours === 0) return hits.map((entry) => ({ entry, before: [], after: [] }))
  const near = await loan.send(
    hits.map((entry) => {
      const { from, to } = around(entry.number, tail, neighbours)
      return {
        text: `${ENTRIES} where session = $1 and number between $2 and $3 order by number`,
        values: [sessionId, from, to],
      }
    }),
  )
  return hits.map((entry, index) => {
    const entries = read(near[index] ?? [])
    return {
      entry,
      before: entries.filter((each) => each.number < entry.number),
      after: entries.filter((each) => each.number > entry.number),
    }
  })
}

function prefixed(n: number, word: string): string {
  return `${n}x${word}`
}

/** Sessions with entries that are not indexed yet; asked once when a store is opened. */
export async function unindexedSessions(connections: Connections): Promise<readonly SessionId[]> {
  const rows = await connections.query({
    text: `select id from session left join indexed on indexed.session = session.id
      where session.tail > coalesce(indexed.upto, 0) limit $1`,
    values: [LIST_MAX],
  })
  return rows.map((row) => row['id'] as SessionId)
}

/**
 * Indexes one batch of a session; true when more is left. The row in `indexed` is the lock: no entry
 * is indexed twice, and none while it is being erased. Somebody else at it: look again later.
 */
export async function indexSome(connections: Connections, id: SessionId): Promise<boolean> {
  const loan = await connections.loan()
  let ended = false
  try {
    const [, , [row] = []] = await loan.send([
      {
        text: 'insert into indexed (session, upto) values ($1, 0) on conflict do nothing',
        values: [id],
      },
      { text: 'begin isolation level read committed read write' },
      {
        text: `select upto, (select n from session where id = $1) as n from indexed
          where session = $1 for update skip locked`,
        values: [id],
      },
    ])
    if (row === undefined) return true
    const upto = row['upto'] as number
    const [found = []] = await loan.send([
      {
        // No more of them: what else is harmed keeps no words in, and none out.
        text: `select number, kind, body from entry
          where session = $1 and number between $2 and $3 order by number`,
        values: [id, upto + 1, upto + INDEX_BATCH],
      },
    ])
    const entries = found.map(decodeWords)
    const last = entries.at(-1)
    if (last === undefined) return false
    const spoken = entries.filter((entry) => isSearched(entry) && entry.body !== null)
    await loan.send([
      ...spoken.map((entry) => ({
        text: 'insert into entry_words (session, number, words) values ($1, $2, array_to_tsvector($3))',
        values: [id, entry.number, indexedWords(row['n'] as number, entry)],
      })),
      { text: 'update indexed set upto = $2 where session = $1', values: [id, last.number] },
      { text: 'commit' },
    ])
    ended = true
    return entries.length === INDEX_BATCH
  } finally {
    if (!ended) await loan.rollback()
    loan.end()
  }
}

type Words = Pick<Entry, 'number' | 'kind' | 'body'>

function decodeWords({ number, kind, body }: Columns): Words {
  return { number, kind, body: body === null ? null : fromText(body as string) } as Words
}

function indexedWords(n: number, entry: Words): readonly string[] {
  const words: string[] = []
  let bytes = 0
  for (const word of new Set(wordsOf(textOf(entry)))) {
    const indexed = prefixed(n, word)
    bytes += Buffer.byteLength(indexed)
    if (bytes > WORDS_BYTES_MAX) break
    words.push(indexed)
  }
  return words
}
