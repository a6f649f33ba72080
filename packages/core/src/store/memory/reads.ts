import { DAY_MS } from '../../base/clock.ts'
import type { EntryNumber, SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import { contextEntries, onPath } from '../context.ts'
import type { Readers } from '../facade.ts'
import { FOLDED_KINDS } from '../fold.ts'
import { sha256 } from '../integrity/canonical.ts'
import { keeperOf, lineOf, ownAfter } from '../lineage.ts'
import { planLook } from '../look.ts'
import { mailState } from '../mail-state.ts'
import type { AttemptGrouping, AttemptSum, SumAttempts, UsageRow } from '../operational-rows.ts'
import type { StoreFinding } from '../queries.ts'
import { hasWork } from '../rules/create-session.ts'
import type { AttemptRow, Lane, SessionRow } from '../tables/rows.ts'
import { AuditCheck } from '../verify/audit.ts'
import { ErasureRecord } from '../verify/erasures.ts'
import { keyHashOf, SessionCheck } from '../verify/session.ts'
import type { Prefix } from '../verify/transcript.ts'
import { MemorySearch } from './search.ts'
import { key, type MemoryTables } from './tables.ts'

export function memoryReads(tables: MemoryTables): Readers {
  const index = new MemorySearch(tables)
  const reads: Omit<Readers, 'look'> = {
    readStore: () => ({
      id: tables.id,
      schema: 0,
      commits: tables.audit.length,
      hash: tables.audit.at(-1)?.hash ?? sha256(tables.id),
    }),
    readSize: () => null,
    findSession: (id) => tables.session(id),
    listSessions: ({ agent, state, after = '', limit }) =>
      [...tables.sessions.values()]
        .filter((row) => row.id > after && (agent ?? row.agent) === row.agent)
        .filter((row) => (state ?? row.state) === row.state)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, Math.min(limit, LIST_MAX)),
    readReady: ({ agents, at, limit }) =>
      [...tables.sessions.values()]
        .filter((row) => agents.includes(row.agent) && row.state === 'open')
        .filter((row) => row.runner === null || !tables.runners.has(row.runner))
        .filter((row) => hasWork(row) || (row.wakeAt !== null && row.wakeAt <= at))
        .slice(0, Math.min(limit, LIST_MAX)),
    listRunners: () => [...tables.runners.values()],
    readEntries: ({ sessionId, from, to, kind }) =>
      tables
        .entriesOf(sessionId, Math.max(1, from), to)
        .filter((entry) => (kind ?? entry.kind) === entry.kind)
        .slice(0, LIST_MAX),
    readContext: ({ sessionId, upto }) => {
      const session = tables.session(sessionId)
      if (session === undefined) return null
      const entries = tables.entriesOf(sessionId)
      const last = upto ?? session.tail
      const folded = entries.filter(({ kind }) =>
        (FOLDED_KINDS as readonly string[]).includes(kind),
      )
      const context = contextEntries(session, last, {
        folded: (end) => folded.filter(({ number }) => number <= end),
        numbers: (numbers) => numbers.flatMap((number) => entries[number - 1] ?? []),
        range: (after, end) => entries.slice(after, end),
      })
      return onPath(context, folded, last)
    },
    listMail: ({ sessionId, lane, state, after = 0, limit }) => {
      const session = tables.session(sessionId)
      if (session === undefined) return []
      return (tables.mails.get(sessionId) ?? [])
        .filter((row) => row.number > after && (lane ?? row.lane) === row.lane)
        .map((row) => ({ ...row, state: mailState(session, row) }))
        .filter((row) => (state ?? row.state) === row.state)
        .slice(0, Math.min(limit, LIST_MAX))
    },
    findOperation: (id) => tables.operation(id),
    listOperations: ({ sessionId, limit }) =>
      [...tables.operations.values()]
        .filter((row) => row.sessionId === sessionId)
        .reverse()
        .slice(0, Math.min(limit, LIST_MAX)),
    listReplies: ({ sessionId, state, after = 0, limit }) =>
      [...tables.replies.values()]
        .filter((row) => (sessionId ?? row.sessionId) === row.sessionId && row.number > after)
        .filter((row) => (state ?? row.state) === row.state)
        .slice(0, Math.min(limit, LIST_MAX)),
    findRoute: (route) => tables.route(route),
    listRoutes: ({ sessionId }) =>
      [...tables.routes.values()].filter((row) => row.sessionId === sessionId),
    readAudit: ({ after, sessionId, limit }) =>
      tables.audit
        .slice(after)
        .filter((row) => (sessionId ?? row.sessionId) === row.sessionId)
        .slice(0, Math.min(limit, LIST_MAX)),
    readAttempts: ({ sessionId, modelRoute, task, since, limit }) =>
      [...tables.attempts.values()]
        .filter((row) => row.at >= since && (sessionId ?? row.sessionId) === row.sessionId)
        .filter((row) => (modelRoute ?? row.modelRoute) === row.modelRoute)
        .filter((row) => (task ?? row.task) === row.task)
        .sort((a, b) => b.at - a.at)
        .slice(0, Math.min(limit, LIST_MAX)),
    sumAttempts: (query) => sumOf(callsIn(tables, query)),
    groupAttempts: ({ by, limit, ...query }) => {
      const keyed = Map.groupBy(callsIn(tables, query), (call) => call[by])
      return [...keyed]
        .flatMap(([key, own]) => (key === null ? [] : [{ key, ...sumOf(own) }]))
        .sort((a, b) => (a.key > b.key ? -1 : 1))
        .slice(0, Math.min(limit, LIST_MAX))
        .map((group) => ({ ...group, key: String(group.key) }))
    },
    listSchedules: ({ sessionId, state, dueBy, after = '', limit }) =>
      [...tables.schedules.values()]
        .filter((row) => (sessionId ?? row.sessionId) === row.sessionId)
        .filter((row) => (state ?? row.state) === row.state)
        .filter((row) => (dueBy === undefined ? row.id > after : row.dueAt <= dueBy))
        .sort((a, b) => (dueBy === undefined ? 0 : a.dueAt - b.dueAt) || (a.id < b.id ? -1 : 1))
        .slice(0, Math.min(limit, LIST_MAX)),
    findDraft: (query) => tables.drafts.get(key(query.sessionId, query.key)),
    listNotes: ({ agent, scope, after = '', limit }) =>
      [...tables.noted.values()]
        .filter((row) => row.agent === agent && row.id > after)
        .filter((row) => (scope ?? row.scope) === row.scope)
        .sort((a, b) => ((a.id === b.id ? a.scope < b.scope : a.id < b.id) ? -1 : 1))
        .slice(0, Math.min(limit, LIST_MAX)),
    listTokens: () => [...tables.access.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    findToken: ({ hash }) => tables.tokenOf(hash),
    findBlob: ({ sessionId, hash }) => {
      const session = tables.session(sessionId)
      const line = session === undefined ? [] : lineOf(session, (id) => tables.session(id))
      const found = line.find(({ id }) => tables.blobs.has(key(id, hash)))
      const blob = found && tables.blobs.get(key(found.id, hash))
      return blob && { ...blob, sessionId }
    },
    search: (query) => index.search(query),
    readUnembedded: ({ model, limit }) => {
      const behind = [...tables.sessions.values()].flatMap((session) => {
        const known = tables.embedded(session.id)
        const after = known?.model === model ? known.upto : (ownAfter(session) as EntryNumber)
        const { id: sessionId, tail: upto } = session
        return upto > after ? [{ sessionId, after, upto }] : []
      })
      return {
        sessions: behind.toReversed().slice(0, Math.min(limit, LIST_MAX)),
        entries: behind.reduce((sum, { after, upto }) => sum + upto - after, 0),
      }
    },
    verify: ({ sessionId }) => (sessionId === null ? [] : verifyTables(tables, sessionId)),
  }
  const look: Readers['look'] = (query) => {
    const session = tables.session(query.sessionId)
    if (session === undefined) return undefined
    const { added, mail, operations } = planLook(query, session)
    const waiting = (lane: Lane) => (mail[lane] === null ? [] : reads.listMail(mail[lane]))
    return {
      session,
      added: added === null ? [] : reads.readEntries(added),
      mail: {
        control: waiting('control'),
        user: waiting('user'),
        notification: waiting('notification'),
      },
      operations: operations === null ? null : reads.listOperations(operations),
    }
  }
  return { ...reads, look }
}

type Call = AttemptSum & { readonly [Key in AttemptGrouping]: string | number | null }

/** Calls that are listed, and the sums of the others, which know neither turn, step nor hour. */
function callsIn(tables: MemoryTables, query: SumAttempts): readonly Call[] {
  const { since, isAuxiliary, turn, ...fields } = query
  const asked = Object.entries(fields) as [keyof typeof fields, unknown][]
  const isAsked = (row: AttemptRow | UsageRow) =>
    (!isAuxiliary || row.task !== 'turn') &&
    asked.every(([name, value]) => value === undefined || row[name] === value)
  const listed = [...tables.attempts.values()]
    .filter((row) => row.at >= since && (turn ?? row.turn) === row.turn && isAsked(row))
    .map((row) => ({
      ...{ ...row, session: row.sessionId, day: utcText(row.at, 10), hour: utcText(row.at, 13) },
      ...{ attempts: 1, cost: row.cost ?? 0, unpriced: row.cost === null ? 1 : 0 },
    }))
  const summed = tables.usage
    .filter((row) => row.day * DAY_MS >= since && turn === undefined && isAsked(row))
    .map((row) => ({
      ...{ ...row, session: row.sessionId, day: utcText(row.day * DAY_MS, 10) },
      ...{ turn: null, step: null, hour: null },
    }))
  return [...listed, ...summed]
}

const utcText = (at: number, characters: number) => new Date(at).toISOString().slice(0, characters)

function sumOf(calls: readonly Call[]): AttemptSum {
  const sum = (of: keyof AttemptSum) => calls.reduce((total, call) => total + call[of], 0)
  return {
    attempts: sum('attempts'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cachedTokens: sum('cachedTokens'),
    cost: sum('cost'),
    unpriced: sum('unpriced'),
  }
}

function verifyTables(tables: MemoryTables, only: SessionId | undefined): readonly StoreFinding[] {
  const sessions = [...tables.sessions.values()].filter(({ id }) => (only ?? id) === id)
  const audit = new AuditCheck(tables.id)
  for (const row of tables.audit) audit.add(row.cursor, row)
  const record = new ErasureRecord([...tables.sessions.values()])
  for (const row of tables.audit) record.addAudit(row.sessionId, row)
  for (const id of tables.sessions.keys()) {
    for (const entry of tables.ownEntries(id)) record.addEntry(id, entry)
  }
  return [
    ...sessions.flatMap((session) => verifySession(tables, session, record)),
    ...audit.end(tables.sessions.values(), only),
  ]
}

function verifySession(
  tables: MemoryTables,
  session: SessionRow,
  record: ErasureRecord,
): readonly StoreFinding[] {
  const { id } = session
  const check = new SessionCheck(session, prefixIn(tables, session))
  for (const entry of tables.ownEntries(id)) check.addEntry(entry)
  for (const mail of tables.mails.get(id) ?? []) {
    const known = tables.intakes.get(keyHashOf(mail) ?? '')
    const isOwn = known?.sessionId === id && known.number === mail.number
    check.addMail(mail, known && { bodyHash: known.bodyHash, isOwn }, true)
  }
  for (const blob of tables.blobs.values()) {
    if (blob.sessionId === id) check.addBlob(blob.hash, sha256(blob.bytes) === blob.hash)
  }
  if (session.state === 'open') {
    const line = lineOf(session, (origin) => tables.session(origin))
    for (const { number, body } of tables.entriesOf(id)) {
      const keeper = keeperOf(line, number)?.id ?? id
      if (body === null && record.isMissing({ keeper, number })) check.addUnrecorded(number)
    }
  }
  return check.end()
}

function prefixIn(tables: MemoryTables, session: SessionRow): Prefix | undefined {
  if (session.origin === null) return undefined
  const entries = tables.entriesOf(session.id, 1, session.forkedAt)
  const folded = entries.filter(({ kind }) => (FOLDED_KINDS as readonly string[]).includes(kind))
  const last = entries.at(-1)
  return { folded, hash: last?.number === session.forkedAt ? last.hash : null }
}
