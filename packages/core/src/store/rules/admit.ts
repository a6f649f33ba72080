import { mailNumber, type OperationId } from '../../base/ids.ts'
import { BLOB_BYTES_MAX, MAIL_BYTES_MAX } from '../bounds.ts'
import type { Admit } from '../commits.ts'
import { InvalidRequestError } from '../errors.ts'
import { canonicalJson, sha256 } from '../integrity/canonical.ts'
import { damagedMail } from '../integrity/damaged-row.ts'
import { mailState } from '../mail-state.ts'
import { isCount } from '../measure.ts'
import type { Lane, MailRow, SessionRow } from '../tables/rows.ts'
import { Draft } from './change-builder.ts'
import { fencedSession, type Rows, type Rule } from './ruling.ts'

/** Sources choose their own names, so the pair is encoded as JSON: no two pairs share one text. */
export function hashKey(source: string, key: string): string {
  return sha256(canonicalJson([source, key]))
}

/** Includes the key, so that equal bodies have different hashes. */
export function intakeHash(
  keyHash: string,
  lane: Lane,
  control: string | null,
  body: string,
): string {
  return sha256(canonicalJson([keyHash, lane, control, body]))
}

/**
 * The body hash of imported mail whose body was already erased: only its key identifies a repeat.
 */
export const ERASED_BODY = ''

const LANES: readonly Lane[] = ['control', 'user', 'notification']
const NAME_MAX = 512
export const NO_OPERATION = '' as OperationId

/**
 * Idempotency keys belong to the source, not the session: the key is looked up before the route, so
 * a repeat returns the original session and number wherever the route points now (I4).
 */
export const admit: Rule<'admit'> = (rows, request, stamp) => {
  if (!LANES.includes(request.lane)) {
    throw new InvalidRequestError({ problem: `There is no lane ${String(request.lane)}.` })
  }
  if ((request.lane === 'control') !== (request.control !== undefined)) {
    throw new InvalidRequestError({
      problem: '`control` is required in the control lane and not allowed elsewhere.',
    })
  }
  if (request.source.length > NAME_MAX || request.key.length > NAME_MAX) {
    throw new InvalidRequestError({
      problem: `The source and the key may have at most ${NAME_MAX} characters.`,
    })
  }
  // Refused here, because a wrong count would make every delivery fail.
  if (!isCount(request.tokens)) {
    throw new InvalidRequestError({
      problem: `tokens must be a whole number; found ${request.tokens}.`,
    })
  }
  const body = canonicalJson(request.body)
  const keyHash = hashKey(request.source, request.key)
  const bodyHash = intakeHash(keyHash, request.lane, request.control ?? null, body)

  const known = rows.intake(keyHash)
  if (known !== undefined) {
    const { sessionId, number: mail } = known
    const isOther = known.bodyHash !== bodyHash && known.bodyHash !== ERASED_BODY
    if (isOther) return { outcome: { kind: 'conflict', sessionId, mail } }
    const session = rows.session(sessionId)
    // If the item or its session is missing, `duplicate` would silently lose the message.
    const isMissing = () => session?.state === 'open' && rows.mail(sessionId, mail) === undefined
    if (mail > 0 && (session === undefined || isMissing())) {
      throw damagedMail(sessionId, mail, 'is missing, although its key was accepted')
    }
    return { outcome: { kind: 'duplicate', sessionId, mail, runner: session?.runner ?? null } }
  }

  const session = sessionFor(rows, request.to)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  const bytes = Buffer.byteLength(body)
  if (bytes > MAIL_BYTES_MAX) {
    return { outcome: { kind: 'too-large', bytes, limit: MAIL_BYTES_MAX } }
  }
  const { laneMailMax, sourceMailMax } = session.limits
  if (session.pending[request.lane] >= laneMailMax) {
    return { outcome: { kind: 'full', which: 'lane', limit: laneMailMax } }
  }
  const sent = rows.sourcePending(session.id, request.source)
  if (sent >= sourceMailMax) {
    return { outcome: { kind: 'full', which: 'source', limit: sourceMailMax } }
  }

  const draft = new Draft(rows, session, NO_OPERATION, stamp)
  const missing = draft.useBlobs(request.blobs ?? [])
  if (missing !== null) return { outcome: { kind: 'blob-missing', hash: missing } }

  const turnAt = session.turnState === 'running' ? session.turn : null
  // A stop that finds no running turn is settled at once (decision 13).
  const idle = request.control === 'stop' && turnAt === null
  const number = mailNumber(session.mail + 1)
  const mail: MailRow = {
    number,
    lane: request.lane,
    control: request.control ?? null,
    source: request.source.toWellFormed(),
    key: request.key.toWellFormed(),
    body,
    tokens: request.tokens,
    state: idle ? 'settled' : 'admitted',
    turnAt,
    blobs: request.blobs ?? [],
    at: stamp.at,
  }
  const pending = { ...session.pending }
  if (!idle) pending[request.lane] += 1
  draft.set({ mail: number, pending })
  draft.audit('message admitted', { mail: number, lane: request.lane, tokens: request.tokens })
  return {
    outcome: { kind: 'admitted', sessionId: session.id, mail: number, runner: session.runner },
    change: {
      ...draft.change(),
      mail: [{ sessionId: session.id, mail }],
      intake: [{ keyHash, bodyHash, sessionId: session.id, number }],
      senders: idle
        ? []
        : [{ sessionId: session.id, source: request.source.toWellFormed(), pending: sent + 1 }],
    },
  }
}

function sessionFor(rows: Rows, to: Admit['to']): SessionRow | undefined {
  if ('sessionId' in to) return rows.session(to.sessionId)
  const route = rows.route(to.route)
  return route && rows.session(route.sessionId)
}

export const withdraw: Rule<'withdraw'> = (rows, request, stamp) => {
  const session = rows.session(request.sessionId)
  const mail = session && rows.mail(session.id, request.mail)
  if (session === undefined || mail === undefined) return { outcome: { kind: 'unknown' } }
  const state = mailState(session, mail)
  if (session.state !== 'open' || state !== 'pending') {
    return { outcome: { kind: 'not-pending', state } }
  }
  const draft = new Draft(rows, session, NO_OPERATION, stamp)
  draft.unqueue(mail, { state: 'withdrawn' })
  draft.audit('message withdrawn', { mail: mail.number })
  return { outcome: { kind: 'withdrawn' }, change: draft.change() }
}

export const settleControl: Rule<'settleControl'> = (rows, { lease, mail, refused }, stamp) => {
  const session = fencedSession(rows, lease)
  if ('kind' in session) return { outcome: session }
  const draft = new Draft(rows, session, NO_OPERATION, stamp)
  if (refused === undefined) {
    draft.settleControls(mail)
    draft.audit('control settled', { mail: [...mail] })
  } else draft.refuseControls(mail, refused)
  return { outcome: { kind: 'done' }, change: draft.change() }
}

export const stageBlob: Rule<'stageBlob'> = (rows, { sessionId, mediaType, bytes }, stamp) => {
  const session = rows.session(sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  if (bytes.length > BLOB_BYTES_MAX) {
    return { outcome: { kind: 'too-large', bytes: bytes.length, limit: BLOB_BYTES_MAX } }
  }
  const hash = sha256(bytes)
  const outcome = { kind: 'staged', hash } as const
  // The same bytes are stored once, whether staged or in use.
  if (rows.blobUses(sessionId, hash) !== undefined) return { outcome }
  return {
    outcome,
    change: { blobs: [{ sessionId, hash, mediaType, bytes, uses: 0, at: stamp.at }] },
  }
}

export const dropStaged: Rule<'dropStaged'> = (rows, { before }) => {
  const staged = rows.stagedBefore(before)
  const blobUses = staged.map(({ sessionId, hash }) => ({ sessionId, hash, uses: 0 }))
  return { outcome: { kind: 'dropped', count: staged.length }, change: { blobUses } }
}
