import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import { REWRITES_MAX } from '../bounds.ts'
import { compactionMetaOf } from '../fold.ts'
import type {
  Clears,
  CompactionBy,
  CompactionMeta,
  OperationRow,
  SessionRow,
} from '../tables/rows.ts'
import { Draft } from './change-builder.ts'
import { cannotCarry, carriesAnswered } from './open-inputs.ts'
import { fencedAtTail, fencedSession, type Rows, type Rule, tailOf } from './ruling.ts'

/**
 * One compaction in flight per session (I6): the session row names it. A second claim joins it,
 * unless the one in flight gives way: a rewrite yields to anything, and a model's compaction yields
 * to a digest, because a turn waits for it. A compaction covers only entries that a model has seen
 * verbatim (decision 3); a clearing does not extend the covered range.
 */
export const claimCompaction: Rule<'claimCompaction'> = (rows, request, stamp) => {
  const session = fencedSession(rows, request.lease)
  if ('kind' in session) return { outcome: session }
  const running = session.operation === null ? undefined : rows.operation(session.operation)
  const givesWay =
    (running?.by === 'rewrite' && request.by !== 'rewrite') ||
    (running?.by === 'model' && request.by === 'digest')
  if (running !== undefined && !givesWay) {
    return { outcome: { kind: 'joined', operation: running } }
  }

  // Another session erased entries since the holder last read: it must write its erasure entry
  // first.
  if (session.owed.length > 0) return { outcome: { kind: 'superseded', by: 'tail' } }
  const rewrite = request.by === 'rewrite'
  if (request.covers > session.seen) return { outcome: { kind: 'unseen', seen: session.seen } }
  if (rewrite && session.by !== 'digest') return { outcome: { kind: 'no-digest' } }
  if (rewrite && session.rewrites >= REWRITES_MAX) {
    return { outcome: { kind: 'tries-used', tries: session.rewrites } }
  }
  const isSame = request.covers === session.covers
  const grows = KEEPS_RANGE.includes(request.by)
    ? isSame
    : request.covers > session.covers || (isSame && carriesAnswered(rows, session))
  if (!grows) return { outcome: { kind: 'covered', covers: session.covers } }

  const draft = new Draft(rows, session, request.operation, stamp)
  if (givesWay) draft.endOperation('superseded', { reason: 'another compaction was claimed' })
  const { lease, covers, by, trigger, reason } = request
  const operation: OperationRow = {
    id: request.operation,
    sessionId: session.id,
    by,
    trigger,
    reason,
    requestedBy: request.requestedBy ?? null,
    fence: lease.fence,
    base: session.base,
    covers,
    previous: rewrite ? belowEffective(rows, session) : session.effective,
    state: 'running',
    result: {},
    startedAt: stamp.at,
    endedAt: null,
  }
  draft.put(operation)
  draft.set({
    operation: operation.id,
    rewrites: rewrite ? session.rewrites + 1 : session.rewrites,
  })
  const facts = { fence: lease.fence, base: session.base, covers, by, trigger, reason }
  draft.auditOperation('compaction started', 'started', facts)
  return { outcome: { kind: 'claimed', operation }, change: draft.change() }
}

/** Compactions of these kinds cover the same range as the one they replace. */
const KEEPS_RANGE: readonly CompactionBy[] = ['rewrite', 'clearing']

/** A rewrite replaces the digest, so it has the same base. */
function belowEffective(rows: Rows, session: SessionRow): EntryNumber {
  return entryNumber(effectiveMeta(rows, session)?.previous ?? 0)
}

function effectiveMeta(rows: Rows, session: SessionRow): CompactionMeta | undefined {
  const entry = session.effective === 0 ? undefined : rows.entry(session.id, session.effective)
  return entry && compactionMetaOf(entry)
}

/** A result that was cleared stays so, or contexts would grow behind a later handoff. */
export function inheritedClears(
  rows: Rows,
  session: SessionRow,
  covers: number,
): Clears | undefined {
  const clears = effectiveMeta(rows, session)?.clears
  return clears !== undefined && clears.upto > covers ? clears : undefined
}

/**
 * Fenced by the base: if the base of the context has changed, the text no longer fits and is
 * dropped.
 */
export const commitCompaction: Rule<'commitCompaction'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const operation = rows.operation(request.operation)
  if (operation === undefined || operation.sessionId !== session.id) {
    return { outcome: { kind: 'ended', state: 'abandoned' } }
  }
  const current =
    operation.state === 'running' &&
    session.operation === operation.id &&
    operation.fence === session.fence &&
    operation.base === session.base &&
    session.owed.length === 0 &&
    operation.covers <= session.seen
  if (!current) {
    const state = operation.state === 'running' ? 'superseded' : operation.state
    return { outcome: { kind: 'ended', state } }
  }

  const { covers, previous, by } = operation
  const { carries = [] } = request
  const isClearing = by === 'clearing'
  const clears = isClearing ? request.clears : inheritedClears(rows, session, covers)
  if ((clears?.upto ?? 0) > session.seen) {
    return { outcome: { kind: 'unseen', seen: session.seen } }
  }
  const refused = cannotCarry(rows, session, covers, carries)
  if (refused !== null) return { outcome: { kind: refused.why, entry: refused.entry } }

  const draft = new Draft(rows, session, request.operation, stamp)
  const meta = {
    covers,
    previous,
    by,
    ...(carries.length > 0 && { carries }),
    ...(clears && { clears }),
  }
  const entry = draft.appendJson({ kind: 'compaction', meta }, request)
  const rewrites = isClearing ? session.rewrites : 0
  draft.set({ base: entry, effective: entry, covers, by, rewrites })
  draft.endOperation('committed', { ...request.result, entry, carries: carries.length })
  draft.settleControls(request.settles ?? [])
  return {
    outcome: { kind: 'committed', tail: tailOf(draft.session), entry },
    change: draft.change(),
  }
}

/** Changes nothing else (I12): the operation ends and the context stays as it was. */
export const failCompaction: Rule<'failCompaction'> = (rows, request, stamp) => {
  const operation = rows.operation(request.operation)
  const session = operation && rows.session(operation.sessionId)
  if (operation === undefined || session === undefined) {
    return { outcome: { kind: 'ended', state: 'abandoned' } }
  }
  if (operation.state !== 'running' || operation.fence !== request.fence) {
    const state = operation.state === 'running' ? 'superseded' : operation.state
    return { outcome: { kind: 'ended', state } }
  }
  const draft = new Draft(rows, session, request.operation, stamp)
  draft.endOperation(request.state, { reason: request.reason })
  const { settles = [], refused } = request
  if (refused === undefined) draft.settleControls(settles)
  else draft.refuseControls(settles, refused)
  return { outcome: { kind: 'done' }, change: draft.change() }
}

/** Undoes the newest compaction only, and only if the restored entries leave room for input. */
export const revert: Rule<'revert'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const { effective, limits } = session
  const meta = effectiveMeta(rows, session)
  if (meta === undefined || request.target !== effective) {
    return { outcome: { kind: 'not-newest', effective } }
  }
  const limit = limits.hardTokens - limits.inputTokens
  if (request.tokensAfter > limit) {
    return { outcome: { kind: 'no-room', tokensAfter: request.tokensAfter, limit } }
  }

  const draft = new Draft(rows, session, request.operation, stamp)
  let below = rows.entry(session.id, entryNumber(meta.previous))
  let belowMeta = below && compactionMetaOf(below)
  // Skip erased handoffs: they have no text to restore.
  while (belowMeta !== undefined && below?.body === null) {
    below = rows.entry(session.id, entryNumber(belowMeta.previous))
    belowMeta = below && compactionMetaOf(below)
  }
  const previous = entryNumber(belowMeta === undefined ? 0 : (below?.number ?? 0))
  const number = draft.appendJson(
    { kind: 'revert', meta: { target: request.target, previous } },
    { body: null, tokens: 0 },
  )
  draft.set({
    base: number,
    effective: previous,
    covers: entryNumber(belowMeta?.covers ?? 0),
    by: belowMeta?.by ?? null,
    rewrites: 0,
  })
  draft.endOperation('superseded', { reason: 'reverted meanwhile' })
  draft.settleControls(request.settles ?? [])
  draft.audit('compaction reverted', { target: request.target, entry: number })
  return {
    outcome: {
      kind: 'reverted',
      tail: tailOf(draft.session),
      effective: draft.session.effective,
    },
    change: draft.change(),
  }
}
