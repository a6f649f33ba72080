import { entryNumber, mailNumber } from '../../base/ids.ts'
import { REWRITES_MAX } from '../bounds.ts'
import type { CreateSession } from '../commits.ts'
import { canonicalJson, sha256 } from '../integrity/canonical.ts'
import { firstHash, hashTitle } from '../integrity/chain.ts'
import { checkName } from '../measure.ts'
import type { MailRow, RouteRow, SessionRow } from '../tables/rows.ts'
import { hashKey } from './admit.ts'
import type { AuditDraft, Rule, Stamp, StoreChange } from './ruling.ts'
import { checkLimits } from './settings.ts'

/** Only createSession, startAfresh, fork and import make sessions (I30). */
export const createSession: Rule<'createSession'> = (rows, request, stamp) => {
  checkName(request.id, 'A session')
  const refused = checkLimits(request.limits)
  if (refused !== null) return { outcome: refused }
  if (rows.session(request.id) !== undefined) return { outcome: { kind: 'exists' } }
  const taken = request.route && rows.route(request.route)
  if (taken !== undefined) {
    return { outcome: { kind: 'route-taken', sessionId: taken.sessionId } }
  }
  const { route, scope } = request
  if (scope !== undefined) checkName(scope, 'A scope')
  const session = newSession(request, 'created', stamp)
  return {
    outcome: { kind: 'created', session },
    change: {
      sessions: [{ before: null, after: session }],
      routes: route === undefined ? [] : [{ ...route, sessionId: session.id, version: 1 }],
      audit: [creationLine(session, request.operation)],
    },
  }
}

/**
 * `/new`: one key makes at most one session. The route is re-pointed by compare-and-set; the old
 * session keeps its id, its mail and its compaction, and gets a stop for the turn it is in.
 */
export const startAfresh: Rule<'startAfresh'> = (rows, request, stamp) => {
  const { source, key, route, version, id } = request
  const keyHash = hashKey(source, key)
  const bodyHash = sha256(canonicalJson([keyHash, 'start afresh', { ...route }]))
  const known = rows.intake(keyHash)
  if (known !== undefined) {
    if (known.bodyHash !== bodyHash) return { outcome: { kind: 'conflict' } }
    return { outcome: { kind: 'duplicate', sessionId: known.sessionId } }
  }
  const refused = checkLimits(request.limits)
  if (refused !== null) return { outcome: refused }
  checkName(id, 'A session')
  if (rows.session(id) !== undefined) return { outcome: { kind: 'exists' } }
  const present = rows.route(route)
  if ((present?.version ?? 0) !== version) {
    return { outcome: { kind: 'route-changed', version: present?.version ?? 0 } }
  }

  const old = present && rows.session(present.sessionId)
  // The same people use the route, so the new session shares their notes.
  const born = { ...request, agent: route.agent, ...(old && { scope: old.scope }) }
  const session = newSession(born, 'afresh', stamp)
  const birth: StoreChange = {
    sessions: [{ before: null, after: session }],
    routes: [{ ...route, sessionId: id, version: version + 1 }],
    intake: [{ keyHash, bodyHash, sessionId: id, number: mailNumber(0) }],
    audit: [creationLine(session, request.operation)],
  }
  return {
    outcome: { kind: 'started', sessionId: id, left: old?.id ?? null },
    change: old?.state === 'open' ? withStop(birth, old, stamp) : birth,
  }
}

function withStop(birth: StoreChange, old: SessionRow, stamp: Stamp): StoreChange {
  if (old.turnState !== 'running') return birth
  const number = mailNumber(old.mail + 1)
  const mail: MailRow = {
    number,
    lane: 'control',
    control: 'stop',
    source: null,
    key: null,
    body: canonicalJson({ reason: 'start afresh' }),
    tokens: 0,
    state: 'admitted',
    turnAt: old.turn,
    blobs: [],
    at: stamp.at,
  }
  const after = {
    ...old,
    mail: number,
    pending: { ...old.pending, control: old.pending.control + 1 },
  }
  const facts = { mail: number, lane: 'control', tokens: 0 }
  const line: AuditDraft = {
    sessionId: old.id,
    kind: 'message admitted',
    operation: null,
    phase: null,
    facts,
  }
  return {
    ...birth,
    sessions: [...(birth.sessions ?? []), { before: old, after }],
    mail: [{ sessionId: old.id, mail }],
    audit: [...(birth.audit ?? []), line],
  }
}

export const pointRoute: Rule<'pointRoute'> = (rows, { route, sessionId, version }) => {
  const session = rows.session(sessionId)
  if (session?.state !== 'open') return { outcome: { kind: 'gone' } }
  const present = rows.route(route)?.version ?? 0
  if (present !== version) return { outcome: { kind: 'route-changed', version: present } }
  const after: RouteRow = { ...route, sessionId, version: version + 1 }
  const line: AuditDraft = {
    sessionId,
    kind: 'route pointed',
    operation: null,
    phase: null,
    facts: { ...route, version: after.version },
  }
  return {
    outcome: { kind: 'pointed', version: after.version },
    change: { routes: [after], audit: [line] },
  }
}

export function creationLine(
  session: SessionRow,
  operation: CreateSession['operation'],
): AuditDraft {
  return {
    sessionId: session.id,
    kind: 'session created',
    operation,
    phase: 'created',
    facts: {
      agent: session.agent,
      birth: session.birth,
      scope: session.scope,
      // Only an imported session has a title and an age from the start.
      ...(session.birth === 'imported' && {
        titleHash: hashTitle(session),
        createdAt: session.createdAt,
      }),
    },
  }
}

export function newSession(
  request: Pick<CreateSession, 'id' | 'agent' | 'limits' | 'policy' | 'scope'>,
  birth: SessionRow['birth'],
  stamp: Stamp,
): SessionRow {
  const none = entryNumber(0)
  const noMail = mailNumber(0)
  return {
    id: request.id,
    agent: request.agent,
    state: 'open',
    birth,
    createdAt: stamp.at,
    scope: request.scope ?? request.id,
    origin: null,
    forkedAt: none,
    root: null,
    owed: [],
    retained: none,
    fence: 0,
    runner: null,
    holder: null,
    recovered: 0,
    tail: none,
    tailHash: firstHash(request.id),
    base: none,
    seen: none,
    effective: none,
    covers: none,
    by: null,
    rewrites: 0,
    operation: null,
    turn: 0,
    turnState: 'idle',
    attempts: 0,
    losses: 0,
    openCalls: [],
    mail: noMail,
    delivered: { user: noMail, notification: noMail },
    settled: { user: noMail, notification: noMail },
    pending: { control: 0, user: 0, notification: 0 },
    replies: 0,
    policy: request.policy,
    wakeAt: null,
    limits: request.limits,
    pins: {},
    settings: none,
    tasks: none,
    title: null,
    titleSalt: null,
  }
}

/** Whether there is something to do: decision 24 without the holder and the alarm. */
export function hasWork(session: SessionRow): boolean {
  const { control, user, notification } = session.pending
  return (
    session.state === 'open' &&
    (control + user + notification > 0 ||
      session.turnState === 'running' ||
      session.operation !== null ||
      session.owed.length > 0 ||
      (session.by === 'digest' && session.rewrites < REWRITES_MAX))
  )
}
