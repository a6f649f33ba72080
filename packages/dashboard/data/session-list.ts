import { computed, signal } from '@preact/signals'
import type { AgentSummary, SessionSummary } from '../../server/src/runtime/runtime.ts'
import { readAccess } from './access.ts'
import { call, errorText, isLocked, ServerRefusal, sessionPath } from './api.ts'
import { listen } from './events.ts'

/**
 * All sessions, kept up to date: read once, page by page; after that, events name the sessions that
 * changed, and a bounded number of them is read again at a time.
 */
const PAGE = 200
const BATCH = 12
const REFRESH_MS = 200
const RETRY_MS = 2_000

export const agents = signal<readonly AgentSummary[]>([])
export const listProblem = signal<string | null>(null)
export const isListRead = signal(false)
const all = signal<ReadonlyMap<string, SessionSummary>>(new Map())
const stale = new Set<string>()
/** Sessions read individually while a page of the list was loading: that page is older. */
const fresher = new Set<string>()
let isDue = false

const newestFirst = computed<readonly SessionSummary[]>(() =>
  [...all.value.values()].sort((a, b) => b.activeAt - a.activeAt || (a.id < b.id ? -1 : 1)),
)
export const sessions = computed(() => newestFirst.value.filter(({ state }) => state !== 'gone'))
export const deletedSessions = computed(() =>
  newestFirst.value.filter(({ state }) => state === 'gone'),
)

/** A fork without a title of its own is named after the session that it began with. */
export function titleFor(session: Pick<SessionSummary, 'id' | 'title' | 'forkedFrom'>): string {
  const { id, title, forkedFrom } = session
  return title ?? (forkedFrom === null ? id : `Fork of ${titleOf(forkedFrom.sessionId)}`)
}

export function titleOf(id: string): string {
  const known = all.value.get(id)
  return known === undefined ? id : titleFor(known)
}

/** The open conversation reads its own summary; this saves a second request. */
export function noteSummary(summary: SessionSummary): void {
  fresher.add(summary.id)
  all.value = new Map(all.value).set(summary.id, summary)
}

/** Drops the title of a deleted session at once, because it repeats what was said there. */
function dropTitle(id: string): void {
  const summary = all.value.get(id)
  if (summary !== undefined) noteSummary({ ...summary, title: null, state: 'gone' })
}

export function startList(): void {
  let isFirst = true
  listen((event) => {
    if (event.type === 'caught-up' && isFirst) {
      isFirst = false
      void readAll()
    } else if (event.type === 'stored') {
      if (event.kind === 'session deleted') dropTitle(event.sessionId)
      stale.add(event.sessionId)
      refreshSoon()
    } else if (event.type === 'live' && event.kind === 'notice') {
      stale.add(event.sessionId)
      refreshSoon()
    }
  })
}

async function readAll(): Promise<void> {
  try {
    await Promise.all([readAgents(), readAccess()])
    let after: string | null = ''
    while (after !== null) {
      const from: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`
      fresher.clear()
      const page: { sessions: SessionSummary[]; next: string | null } = await call(
        `/v1/sessions?limit=${PAGE}${from}`,
      )
      const next = new Map(all.value)
      for (const each of page.sessions) if (!fresher.has(each.id)) next.set(each.id, each)
      all.value = next
      after = page.next
    }
    listProblem.value = null
    isListRead.value = true
  } catch (error) {
    listProblem.value = errorText(error)
    if (!isLocked.value) setTimeout(() => void readAll(), RETRY_MS)
  }
}

function refreshSoon(inMs = REFRESH_MS): void {
  if (isDue || isLocked.value) return
  isDue = true
  setTimeout(() => void refresh(), inMs)
}

async function refresh(): Promise<void> {
  const batch = [...stale].slice(0, BATCH)
  for (const id of batch) stale.delete(id)
  const read = await Promise.all(
    batch.map(async (id) => {
      try {
        return { id, summary: await call<SessionSummary>(sessionPath(id)) }
      } catch (error) {
        const isGone = error instanceof ServerRefusal && error.status === 404
        return { id, summary: isGone ? null : undefined }
      }
    }),
  )
  const next = new Map(all.value)
  for (const { id, summary } of read) {
    if (summary !== undefined) fresher.add(id)
    if (summary === undefined) stale.add(id)
    else if (summary === null) next.delete(id)
    else next.set(id, summary)
  }
  all.value = next
  isDue = false
  const isRefused = read.some(({ summary }) => summary === undefined)
  if (stale.size > 0) refreshSoon(isRefused ? RETRY_MS : REFRESH_MS)
}

export async function readAgents(): Promise<void> {
  agents.value = (await call<{ agents: AgentSummary[] }>('/v1/agents')).agents
}
