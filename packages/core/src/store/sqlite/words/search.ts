import { DamagedRowError } from '../../errors.ts'
import type { ForkRow } from '../../lineage.ts'
import type { Search, SearchAnswer, SearchedScope } from '../../queries.ts'
import { ColumnsCache } from '../../search/columns-cache.ts'
import { type SearchedRange, search } from '../../search/find.ts'
import { NO_INDEX, runIds, unpackState } from '../../search/index-state.ts'
import { type Answers, type IndexLookup, perform, type Searched } from '../../search/lookup.ts'
import {
  type ScopedRow,
  type SearchedStretch,
  searchedStretches,
  stretchWithin,
} from '../../search/parts.ts'
import { totalsWith } from '../../search/sessions/totals.ts'
import type { Entry } from '../../tables/rows.ts'
import type { SqliteConnection } from '../connection.ts'
import { findForked, lineIn, type SessionNumbers } from '../sessions.ts'
import { packed } from '../tables.ts'
import { vectorsIn } from '../vectors.ts'
import { blocksIn, markedIn, runsIn, stateIn, totalsIn } from './word-index.ts'

type ReadRange = (stretch: SearchedStretch, from: number, to: number) => readonly Entry[]

export function searchSqlite(
  db: SqliteConnection,
  numbers: SessionNumbers,
  query: Search,
  range: ReadRange,
): SearchAnswer {
  const what = query.sessionId
  const isScope = typeof what === 'object' && !('length' in what)
  const runs = runIds(runsIn(db))
  const searched: Searched[] = []
  const within = (n: readonly number[]) => {
    const found = searchedWithin(db, what as SearchedScope, n)
    searched.push(...found)
    return found
  }
  const steps = () => {
    const options = { cache: cacheOf(db), stored: totalsIn(db, '', '').live }
    if (!isScope || query.meaning !== undefined) {
      const ids = isScope ? idsWithin(db, what) : [what].flat()
      const lines = ids.flatMap((id) => findForked(db, id) ?? []).map((row) => lineIn(db, row))
      for (const stretch of searchedStretches(lines)) {
        const n = numbers.get(stretch.keeper)
        searched.push({ ...stretch, n, index: stateIn(db, n) })
      }
      return search(query, [...searched], options)
    }
    return search(query, { ...rangeOf(db, what), behind: within(markedIn(db)) }, options)
  }
  const numberOf = (session: number) => searched[session]?.n as number
  return perform(steps(), (lookup: IndexLookup): Answers[keyof Answers] => {
    switch (lookup.want) {
      case 'pages':
        return lookup.keys.map((key) => pagesAt(db, runs, key))
      case 'range':
        return lookup.ranges.map((keys) => runs.flatMap((run) => pagesBetween(db, run, keys)))
      case 'sessions':
        return within(lookup.numbers)
      case 'blocks':
        return lookup.sessions.map((session) => blocksIn(db, numberOf(session), lookup.from))
      case 'bodies':
        return lookup.of.map(({ session, number }) => bodyOf(db, numberOf(session), number))
      case 'vectors':
        return lookup.of.map((session) => vectorsIn(db, numberOf(session), lookup))
      default:
        return lookup.ranges.map(({ session, from, to }) =>
          orDamage(() => range(searched[session] as Searched, from, to)),
        )
    }
  })
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

/** One statement for all runs: a statement costs more than a lookup. */
function pagesAt(
  db: SqliteConnection,
  runs: readonly number[],
  key: Uint8Array,
): readonly Uint8Array[] {
  const sql = `select (select lists from word_page
      where run = json_each.value and word_page.key <= ?2
      order by word_page.key desc limit 1) as lists
    from json_each(?1)`
  const rows = db.all(sql, JSON.stringify(runs), key)
  return rows.flatMap((row) => (row['lists'] as Uint8Array | null) ?? [])
}

function pagesBetween(
  db: SqliteConnection,
  run: number,
  { from, to }: { readonly from: Uint8Array; readonly to: Uint8Array },
): readonly Uint8Array[] {
  return db
    .all(
      `select lists from word_page where run = ?1 and key < ?3 and key >= coalesce(
         (select key from word_page where run = ?1 and key <= ?2 order by key desc limit 1), ?2)
       order by key`,
      run,
      from,
      to,
    )
    .map((row) => row['lists'] as Uint8Array)
}

/** One per connection that has searched. */
const caches = new WeakMap<SqliteConnection, ColumnsCache>()

function cacheOf(db: SqliteConnection): ColumnsCache {
  const cache = caches.get(db) ?? new ColumnsCache()
  caches.set(db, cache)
  return cache
}

type NumberedRow = ScopedRow & {
  readonly n: number
  readonly root: ScopedRow['id'] | null
  readonly index: string | null
}

const SCOPED = `select n, id, agent, scope, session.state, tail, origin, root,
    forked_at as forkedAt, indexed.state as "index"
  from session left join indexed on indexed.session = session.n`

/** Those of the numbers that are searched, each with what may be found in its index. */
function searchedWithin(
  db: SqliteConnection,
  what: SearchedScope,
  numbers: readonly number[],
): readonly Searched[] {
  const sql = `${SCOPED} where n in (select value from json_each(?))`
  const rows = db.all(sql, JSON.stringify(numbers)) as unknown as readonly NumberedRow[]
  return rows.flatMap((row) => {
    const forks = () => {
      const related = db.all(`${SCOPED} where root = ? order by n`, row.root ?? row.id)
      return related.map((each) => lineIn(db, each as unknown as NumberedRow) as Line)
    }
    const stretch = stretchWithin(what, row, forks)
    const index = row.index === null ? NO_INDEX : unpackState(row.index)
    return stretch === null ? [] : [{ ...stretch, n: row.n, index }]
  })
}

type Line = readonly [NumberedRow, ...ReturnType<typeof lineIn<NumberedRow>>]

/** The sessions of an agent or a scope, and those outside that forks among them read. */
interface KnownScope {
  last: number
  readonly numbers: Set<number>
  readonly origins: Set<number>
}

/** Neither agent nor scope of a session ever changes, so only new sessions are read again. */
const known = new WeakMap<SqliteConnection, Map<string, KnownScope>>()
const SCOPES_KNOWN_MAX = 100

function rangeOf(
  db: SqliteConnection,
  { agent, scope }: SearchedScope,
): Omit<SearchedRange, 'behind'> {
  const totals = totalsIn(db, agent ?? '', scope ?? '')
  if (agent === undefined && scope === undefined) return { wants: null, totals }
  const scopes = known.get(db) ?? new Map<string, KnownScope>()
  known.set(db, scopes)
  const name = JSON.stringify([agent ?? null, scope ?? null])
  const found = scopes.get(name) ?? { last: 0, numbers: new Set(), origins: new Set() }
  scopes.delete(name)
  scopes.set(name, found)
  const [oldest] = scopes.keys()
  if (scopes.size > SCOPES_KNOWN_MAX && oldest !== undefined) scopes.delete(oldest)
  learn(db, { agent, scope }, found)
  const { numbers, origins } = found
  const outside = [...origins].filter((n) => !numbers.has(n))
  return {
    wants: (n) => numbers.has(n) || origins.has(n),
    totals: outside.reduce((sum, n) => totalsWith(sum, stateIn(db, n)), totals),
  }
}

function learn(
  db: SqliteConnection,
  { agent, scope }: { readonly agent: string | undefined; readonly scope: string | undefined },
  found: KnownScope,
): void {
  const [column, value] = scope === undefined ? ['agent', agent] : ['scope', scope]
  const sql = `select n, id, origin, forked_at as forkedAt from session
    where ${column} = ?1 and n > ?2 and agent = coalesce(?3, agent)`
  for (const row of db.all(sql, value as string, found.last, agent ?? null)) {
    const n = row['n'] as number
    found.numbers.add(n)
    found.last = Math.max(found.last, n)
    if (row['origin'] === null) continue
    for (const { id } of lineIn(db, row as unknown as ForkRow).slice(1)) {
      const origin = db.get('select n from session where id = ?', id)?.['n']
      found.origins.add(origin as number)
    }
  }
}

function idsWithin(
  db: SqliteConnection,
  { agent, scope }: SearchedScope,
): readonly ScopedRow['id'][] {
  const sql = `select id from session where state = 'open' and agent = coalesce(?1, agent)
    and scope = coalesce(?2, scope) order by n`
  const rows = db.all(sql, agent ?? null, scope ?? null)
  return rows.map((row) => row['id'] as ScopedRow['id'])
}
