import type { SessionId } from '#core/base/ids'
import type { WaitNotice } from '#core/session/events/runtime-event'
import { entryView } from '#core/session/view/transcript'
import type { Store } from '#core/store/contract'
import { DamagedRowError } from '#core/store/errors'
import { everySession } from '#core/store/every-session'
import type { ContextEntries, Search, SearchedScope } from '#core/store/queries'
import { highlightsIn } from '#core/store/search/highlights/highlights'
import { isWithin } from '#core/store/search/parts'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import { type EmbedQuestion, searchNote } from '../../tools/embedded-question.ts'
import type { FoundEntries, SearchRequest, SessionQuery, SessionSummary } from '../runtime.ts'
import type { LeftOf } from '../runtime-options.ts'
import type { SearchedSessions } from '../searched-sessions.ts'
import { modelUsageOf } from '../usage.ts'
import { summaryOf } from './views.ts'

/** The fields of a summary that are not in the session's rows. */
export interface SummaryEvidence {
  /** Why its running turn waits; undefined: it does not, or this process does not know. */
  readonly waitOf: (session: SessionRow) => Promise<WaitNotice | undefined>
  readonly leftOf: LeftOf
}

export async function listSummaries(
  store: Store,
  query: SessionQuery,
  evidence: SummaryEvidence,
): Promise<readonly SessionSummary[]> {
  const { sort = 'id', ...page } = query
  const rows = sort === 'id' ? await store.listSessions(page) : await listNewest(store, sort, page)
  return await Promise.all(rows.map((row) => readSummary(store, row, evidence)))
}

/** Reads the row and the last entry of every session, and summaries for one page only. */
async function listNewest(
  store: Store,
  sort: 'active' | 'created',
  { agent, after, limit, state }: SessionQuery,
): Promise<readonly SessionRow[]> {
  const dated: { readonly row: SessionRow; readonly at: number }[] = []
  for await (const row of everySession(store, agent === undefined ? {} : { agent })) {
    dated.push({ row, at: sort === 'created' ? row.createdAt : await activeAt(store, row) })
  }
  dated.sort((a, b) => b.at - a.at || (a.row.id < b.row.id ? -1 : 1))
  const from = dated.findIndex(({ row }) => row.id === after) + 1
  // The session to continue after may have been purged since.
  const rest = dated.slice(from).map(({ row }) => row)
  return rest.filter((row) => (state ?? row.state) === row.state).slice(0, limit)
}

async function activeAt(store: Store, { id, tail, createdAt, state }: SessionRow): Promise<number> {
  if (state === 'gone' || tail === 0) return createdAt
  try {
    const [last] = await store.readEntries({ sessionId: id, from: tail, to: tail })
    return last?.at ?? createdAt
  } catch (error) {
    // A damaged session is still listed.
    if (error instanceof DamagedRowError) return createdAt
    throw error
  }
}

export interface SearchParts {
  readonly store: Store
  readonly embedQuestion: EmbedQuestion
}

/** Ranks all sessions together. A damaged one does not hide the others; `health` reports it. */
export async function searchAll(
  parts: SearchParts,
  { agent, scope, sessionIds, ...query }: SearchRequest & SearchedSessions,
): Promise<FoundEntries> {
  const within = { ...(agent !== undefined && { agent }), ...(scope !== undefined && { scope }) }
  const sessionId = sessionIds === undefined ? within : await openOf(parts, sessionIds, within)
  return await searchEntries(parts, sessionId, { ...query, neighbours: 0 })
}

async function openOf(
  { store }: SearchParts,
  ids: readonly SessionId[],
  within: SearchedScope,
): Promise<readonly SessionId[]> {
  const rows = await Promise.all(ids.map((id) => store.findSession(id).catch(unlessDamage)))
  return rows.flatMap((row) => (row !== undefined && isWithin(within, row) ? [row.id] : []))
}

/** A damaged session must not hide the others. */
function unlessDamage(error: unknown): undefined {
  if (!(error instanceof DamagedRowError)) throw error
}

/** A session with a damaged entry is summarized from its row, so that it can still be listed and purged. */
export async function readSummary(
  store: Store,
  session: SessionRow,
  evidence: SummaryEvidence,
): Promise<SessionSummary> {
  const { id: sessionId } = session
  const { waitOf, leftOf } = evidence
  const routes = await store.listRoutes({ sessionId })
  const usage = modelUsageOf(await store.sumAttempts({ sessionId, since: 0 }))
  const summarize = async (row: SessionRow, source: ContextEntries | null) =>
    summaryOf(row, { source, routes, usage, wait: await waitOf(row), left: leftOf(sessionId) })
  try {
    const source = await store.readContext({ sessionId })
    return await summarize(source?.session ?? session, source)
  } catch (error) {
    if (error instanceof DamagedRowError) return await summarize(session, null)
    throw error
  }
}

export async function searchEntries(
  { store, embedQuestion }: SearchParts,
  sessionId: Search['sessionId'],
  query: SearchRequest & { neighbours: number },
): Promise<FoundEntries> {
  if (Array.isArray(sessionId) && sessionId.length === 0) return { found: [], total: 0 }
  const question = await embedQuestion(query)
  const answer = await store.search({
    ...{ ...query, sessionId },
    ...(question.meaning !== undefined && { meaning: question.meaning }),
  })
  const { total, pending } = answer
  const notes = [
    pending > 0 ? `${pending} entries are not indexed yet and were not searched.` : undefined,
    searchNote(question, answer),
  ].filter((note) => note !== undefined)
  const ids = new Set(answer.hits.map((hit) => hit.sessionId))
  const rows = await Promise.all([...ids].map((id) => store.findSession(id)))
  const covers = new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row.covers]])))
  const found = answer.hits.map(({ sessionId: id, excerpt, entry, before, after }) => {
    const view = (each: Entry) => entryView(each, covers.get(id) ?? 0)
    return {
      ...{ sessionId: id, excerpt, entry: view(entry) },
      highlights: highlightsIn(excerpt, query),
      before: before.map(view),
      after: after.map(view),
    }
  })
  return { found, total, ...(notes.length > 0 && { note: notes.join(' ') }) }
}
