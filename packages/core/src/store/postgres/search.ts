import type { SessionId } from '../../base/ids.ts'
import { DamagedRowError } from '../errors.ts'
import type { Search, SearchAnswer, SearchedScope } from '../queries.ts'
import type { ColumnsCache } from '../search/columns-cache.ts'
import { type IndexTotals, type SearchedRange, search } from '../search/find.ts'
import { runIds, unpackRuns } from '../search/index-state.ts'
import { type Answers, type IndexLookup, performAsync, type Searched } from '../search/lookup.ts'
import {
  isWithin,
  type ScopedRow,
  type SearchedStretch,
  searchedStretches,
  stretchWithin,
} from '../search/parts.ts'
import { totalsWith } from '../search/sessions/totals.ts'
import type { SessionRow } from '../tables/rows.ts'
import { checkedSingles } from '../verify/answers.ts'
import type { LoanedClient } from './connections/connections.ts'
import { checkEmptied } from './erasures/records.ts'
import { beforeQuery, hashesIn, sendTo, sessionIn, sessionQuery } from './session-reads.ts'
import { type Columns, fromText, POSTGRES, toText } from './tables.ts'
import { readVectors } from './vectors/vectors.ts'
import { BLOCKS, decodeBlock, decodeState, decodeTotals } from './word-index.ts'

/** Runs in the caller's snapshot. */
export async function searchPostgres(
  loan: LoanedClient,
  query: Search,
  cache: ColumnsCache,
): Promise<SearchAnswer> {
  const what = query.sessionId
  const isScope = typeof what === 'object' && !('length' in what)
  const [[row] = [], [sums] = []] = await loan.send([
    { text: 'select runs from word_runs where one = 1' },
    { text: `select totals from word_total where agent = '' and scope = ''` },
  ])
  const runs = runIds(unpackRuns((row?.['runs'] ?? '[]') as string))
  const options = { cache, stored: decodeTotals(sums).live }
  const searched: Searched[] = []
  const within = async (numbers: readonly number[]) => {
    const found = await searchedWithin(loan, what as SearchedScope, numbers)
    searched.push(...found)
    return found
  }
  const answers = (lookup: IndexLookup) =>
    lookup.want === 'sessions' ? within(lookup.numbers) : answer(loan, lookup, searched, runs)
  if (isScope && query.meaning === undefined) {
    const { behind, ...range } = await readRange(loan, what)
    const steps = search(query, { ...range, behind: await within(behind) }, options)
    return await performAsync(steps, answers)
  }
  const ids = isScope ? await idsWithin(loan, what) : [what].flat()
  searched.push(...(await readSearched(loan, searchedStretches(await readLines(loan, ids)))))
  return await performAsync(search(query, [...searched], options), answers)
}

/** Each session, and those that it reads from. */
async function readLines(
  loan: LoanedClient,
  ids: readonly SessionId[],
): Promise<readonly (readonly LineRow[])[]> {
  const asked = ids.map(toText)
  const [found = []] = await loan.send([
    {
      text: `select wanted.place::integer as place, session.id, tail, origin, forked_at as "forkedAt"
        from unnest($1::text[]) with ordinality as wanted(name, place)
        cross join lateral lineage(wanted.name) as line join session on session.id = line.keeper
        order by place, line.last desc`,
      values: [asked],
    },
  ])
  return asked.map(
    (_, at) => found.filter(({ place }) => place === at + 1) as unknown as readonly LineRow[],
  )
}

type LineRow = Pick<SessionRow, 'id' | 'tail' | 'origin' | 'forkedAt'>

async function readSearched(
  loan: LoanedClient,
  stretches: readonly SearchedStretch[],
): Promise<readonly Searched[]> {
  const [rows = []] = await loan.send([
    {
      text: `select id, n, state from (select id, n from session where id = any($1)) as asked
        left join indexed on indexed.session = id`,
      values: [stretches.map(({ keeper }) => keeper)],
    },
  ])
  const byId = new Map(rows.map((row) => [row['id'], row]))
  return stretches.flatMap((stretch) => {
    const row = byId.get(stretch.keeper)
    const index = decodeState(row?.['state'] ?? null)
    return row === undefined ? [] : [{ ...stretch, n: row['n'] as number, index }]
  })
}

const SCOPED = `select n, id, agent, scope, session.state, tail, origin, root,
    forked_at as "forkedAt" from session`

type NumberedRow = ScopedRow & { readonly root: SessionId | null }

/** Those of the numbers that are searched, each with what may be found in its index. */
async function searchedWithin(
  loan: LoanedClient,
  what: SearchedScope,
  numbers: readonly number[],
): Promise<readonly Searched[]> {
  if (numbers.length === 0) return []
  const [found = []] = await loan.send([
    { text: `${SCOPED} where n = any($1) order by n`, values: [numbers] },
  ])
  const rows = found as unknown as readonly NumberedRow[]
  const roots = rows.filter((row) => !isWithin(what, row)).map(({ id, root }) => root ?? id)
  const forks = roots.length === 0 ? [] : await readForks(loan, roots)
  const stretches = rows.flatMap((row) => stretchWithin(what, row, () => forks) ?? [])
  return await readSearched(loan, stretches)
}

async function readForks(
  loan: LoanedClient,
  roots: readonly SessionId[],
): Promise<readonly (readonly [NumberedRow, ...LineRow[]])[]> {
  const [found = []] = await loan.send([
    { text: `${SCOPED} where root = any($1) order by n`, values: [roots.map(toText)] },
  ])
  const rows = found as unknown as readonly NumberedRow[]
  const lines = await readLines(
    loan,
    rows.map(({ id }) => id),
  )
  return rows.map((row, at) => [row, ...(lines[at] ?? []).slice(1)] as const)
}

async function readRange(
  loan: LoanedClient,
  { agent, scope }: SearchedScope,
): Promise<Omit<SearchedRange, 'behind'> & { readonly behind: readonly number[] }> {
  const isAll = agent === undefined && scope === undefined
  const column = scope === undefined ? 'agent' : 'scope'
  const own = (table: string) =>
    `${table}.${column} = $1 and ${table}.agent = coalesce($2, ${table}.agent)`
  const values = [toText(scope ?? agent ?? ''), agent === undefined ? null : toText(agent)]
  const [[totals] = [], marked = [], rows = [], origins = []] = await loan.send([
    {
      text: 'select totals from word_total where agent = $1 and scope = $2',
      values: [toText(agent ?? ''), toText(scope ?? '')],
    },
    { text: 'select n from session where id in (select session from unindexed) order by n' },
    ...(isAll
      ? []
      : [
          { text: `select n from session where ${own('session')}`, values },
          {
            // What forks read of sessions outside.
            text: `select distinct keeper.n, indexed.state
              from session as fork cross join lateral lineage(fork.id) as line
              join session as keeper on keeper.id = line.keeper
              left join indexed on indexed.session = keeper.id
              where fork.origin is not null and ${own('fork')} and not (${own('keeper')})`,
            values,
          },
        ]),
  ])
  const numbers = new Set([...rows, ...origins].map((row) => row['n'] as number))
  return {
    totals: origins.reduce<IndexTotals>(
      (sum, row) => totalsWith(sum, decodeState(row['state'])),
      decodeTotals(totals),
    ),
    wants: isAll ? null : (n) => numbers.has(n),
    behind: marked.map((row) => row['n'] as number),
  }
}

async function idsWithin(
  loan: LoanedClient,
  { agent, scope }: SearchedScope,
): Promise<readonly SessionId[]> {
  const [rows = []] = await loan.send([
    {
      text: `select id from session where state = 'open' and agent = coalesce($1, agent)
        and scope = coalesce($2, scope) order by n`,
      values: [agent ?? null, scope ?? null].map((name) => (name === null ? null : toText(name))),
    },
  ])
  return rows.map((row) => row['id'] as SessionId)
}

async function answer(
  loan: LoanedClient,
  lookup: Exclude<IndexLookup, { readonly want: 'sessions' }>,
  stretches: readonly SearchedStretch[],
  runs: readonly number[],
): Promise<Answers[keyof Answers]> {
  const idOf = (session: number) => stretches[session]?.keeper as SessionId
  switch (lookup.want) {
    case 'pages': {
      const [rows = []] = await loan.send([
        {
          text: `select wished.place::integer as place, page.lists
            from unnest($2::bytea[]) with ordinality as wished(key, place)
            cross join unnest($1::integer[]) with ordinality as wanted(run, turn)
            cross join lateral (
              select lists from word_page as each
              where each.run = wanted.run and each.key <= wished.key
              order by each.key desc limit 1
            ) as page order by wished.place, wanted.turn`,
          values: [runs, lookup.keys.map((key) => Buffer.from(key))],
        },
      ])
      return pagesByPlace(rows, lookup.keys.length)
    }
    case 'range': {
      const [rows = []] = await loan.send([
        {
          text: `select wished.place::integer as place, page.lists
            from unnest($2::bytea[], $3::bytea[]) with ordinality as wished(first, last, place)
            cross join unnest($1::integer[]) with ordinality as wanted(run, turn)
            cross join lateral (
              select key, lists from word_page as each
              where each.run = wanted.run and each.key < wished.last
                and each.key >= coalesce((select max(key) from word_page as other
                  where other.run = wanted.run and other.key <= wished.first), wished.first)
            ) as page order by wished.place, wanted.turn, page.key`,
          values: [
            runs,
            lookup.ranges.map(({ from }) => Buffer.from(from)),
            lookup.ranges.map(({ to }) => Buffer.from(to)),
          ],
        },
      ])
      return pagesByPlace(rows, lookup.ranges.length)
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

function pagesByPlace(rows: readonly Columns[], count: number): readonly (readonly Uint8Array[])[] {
  const pages: Uint8Array[][] = Array.from({ length: count }, () => [])
  for (const row of rows) pages[(row['place'] as number) - 1]?.push(row['lists'] as Uint8Array)
  return pages
}

async function readRanges(
  loan: LoanedClient,
  ranges: (IndexLookup & { readonly want: 'entries' })['ranges'],
  idOf: (session: number) => SessionId,
): Promise<Answers['entries']> {
  const read = await loan.send(
    ranges.flatMap(({ session, from, to }) => [
      {
        text: `select ${POSTGRES.entry.columns} from lineage($1) as line join entry
          on session = keeper and number between greatest(first, $2) and least(last, $3)
        order by number`,
        values: [toText(idOf(session)), from, to],
      },
      beforeQuery(idOf(session), [from]),
    ]),
  )
  return await Promise.all(
    ranges.map(async ({ session }, at) => {
      const id = idOf(session)
      try {
        const found = (read[2 * at] ?? []).map(POSTGRES.entry.decode)
        // Not of the first entry: the root of the session is not known here.
        const hashes = hashesIn(read[2 * at + 1] ?? [])
        const entries = checkedSingles(id, found, (number) => hashes.get(number - 1))
        if (entries.every(({ body }) => body !== null)) return entries
        const [owner = []] = await loan.send([sessionQuery(id)])
        const row = await sessionIn(loan, owner)
        return row === undefined ? [] : await checkEmptied(sendTo(loan), row, entries)
      } catch (error) {
        if (error instanceof DamagedRowError) return error
        throw error
      }
    }),
  )
}
