import type { SessionId } from '../../base/ids.ts'
import { DamagedRowError } from '../errors.ts'
import type { Search, SearchAnswer } from '../queries.ts'
import type { ColumnsCache } from '../search/columns-cache.ts'
import { search } from '../search/find.ts'
import { type Answers, type IndexLookup, performAsync, type SessionRuns } from '../search/lookup.ts'
import { checkedSingles } from '../verify/answers.ts'
import type { LoanedClient } from './connections/connections.ts'
import { POSTGRES, toText } from './tables.ts'
import { BLOCKS, decodeBlock, decodeState } from './word-index.ts'

/** Runs in one snapshot, which the caller has opened. */
export async function searchPostgres(
  loan: LoanedClient,
  query: Search,
  cache: ColumnsCache,
): Promise<SearchAnswer> {
  const ids = [query.sessionId].flat()
  const [rows = []] = await loan.send([
    {
      text: `select id, tail, indexed.state from unnest($1::text[]) with ordinality as wanted(name, place)
        join session on session.id = wanted.name left join indexed on indexed.session = session.id
        order by place`,
      values: [ids.map(toText)],
    },
  ])
  const sessions = rows.map(({ id, tail, state }) => ({
    id: id as SessionId,
    tail: tail as number,
    index: decodeState(state),
  }))
  const idOf = (session: number) => sessions[session]?.id as SessionId
  return await performAsync(search(query, sessions, { cache }), (lookup) =>
    answer(loan, lookup, idOf),
  )
}

async function answer(
  loan: LoanedClient,
  lookup: IndexLookup,
  idOf: (session: number) => SessionId,
): Promise<Answers[keyof Answers]> {
  switch (lookup.want) {
    case 'pages':
      return await readPages(loan, lookup, idOf)
    case 'range': {
      const [rows = []] = await loan.send([
        {
          text: `${RUNS} cross join lateral (
              select lists from word_page as page
              where page.session = wanted.session and page.run = wanted.run and page.root < $4
                and page.root >= coalesce((select max(root) from word_page as other
                  where other.session = wanted.session and other.run = wanted.run
                    and other.root <= $3), ''::bytea)
            ) as found`,
          values: [
            ...runParameters(lookup.of, idOf),
            Buffer.from(lookup.from),
            Buffer.from(lookup.to),
          ],
        },
      ])
      return rows.map((row) => row['lists'] as Uint8Array)
    }
    case 'blocks': {
      const ids = lookup.sessions.map((session) => toText(idOf(session)))
      const [rows = []] = await loan.send([{ text: BLOCKS, values: [ids, lookup.from] }])
      return lookup.sessions.map((session) =>
        rows.filter((row) => row['session'] === idOf(session)).map(decodeBlock),
      )
    }
    default:
      return await readRanges(loan, lookup.ranges, idOf)
  }
}

const RUNS = `select found.*, wanted.place::integer as place
  from unnest($1::text[], $2::integer[]) with ordinality as wanted(session, run, place)`

function runParameters(
  of: readonly SessionRuns[],
  idOf: (session: number) => SessionId,
): readonly [readonly string[], readonly number[]] {
  const pairs = of.flatMap(({ session, runs }) =>
    runs.map((run) => [toText(idOf(session)), run] as const),
  )
  return [pairs.map(([id]) => id), pairs.map(([, run]) => run)]
}

async function readPages(
  loan: LoanedClient,
  { of, roots }: IndexLookup & { readonly want: 'pages' },
  idOf: (session: number) => SessionId,
): Promise<Answers['pages']> {
  const [rows = []] = await loan.send([
    {
      text: `${RUNS} cross join lateral (
          select lists, wished.place::integer as root
          from unnest($3::bytea[]) with ordinality as wished(root, place)
          cross join lateral (
            select lists from word_page as page
            where page.session = wanted.session and page.run = wanted.run
              and page.root <= wished.root
            order by page.root desc limit 1
          ) as one
        ) as found`,
      values: [...runParameters(of, idOf), roots.map((root) => Buffer.from(root))],
    },
  ])
  const pages = new Map(rows.map((row) => [`${row['place']} ${row['root']}`, row['lists']]))
  let place = 0
  return of.map(({ runs }) =>
    runs.flatMap(() => {
      place += 1
      return roots.map((_, at) => (pages.get(`${place} ${at + 1}`) as Uint8Array) ?? null)
    }),
  )
}

async function readRanges(
  loan: LoanedClient,
  ranges: (IndexLookup & { readonly want: 'entries' })['ranges'],
  idOf: (session: number) => SessionId,
): Promise<Answers['entries']> {
  const read = await loan.send(
    ranges.map(({ session, from, to }) => ({
      text: `select ${POSTGRES.entry.columns} from entry
        where session = $1 and number between $2 and $3 order by number`,
      values: [toText(idOf(session)), from, to],
    })),
  )
  return ranges.map(({ session }, at) => {
    try {
      return checkedSingles(idOf(session), (read[at] ?? []).map(POSTGRES.entry.decode))
    } catch (error) {
      if (error instanceof DamagedRowError) return error
      throw error
    }
  })
}
