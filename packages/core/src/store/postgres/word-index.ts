import type { SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import { type Block, blockOf, EMPTY_BLOCK, type IndexedEntry } from '../search/blocks.ts'
import { compareBytes } from '../search/bytes.ts'
import { type ErasedEntry, type Erasure, erasedPage, planErasure } from '../search/erase.ts'
import type { IndexTotals } from '../search/find.ts'
import {
  dueMerge,
  type IndexState,
  indexBatch,
  NO_INDEX,
  packState,
  type Run,
  runIds,
  unpackState,
  withMerge,
  withRun,
} from '../search/index-state.ts'
import { keyOf, type ListPage, mergePages, packLists } from '../search/lists.ts'
import {
  NO_TOTALS,
  packTotals,
  totalsAfter,
  totalsOf,
  unpackTotals,
} from '../search/sessions/totals.ts'
import type { Entry } from '../tables/rows.ts'
import type { Connections, LoanedClient, Query } from './connections/connections.ts'
import { type Columns, fromText, toText } from './tables.ts'

/**
 * The rows of the word index: lists of passages by word root and session (`word_page`) in runs
 * (`word_runs`), each session's progress (`indexed`), the lengths of its passages (`passage_block`),
 * and sums over agents and scopes (`word_total`). Their content is the same on every engine
 * (search/); the server only stores and finds it. Indexing follows the appends, which leave a mark
 * (`unindexed`); what is not indexed yet is read directly, so a search is always complete.
 */
const INDEX_BATCH = 128
/** Per input of a merge, so that no transaction takes long. */
const MERGE_PAGES = 24
/** Looked up together when entries are erased. */
const ERASED_ROOTS = 1_000
/** Of these sessions, from a number on. */
export const BLOCKS = `select session, entries, lengths from passage_block
  where session = any($1) and number >= $2 order by session, number`

/** A fork's own entries come after this one; its index numbers them from 1. */
const AFTER =
  '(select case when origin is null then 0 else forked_at end from session where id = $1)'

export function decodeState(state: unknown): IndexState {
  return state === null || state === '' ? NO_INDEX : unpackState(state as string)
}

export function decodeBlock(row: Columns): Block {
  return { entries: row['entries'] as Uint8Array, lengths: row['lengths'] as Uint8Array }
}

/** Sessions with entries that are not indexed yet; read once when a store is opened. */
export async function unindexedInPostgres(connections: Connections): Promise<readonly SessionId[]> {
  const rows = await connections.query({
    text: `select id from session left join indexed on indexed.session = session.id
      where session.tail - case when origin is null then 0 else forked_at end
          > coalesce(indexed.upto, 0) limit $1`,
    values: [LIST_MAX],
  })
  return rows.map((row) => row['id'] as SessionId)
}

/**
 * Indexes one batch of a session and merges a few pages. Returns whether more is left. The row of the
 * runs is the lock: no entry is indexed twice, or while it is being erased. If another process holds
 * it, try again later.
 */
export async function indexInPostgres(connections: Connections, id: SessionId): Promise<boolean> {
  const loan = await connections.loan()
  let ended = false
  try {
    const [, [row] = []] = await loan.send([
      { text: 'begin isolation level read committed read write' },
      { text: `${LOCK} skip locked` },
    ])
    if (row === undefined) return true
    const runs = JSON.parse(row['runs'] as string) as readonly Run[]
    // First, because the pages of the batch are not there to be read yet.
    const merge = await mergeStep(loan, runs)
    const batch = await batchStep(loan, id, merge.runs)
    const writes = [...merge.writes, ...batch.writes]
    if (writes.length > 0) await loan.send([...writes, writeRuns(batch.runs), { text: 'commit' }])
    ended = writes.length > 0
    return batch.isMore || dueMerge(batch.runs) !== null
  } finally {
    if (!ended) await loan.rollback()
    loan.end()
  }
}

const LOCK = 'select runs from word_runs where one = 1 for update'

interface IndexStep {
  readonly runs: readonly Run[]
  readonly writes: readonly Query[]
}

async function batchStep(
  loan: LoanedClient,
  id: SessionId,
  runs: readonly Run[],
): Promise<IndexStep & { readonly isMore: boolean }> {
  const [[session] = [], totals = []] = await loan.send([SESSION(id), TOTALS(id)])
  if (session === undefined) return { runs, writes: [], isMore: false }
  const state = decodeState(session['state'])
  const [found = [], [last] = []] = await loan.send([
    {
      // Reads only these columns, so that damage elsewhere in an entry does not affect its words.
      text: `select number - ${AFTER} as number, kind, at, meta::text as meta, body from entry
        where session = $1 and number between ${AFTER} + $2 and ${AFTER} + $3 order by number`,
      values: [id, state.upto + 1, state.upto + INDEX_BATCH],
    },
    {
      text: 'select entries, lengths from passage_block where session = $1 and number = $2',
      values: [id, blockOf(state.upto + 1)],
    },
  ])
  const isMore = found.length === INDEX_BATCH
  if (found.length === 0) {
    // The marks of what was indexed before, by whatever process.
    return { runs, writes: session['marked'] === true ? [removeMarks(id, state.upto)] : [], isMore }
  }
  const block = last === undefined ? null : decodeBlock(last)
  const batch = indexBatch(state, block, found.map(decodeIndexed))
  const next = batch.lists.size === 0 ? { runs, id: 0 } : withRun(runs, found.length)
  return {
    runs: next.runs,
    writes: [
      ...writePages(next.id, packLists(new Map([[session['n'] as number, batch.lists]]))),
      ...[...batch.blocks].map(([number, each]) => writeBlock(id, number, each)),
      ...writeState({ id, row: session, totals }, state, batch.state),
      removeMarks(id, batch.state.upto),
    ],
    isMore,
  }
}

/** A row for each append since; a later append has another one. */
function removeMarks(id: SessionId, upto: number): Query {
  const text = `delete from unindexed where session = $1 and number <= ${AFTER} + $2`
  return { text, values: [toText(id), upto] }
}

async function mergeStep(loan: LoanedClient, runs: readonly Run[]): Promise<IndexStep> {
  const merge = dueMerge(runs)
  if (merge === null) return { runs, writes: [] }
  const taken = await loan.send(
    merge.inputs.map((run) => ({
      text: `select key, lists from word_page where run = $1 order by key limit ${MERGE_PAGES + 1}`,
      values: [run.id],
    })),
  )
  const inputs = taken.map((rows) => ({
    pages: rows.slice(0, MERGE_PAGES).map((row) => row['lists'] as Uint8Array),
    isMore: rows.length > MERGE_PAGES,
  }))
  const { merged, left } = mergePages(inputs)
  const isDone = inputs.every(({ isMore }, at) => !isMore && left[at]?.length === 0)
  return {
    runs: withMerge(runs, merge, isDone),
    writes: [
      ...merge.inputs.flatMap(({ id: run }, at) => [
        removePages(run, (taken[at] ?? []).slice(0, MERGE_PAGES).map(keyIn)),
        ...writePages(run, left[at] ?? []),
      ]),
      ...writePages(merge.output, merged),
    ],
  }
}

function keyIn(row: Columns): Uint8Array {
  return row['key'] as Uint8Array
}

function decodeIndexed({ number, kind, at, meta, body }: Columns): IndexedEntry {
  const isUser = kind === 'input' && /"lane": ?"user"/.test(String(meta))
  return {
    ...({ number, kind, at } as Pick<Entry, 'number' | 'kind' | 'at'>),
    body: body === null ? null : fromText(body as string),
    meta: { lane: isUser ? 'user' : '' },
  }
}

function writePages(run: number, pages: readonly ListPage[]): readonly Query[] {
  if (pages.length === 0) return []
  return [
    {
      text: `insert into word_page (run, key, lists)
        select $1, key, lists from unnest($2::bytea[], $3::bytea[]) as page(key, lists)`,
      values: [
        run,
        pages.map(({ key }) => Buffer.from(key)),
        pages.map(({ bytes }) => Buffer.from(bytes)),
      ],
    },
  ]
}

function removePages(run: number, keys: readonly Uint8Array[]): Query {
  return {
    text: 'delete from word_page where run = $1 and key = any($2::bytea[])',
    values: [run, keys.map((key) => Buffer.from(key))],
  }
}

function writeRuns(runs: readonly Run[]): Query {
  return { text: 'update word_runs set runs = $1 where one = 1', values: [JSON.stringify(runs)] }
}

function writeBlock(id: SessionId, number: number, { entries, lengths }: Block): Query {
  return {
    text: `insert into passage_block (session, number, entries, lengths) values ($1, $2, $3, $4)
      on conflict (session, number) do update
      set entries = excluded.entries, lengths = excluded.lengths`,
    values: [toText(id), number, Buffer.from(entries), Buffer.from(lengths)],
  }
}

/** A session as the index needs it. */
const SESSION = (id: SessionId): Query => ({
  text: `select n, agent, scope, indexed.state,
      exists (select from unindexed where unindexed.session = session.id) as marked
    from session left join indexed on indexed.session = session.id where id = $1`,
  values: [toText(id)],
})

/** The sums in which a session is counted. */
const TOTALS = (id: SessionId): Query => ({
  text: `select word_total.agent, word_total.scope, totals from session join word_total
      on word_total.agent in ('', session.agent) and word_total.scope in ('', session.scope)
    where session.id = $1`,
  values: [toText(id)],
})

interface IndexedSession {
  readonly id: SessionId
  readonly row: Columns
  readonly totals: readonly Columns[]
}

function writeState(
  { id, row, totals }: IndexedSession,
  before: IndexState,
  state: IndexState,
): readonly Query[] {
  const sums = totalsOf(row['agent'] as string, row['scope'] as string).map(([agent, scope]) => {
    const known = totals.find((each) => each['agent'] === agent && each['scope'] === scope)
    const next = totalsAfter(decodeTotals(known), before, state)
    return { agent, scope, totals: packTotals(next) }
  })
  return [
    {
      text: `insert into indexed (session, upto, state) values ($1, $2, $3)
        on conflict (session) do update set upto = excluded.upto, state = excluded.state`,
      values: [toText(id), state.upto, packState(state)],
    },
    {
      text: `insert into word_total (agent, scope, totals)
        select * from unnest($1::text[], $2::text[], $3::text[])
        on conflict (agent, scope) do update set totals = excluded.totals`,
      values: [
        sums.map(({ agent }) => agent),
        sums.map(({ scope }) => scope),
        sums.map((each) => each.totals),
      ],
    },
  ]
}

export function decodeTotals(row: Columns | undefined): IndexTotals {
  return row === undefined ? NO_TOTALS : unpackTotals(row['totals'] as string)
}

/**
 * Removes entries from the index in the transaction that removes their texts. The lock comes first:
 * a process that is indexing the entry finishes before its words are removed, and later ones find
 * no text.
 */
export async function unindexInPostgres(
  loan: LoanedClient,
  sessionId: SessionId,
  numbers: readonly number[],
): Promise<void> {
  const id = toText(sessionId)
  const [[lock] = [], [session] = [], totals = [], found = [], rows = []] = await loan.send([
    { text: LOCK },
    SESSION(sessionId),
    TOTALS(sessionId),
    {
      text: `select number - ${AFTER} as number, kind, body from entry
        where session = $1 and number = any($2)`,
      values: [id, numbers],
    },
    { text: BLOCKS, values: [[id], 0] },
  ])
  if (lock === undefined || session === undefined) return
  const state = decodeState(session['state'])
  const entries = found.map(
    ({ number, kind, body }) =>
      ({ number, kind, body: body === null ? null : fromText(body as string) }) as ErasedEntry,
  )
  const indexed = entries.filter(({ number }) => number <= state.upto)
  if (indexed.length === 0) return
  const blocks = rows.map(decodeBlock)
  const erasure = planErasure(state, indexed, {
    block: (number) => blocks[number] ?? EMPTY_BLOCK,
    firstSlot: (number) =>
      blocks.slice(0, number).reduce((sum, { lengths }) => sum + lengths.length / 2, 0),
  })
  const runs = runIds(JSON.parse(lock['runs'] as string) as readonly Run[])
  await erasePages(loan, session['n'] as number, runs, erasure)
  await loan.send([
    ...[...erasure.blocks].map(([number, block]) => writeBlock(sessionId, number, block)),
    ...writeState({ id: sessionId, row: session, totals }, state, erasure.state),
  ])
}

/**
 * A piece of the roots at a time: random text has a hundred thousand, and the pages of all of them in
 * one statement took longer than a statement may. Sorted, so that a page is in few pieces. A page
 * loses all erased passages at once, so a later piece leaves it as it is.
 */
async function erasePages(
  loan: LoanedClient,
  n: number,
  runs: readonly number[],
  { roots, isErased }: Erasure,
): Promise<void> {
  const keys = roots.map((root) => keyOf(root, n)).sort(compareBytes)
  for (let from = 0; from < keys.length; from += ERASED_ROOTS) {
    const piece = keys.slice(from, from + ERASED_ROOTS).map((key) => Buffer.from(key))
    // Pages join last: the same page is found for many roots.
    const text = `with touched as materialized (
        select distinct wanted.run, page.key
        from unnest($1::integer[]) as wanted(run) cross join unnest($2::bytea[]) as wished(key)
        cross join lateral (
          select each.key from word_page as each
          where each.run = wanted.run and each.key <= wished.key
          order by each.key desc limit 1
        ) as page
      )
      select run, key, lists from touched join word_page using (run, key)`
    const [rows = []] = await loan.send([{ text, values: [runs, piece] }])
    const writes = rows.flatMap((row) => {
      const left = erasedPage(row['lists'] as Uint8Array, n, isErased)
      const run = row['run'] as number
      return left === null ? [] : [removePages(run, [keyIn(row)]), ...writePages(run, left)]
    })
    if (writes.length > 0) await loan.send(writes)
  }
}
