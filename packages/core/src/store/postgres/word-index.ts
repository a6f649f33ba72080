import type { SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import type { Entry } from '../rows.ts'
import { type Block, blockOf, EMPTY_BLOCK, type IndexedEntry } from '../search/blocks.ts'
import { type ErasedEntry, erasedPage, erasesMost, planErasure } from '../search/erase.ts'
import {
  dueMerge,
  type IndexState,
  indexBatch,
  NO_INDEX,
  withMerge,
} from '../search/index-state.ts'
import { type ListPage, mergePages } from '../search/lists.ts'
import type { Connections, LoanedClient, Query } from './connections/connections.ts'
import { type Columns, fromText, toText } from './tables.ts'

/**
 * The rows of the word index: each session's progress (`indexed`), lists of passages by word root
 * (`word_page`), and the lengths of passages (`passage_block`). Their content is the same on every
 * engine (search/); the server only stores and finds it. Indexing follows the appends; entries that
 * are not indexed yet are read directly, so a search is always complete.
 */
const INDEX_BATCH = 128
/** Per input of a merge, so that no transaction takes long. */
const MERGE_PAGES = 24
/** Of these sessions, from a number on. */
export const BLOCKS = `select session, entries, lengths from passage_block
  where session = any($1) and number >= $2 order by session, number`

/** A fork's own entries come after this one; its index numbers them from 1. */
const AFTER =
  '(select case when origin is null then 0 else forked_at end from session where id = $1)'

export function decodeState(state: unknown): IndexState {
  return state === null || state === '' ? NO_INDEX : (JSON.parse(state as string) as IndexState)
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
 * Indexes one batch of a session or merges a few pages. Returns whether more is left. The row in
 * `indexed` is the lock: no entry is indexed twice, or while it is being erased. If another process
 * holds it, try again later.
 */
export async function indexInPostgres(connections: Connections, id: SessionId): Promise<boolean> {
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
        text: 'select state from indexed where session = $1 for update skip locked',
        values: [id],
      },
    ])
    if (row === undefined) return true
    const state = decodeState(row['state'])
    const step = (await mergeStep(loan, id, state)) ?? (await batchStep(loan, id, state))
    if (step === null) return false
    await loan.send([...step.writes, writeState(id, step.state), { text: 'commit' }])
    ended = true
    return step.isMore
  } finally {
    if (!ended) await loan.rollback()
    loan.end()
  }
}

interface IndexStep {
  readonly state: IndexState
  readonly writes: readonly Query[]
  readonly isMore: boolean
}

async function batchStep(
  loan: LoanedClient,
  id: SessionId,
  state: IndexState,
): Promise<IndexStep | null> {
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
  if (found.length === 0) return null
  const block = last === undefined ? null : decodeBlock(last)
  const batch = indexBatch(state, block, found.map(decodeIndexed))
  return {
    state: batch.state,
    writes: [
      ...writePages(id, batch.run, batch.pages),
      ...[...batch.blocks].map(([number, each]) => writeBlock(id, number, each)),
    ],
    isMore: found.length === INDEX_BATCH || dueMerge(batch.state) !== null,
  }
}

async function mergeStep(
  loan: LoanedClient,
  id: SessionId,
  state: IndexState,
): Promise<IndexStep | null> {
  const merge = dueMerge(state)
  if (merge === null) return null
  const taken = await loan.send(
    merge.inputs.map((run) => ({
      text: `select root, lists from word_page where session = $1 and run = $2
        order by root limit ${MERGE_PAGES + 1}`,
      values: [id, run.id],
    })),
  )
  const inputs = taken.map((rows) => ({
    pages: rows.slice(0, MERGE_PAGES).map((row) => row['lists'] as Uint8Array),
    isMore: rows.length > MERGE_PAGES,
  }))
  const { merged, left } = mergePages(inputs)
  const isDone = inputs.every(({ isMore }, at) => !isMore && left[at]?.length === 0)
  return {
    state: withMerge(state, merge, isDone),
    writes: [
      ...merge.inputs.flatMap(({ id: run }, at) => [
        removePages(id, run, (taken[at] ?? []).slice(0, MERGE_PAGES).map(rootIn)),
        ...writePages(id, run, left[at] ?? []),
      ]),
      ...writePages(id, merge.output, merged),
    ],
    isMore: true,
  }
}

function rootIn(row: Columns): Uint8Array {
  return row['root'] as Uint8Array
}

function decodeIndexed({ number, kind, at, meta, body }: Columns): IndexedEntry {
  const isUser = kind === 'input' && /"lane": ?"user"/.test(String(meta))
  return {
    ...({ number, kind, at } as Pick<Entry, 'number' | 'kind' | 'at'>),
    body: body === null ? null : fromText(body as string),
    meta: { lane: isUser ? 'user' : '' },
  }
}

function writePages(id: SessionId, run: number, pages: readonly ListPage[]): readonly Query[] {
  if (pages.length === 0) return []
  return [
    {
      text: `insert into word_page (session, run, root, lists)
        select $1, $2, root, lists from unnest($3::bytea[], $4::bytea[]) as page(root, lists)`,
      values: [
        toText(id),
        run,
        pages.map(({ root }) => Buffer.from(root)),
        pages.map(({ bytes }) => Buffer.from(bytes)),
      ],
    },
  ]
}

function removePages(id: SessionId, run: number, roots: readonly Uint8Array[]): Query {
  return {
    text: 'delete from word_page where session = $1 and run = $2 and root = any($3::bytea[])',
    values: [toText(id), run, roots.map((root) => Buffer.from(root))],
  }
}

function writeBlock(id: SessionId, number: number, { entries, lengths }: Block): Query {
  return {
    text: `insert into passage_block (session, number, entries, lengths) values ($1, $2, $3, $4)
      on conflict (session, number) do update
      set entries = excluded.entries, lengths = excluded.lengths`,
    values: [toText(id), number, Buffer.from(entries), Buffer.from(lengths)],
  }
}

function writeState(id: SessionId, state: IndexState): Query {
  return {
    text: 'update indexed set upto = $2, state = $3 where session = $1',
    values: [toText(id), state.upto, JSON.stringify(state)],
  }
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
  const [, [row] = [], found = [], rows = []] = await loan.send([
    // A missing row cannot be locked: indexing would start concurrently, with the old words.
    {
      text: 'insert into indexed (session, upto) values ($1, 0) on conflict do nothing',
      values: [id],
    },
    { text: 'select state from indexed where session = $1 for update', values: [id] },
    {
      text: `select number - ${AFTER} as number, kind, body from entry
        where session = $1 and number = any($2)`,
      values: [id, numbers],
    },
    { text: BLOCKS, values: [[id], 0] },
  ])
  const state = decodeState(row?.['state'] ?? null)
  const entries = found.map(
    ({ number, kind, body }) =>
      ({ number, kind, body: body === null ? null : fromText(body as string) }) as ErasedEntry,
  )
  const indexed = entries.filter(({ number }) => number <= state.upto)
  if (indexed.length === 0) return
  if (erasesMost(state, indexed)) {
    await loan.send([
      { text: 'delete from word_page where session = $1', values: [id] },
      { text: 'delete from passage_block where session = $1', values: [id] },
      { text: `update indexed set upto = 0, state = '' where session = $1`, values: [id] },
    ])
    return
  }
  const blocks = rows.map(decodeBlock)
  const erasure = planErasure(state, indexed, {
    block: (number) => blocks[number] ?? EMPTY_BLOCK,
    firstSlot: (number) =>
      blocks.slice(0, number).reduce((sum, { lengths }) => sum + lengths.length / 2, 0),
  })
  for (const words of erasure.words) await erasePages(loan, sessionId, words)
  await loan.send([
    ...[...erasure.blocks].map(([number, block]) => writeBlock(sessionId, number, block)),
    writeState(sessionId, erasure.state),
  ])
}

async function erasePages(
  loan: LoanedClient,
  id: SessionId,
  { runs, roots, from, to }: ReturnType<typeof planErasure>['words'][number],
): Promise<void> {
  const [rows = []] = await loan.send([
    {
      text: `select distinct page.run, page.root, page.lists
        from unnest($2::integer[]) as wanted(run) cross join unnest($3::bytea[]) as wished(root)
        cross join lateral (
          select run, root, lists from word_page as each
          where each.session = $1 and each.run = wanted.run and each.root <= wished.root
          order by each.root desc limit 1
        ) as page`,
      values: [toText(id), runs, roots.map((root) => Buffer.from(root))],
    },
  ])
  const writes = rows.flatMap((row) => {
    const left = erasedPage(row['lists'] as Uint8Array, from, to)
    const run = row['run'] as number
    return left === null ? [] : [removePages(id, run, [rootIn(row)]), ...writePages(id, run, left)]
  })
  if (writes.length > 0) await loan.send(writes)
}
