import type { SessionId } from '../../base/ids.ts'
import { DamagedRowError } from '../errors.ts'
import type { Search, SearchAnswer } from '../queries.ts'
import type { SessionRow } from '../rows.ts'
import type { ColumnsCache } from '../search/columns-cache.ts'
import { search } from '../search/find.ts'
import { type Answers, type IndexLookup, performAsync, type SessionRuns } from '../search/lookup.ts'
import { type SearchedStretch, searchedStretches } from '../search/parts.ts'
import { checkedSingles } from '../verify/answers.ts'
import type { LoanedClient } from './connections/connections.ts'
import { fromText, POSTGRES, toText } from './tables.ts'
import { readVectors } from './vectors/vectors.ts'
import { BLOCKS, decodeBlock, decodeState } from './word-index.ts'

/** Runs in the caller's snapshot. */
export async function searchPostgres(
  loan: LoanedClient,
  query: Search,
  cache: ColumnsCache,
): Promise<SearchAnswer> {
  const asked = [query.sessionId].flat().map(toText)
  const [found = []] = await loan.send([
    {
      text: `select wanted.place::integer as place, session.id, tail, origin, forked_at as "forkedAt"
        from unnest($1::text[]) with ordinality as wanted(name, place)
        cross join lateral lineage(wanted.name) as line join session on session.id = line.keeper
        order by place, line.last desc`,
      values: [asked],
    },
  ])
  const lines = asked.map((_, at) => found.filter(({ place }) => place === at + 1))
  const stretches = searchedStretches(lines as unknown as readonly LineRow[][])
  const [indexed = []] = await loan.send([
    {
      text: 'select session, state from indexed where session = any($1)',
      values: [stretches.map(({ keeper }) => keeper)],
    },
  ])
  const states = new Map(indexed.map(({ session, state }) => [session, state]))
  const sessions = stretches.map((stretch) => ({
    ...stretch,
    index: decodeState(states.get(stretch.keeper) ?? null),
  }))
  return await performAsync(search(query, sessions, { cache }), (lookup) =>
    answer(loan, lookup, sessions),
  )
}

type LineRow = Pick<SessionRow, 'id' | 'tail' | 'origin' | 'forkedAt'>

async function answer(
  loan: LoanedClient,
  lookup: IndexLookup,
  stretches: readonly SearchedStretch[],
): Promise<Answers[keyof Answers]> {
  const idOf = (session: number) => stretches[session]?.keeper as SessionId
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
    case 'vectors':
      return await readVectors(loan, lookup, idOf)
    case 'bodies': {
      const [rows = []] = await loan.send([
        {
          text: `select body from unnest($1::text[], $2::bigint[]) with ordinality
              as wanted(session, number, place) left join entry using (session, number)
            order by place`,
          values: [
            lookup.of.map(({ session }) => toText(idOf(session))),
            lookup.of.map(({ number }) => number),
          ],
        },
      ])
      return rows.map(({ body }) => (body === null ? null : fromText(body as string)))
    }
    default:
      return await readRanges(loan, lookup.ranges, (place) => stretches[place]?.id as SessionId)
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
      text: `select ${POSTGRES.entry.columns} from lineage($1) as line join entry
          on session = keeper and number between greatest(first, $2) and least(last, $3)
        order by number`,
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
