import { hash } from 'node:crypto'
import { z } from 'zod'
import type { SessionId } from '#core/base/ids'
import type { Runtime, Session, SessionQuery, SessionSummary } from '../../../runtime/runtime.ts'
import type { Principal } from '../access/access.ts'
import { type Endpoint, type EndpointRequest, endpoint, sessionAt } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import {
  blobHash,
  blobView,
  contextSchema,
  entryNumberText,
  foundList,
  name,
  newSessionSchema,
  pageSize,
  queryText,
  readableIdText,
  sessionIdText,
  taskList,
  transcript,
} from '../schemas.ts'
import { queriedFilters, queryFilters } from '../search-query.ts'
import { sessionList, sessionView } from '../session-schemas.ts'

/** Creates and reads sessions. */
const PAGE_MAX = 200
const PAGE = 50
const FOUND_MAX = 100
const FOUND = 10
const NEIGHBOURS_MAX = 10

export const ofSession = z.strictObject({ id: sessionIdText })
const ofReadable = z.strictObject({ id: readableIdText })

const made = z.strictObject({ sessionId: z.string() })

/** A session without an id of its own is named by the key, so that a repeat finds it. */
function idOfKey(agent: string, { source, key }: EndpointRequest['once']): string {
  const name = hash('sha256', JSON.stringify([source, key])).slice(0, 16)
  return `${agent.slice(0, 32)}-${BigInt(`0x${name}`).toString(36)}`
}

export const sessionEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/v1/sessions',
    summary: 'Make a session',
    scope: 'write',
    isWhole: true,
    body: newSessionSchema,
    isIdempotent: true,
    answers: {
      200: { description: 'Made before, with the same Idempotency-Key', schema: made },
      201: { description: 'Made', schema: made },
    },
    problems: ['session-exists', 'route-taken', 'unknown-agent', 'key-conflict'],
    async run({ body: { agent, id, route, afresh }, once }, { runtime }) {
      const created =
        afresh && route !== undefined
          ? await runtime.startAfresh({ agent, ...route, ...once })
          : await runtime.createSession({
              agent,
              id: id ?? idOfKey(agent, once),
              ...(route !== undefined && { route }),
            })
      const { kind } = created
      if (kind === 'unknown-agent') {
        throw new HttpProblem('unknown-agent', { facts: { agents: created.agents } })
      }
      const { sessionId } = created
      if (kind === 'exists' && id === undefined) {
        const reached = route && (await runtime.findRoute({ agent, ...route }))
        if (route && reached !== sessionId) throw new HttpProblem('key-conflict')
        return { status: 200, body: { sessionId } }
      }
      if (kind === 'exists') throw new HttpProblem('session-exists', { facts: { sessionId } })
      if (kind === 'route-taken') throw new HttpProblem('route-taken', { facts: { sessionId } })
      const headers = { location: `/v1/sessions/${sessionId}` }
      return { status: 201, body: { sessionId }, headers }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions',
    summary: 'List sessions, by id, or newest first with `sort`',
    scope: 'read',
    query: z.strictObject({
      agent: name.optional(),
      after: sessionIdText.optional(),
      limit: pageSize(PAGE_MAX),
      sort: z.enum(['active', 'created', 'id']).optional(),
      state: z.literal('open').optional(),
    }),
    answers: { 200: { description: 'A page; `next` continues it', schema: sessionList } },
    problems: [],
    async run(
      { query: { agent, after, limit = PAGE, sort = 'id', state }, principal },
      { runtime },
    ) {
      const asked = {
        ...(agent !== undefined && { agent }),
        ...(after !== undefined && { after }),
        ...{ limit, sort },
        ...(state !== undefined && { state }),
      }
      const sessions =
        principal.sessions === null
          ? await runtime.listSessions(asked)
          : await listAllowed(runtime, principal.sessions, asked)
      const next = sessions.length < limit ? null : (sessions.at(-1)?.id ?? null)
      return { status: 200, body: { sessions, next } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}',
    summary: 'One session',
    scope: 'read',
    params: ofSession,
    answers: { 200: { description: 'Its state and figures', schema: sessionView } },
    problems: ['unknown-session'],
    async run({ params }, edge) {
      return { status: 200, body: await findSummary(edge.runtime, params.id) }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/transcript',
    summary: 'Entries of the transcript; without `from`, the newest',
    scope: 'read',
    isLarge: true,
    params: ofReadable,
    query: z.strictObject({ from: entryNumberText.optional(), limit: pageSize(PAGE_MAX) }),
    answers: { 200: { description: 'A page; `next` continues it', schema: transcript } },
    problems: ['unknown-session'],
    async run({ params: { id }, query: { from, limit = PAGE } }, edge) {
      const readable = await findReadable(edge.runtime, id)
      const { entries: tail } = readable
      const first = from ?? Math.max(1, tail - limit + 1)
      const last = Math.min(tail, first + limit - 1)
      const entries = first > last ? [] : await readable.transcript({ from: first, to: last })
      if (entries === undefined) throw new HttpProblem('unknown-session')
      return { status: 200, body: { entries, next: last < tail ? last + 1 : null } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/context',
    summary: 'What the model sees now, or saw at a step, with the origin of each part',
    scope: 'read',
    isLarge: true,
    params: ofReadable,
    query: z.strictObject({
      at: entryNumberText.optional().meta({ description: 'The number of an assistant entry' }),
    }),
    answers: { 200: { description: 'The context', schema: contextSchema } },
    problems: ['unknown-session', 'unknown-entry'],
    async run({ params: { id }, query: { at } }, edge) {
      const readable = await findReadable(edge.runtime, id)
      if (at !== undefined && at > readable.entries) throw new HttpProblem('unknown-entry')
      const view =
        at === undefined
          ? await readable.context({})
          : await edge.runtime.session(id.sessionId).context({ at })
      if (view === undefined) throw new HttpProblem('unknown-entry')
      return { status: 200, body: view }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/tasks',
    summary: 'What the agent has to do, as a compaction carries it',
    scope: 'read',
    params: ofSession,
    answers: { 200: { description: 'The list, the finished ones too', schema: taskList } },
    problems: ['unknown-session'],
    async run({ params }, edge) {
      const list = await sessionAt(edge, params).tasks()
      if (list === undefined) throw new HttpProblem('unknown-session')
      return { status: 200, body: list }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/blobs/{hash}',
    summary: 'An image or a file that a message refers to as `blob:HASH`',
    scope: 'read',
    params: ofReadable.extend({ hash: blobHash }),
    answers: { 200: { description: 'Its type, and its bytes in base64', schema: blobView } },
    problems: ['unknown-session', 'unknown-blob'],
    async run({ params: { id, hash } }, edge) {
      await findReadable(edge.runtime, id)
      const blob = await edge.runtime.session(id.sessionId).blob(hash)
      if (blob === undefined) throw new HttpProblem('unknown-blob')
      return { status: 200, body: blob }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/search',
    summary: 'Search one session, what was compacted away included',
    scope: 'read',
    isLarge: true,
    params: ofSession,
    query: z.strictObject({
      q: queryText,
      limit: pageSize(FOUND_MAX),
      neighbours: pageSize(NEIGHBOURS_MAX),
      ...queryFilters,
    }),
    answers: { 200: { description: 'The best first', schema: foundList } },
    problems: ['unknown-session'],
    async run({ params, query: { q, limit = FOUND, neighbours = 0, ...filters } }, edge) {
      await findSummary(edge.runtime, params.id)
      const asked = { text: q, limit, neighbours, ...queriedFilters(filters) }
      return { status: 200, body: await sessionAt(edge, params).search(asked) }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/search',
    summary: 'Search all sessions, or those of one agent or of one person (`scope`)',
    scope: 'read',
    isLarge: true,
    query: z.strictObject({
      q: queryText,
      agent: name.optional(),
      scope: queryText.optional(),
      limit: pageSize(FOUND_MAX),
      ...queryFilters,
    }),
    answers: {
      200: { description: 'The best first, of all sessions together', schema: foundList },
    },
    problems: [],
    async run({ query: { q, agent, scope, limit = FOUND, ...filters }, principal }, { runtime }) {
      const body = await runtime.search({
        ...{ text: q, limit, ...queriedFilters(filters) },
        ...(agent !== undefined && { agent }),
        ...(scope !== undefined && { scope }),
        ...(principal.sessions !== null && { sessionIds: [...principal.sessions] as SessionId[] }),
      })
      return { status: 200, body }
    },
  }),
]

export async function findSummary(runtime: Runtime, id: SessionId): Promise<SessionSummary> {
  const summary = await runtime.session(id).summary()
  if (summary === undefined) throw new HttpProblem('unknown-session')
  return summary
}

/** A session, or one of its snapshots. */
async function findReadable(
  runtime: Runtime,
  { sessionId, compaction }: z.output<typeof readableIdText>,
): Promise<Pick<Session, 'transcript' | 'context'> & { readonly entries: number }> {
  const session = runtime.session(sessionId)
  const { entries } = await findSummary(runtime, sessionId)
  if (compaction === null) {
    const transcript: Session['transcript'] = (range) => session.transcript(range)
    return { entries, transcript, context: (query) => session.context(query) }
  }
  const snapshot = await session.snapshot(compaction)
  if (snapshot === undefined) throw new HttpProblem('unknown-session')
  return snapshot
}

/** The sessions that a limited token may list. */
async function listAllowed(
  runtime: Runtime,
  allowed: NonNullable<Principal['sessions']>,
  query: SessionQuery,
): Promise<readonly SessionSummary[]> {
  const { sort = 'id', after, limit } = query
  const ids = [...allowed].sort()
  const all = await Promise.all(ids.map((id) => runtime.session(id as SessionId).summary()))
  const known = all
    .filter((summary) => summary !== undefined)
    .filter(({ agent }) => query.agent === undefined || agent === query.agent)
    .filter(({ state, id }) => query.state === undefined || state !== 'gone' || id === after)
  if (sort === 'id') return known.filter(({ id }) => id > (after ?? '')).slice(0, limit)
  const timeOf = (summary: SessionSummary) =>
    sort === 'active' ? summary.activeAt : summary.createdAt
  const newest = known.toSorted((a, b) => timeOf(b) - timeOf(a))
  const from = newest.findIndex(({ id }) => id === after) + 1
  return newest.slice(from, from + limit)
}
