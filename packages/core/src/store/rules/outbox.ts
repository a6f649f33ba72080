import type { ReplyKey } from '../retention-commits.ts'
import type { ReplyRow } from '../tables/rows.ts'
import type { Rule } from './ruling.ts'

/**
 * Replies to an address leave in the order of their numbers. A claim names its attempt, and so does
 * settling it: a sender that lost its claim cannot settle another sender's attempt (I31).
 */
export const claimReply: Rule<'claimReply'> = (rows, { edge, claimant, at }) => {
  const waiting = rows.runner(claimant) === undefined ? undefined : rows.nextReply(edge, at)
  if (waiting === undefined) return { outcome: { kind: 'none' } }
  if (waiting.isChanged) {
    // Its words or its address are not those that the turn wrote: it is not sent to anyone.
    const { isChanged: _, ...changed } = waiting
    const dead = { ...changed, state: 'dead', claimant: null } as const
    return { outcome: { kind: 'none' }, change: { replies: [dead] } }
  }
  const reply = { ...waiting, attempt: waiting.attempt + 1, claimant }
  return { outcome: { kind: 'claimed', reply }, change: { replies: [reply] } }
}

export const settleReply: Rule<'settleReply'> = (rows, request) => {
  const { sessionId, number, attempt, claimant, result } = request
  const reply = rows.reply(sessionId, number)
  const ours =
    reply?.state === 'waiting' && reply.attempt === attempt && reply.claimant === claimant
  if (!ours) return { outcome: { kind: 'refused' } }
  const state = result.kind === 'sent' ? 'sent' : attempt >= result.attemptsMax ? 'dead' : 'waiting'
  const settled = {
    ...reply,
    state,
    claimant: null,
    receipt: result.kind === 'sent' ? result.receipt : reply.receipt,
    dueAt: result.kind === 'failed' ? result.retryAt : reply.dueAt,
  } as const
  return {
    outcome: { kind: 'settled', state },
    change: {
      replies: [settled],
      // Its draft is no longer needed.
      ...(state !== 'waiting' && {
        drafts: [{ sessionId, key: reply.key, ids: [], at: reply.at }],
      }),
      audit: [
        {
          sessionId,
          kind: 'reply settled',
          operation: null,
          phase: null,
          facts: { number, attempt, state },
        },
      ],
    },
  }
}

/**
 * A reply that was sent is no longer needed: the transcript has its answer. The last one of a
 * session stays, because the next answer may go to its address.
 */
export const dropSent: Rule<'dropSent'> = (rows, { before, limit, after }) => {
  const seen = rows.repliesAfter(after, limit)
  const old = seen.filter(({ state, at, isLast }) => state === 'sent' && at < before && !isLast)
  const last = seen.length < limit ? undefined : seen.at(-1)
  const upTo = last === undefined ? null : keyOf(last)
  const outcome = { kind: 'dropped', count: old.length, upTo } as const
  return old.length === 0 ? { outcome } : { outcome, change: { repliesRemoved: old.map(keyOf) } }
}

function keyOf({ sessionId, number }: ReplyKey): ReplyKey {
  return { sessionId, number }
}

/**
 * The addresses, each once, whose first waiting reply may have changed. A claim changes none; only
 * a claim sets a claimant.
 */
export function queuesChangedBy(
  replies: readonly ReplyRow[],
): readonly Pick<ReplyRow, 'edge' | 'sessionId' | 'address'>[] {
  const changed = replies.filter(({ claimant }) => claimant === null)
  const queueOf = ({ edge, sessionId, address }: ReplyRow) =>
    JSON.stringify([edge, sessionId, address])
  return [...new Map(changed.map((reply) => [queueOf(reply), reply])).values()]
}

export const putDraft: Rule<'putDraft'> = (rows, { sessionId, key, ids }, stamp) => {
  const session = rows.session(sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  const draft = { sessionId, key, ids: [...ids], at: stamp.at }
  return { outcome: { kind: 'done' }, change: { drafts: [draft] } }
}
