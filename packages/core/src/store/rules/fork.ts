import { type EntryNumber, mailNumber } from '../../base/ids.ts'
import { limitsAt } from '../context.ts'
import { fold } from '../fold.ts'
import { canonicalJson, sha256 } from '../integrity/canonical.ts'
import { damagedEntry } from '../integrity/damaged-row.ts'
import { keeperOf, lineOf, ownAfter } from '../lineage.ts'
import { checkName } from '../measure.ts'
import type { EntryHead, SessionRow } from '../tables/rows.ts'
import { hashKey } from './admit.ts'
import { Draft } from './change-builder.ts'
import { creationLine, newSession } from './create-session.ts'
import { relatedSessions } from './erase-related.ts'
import type { Rows, Rule } from './ruling.ts'

/** The result of a call that the fork left open, as the model reads it. */
const LEFT_BEHIND = canonicalJson('The conversation was forked before this call had a result.')
const LEFT_TOKENS = 16

/**
 * A fork points to entry `at` of the session that stores it and continues in the same chain. The
 * fold brings pins, tasks, settings and the handoff; mail, replies, schedules, routes and the title
 * stay with the origin, and so does its scope: a token for the fork alone must not reach what the
 * origin's people say and note later. Calls open at `at` are closed and all input counts as seen, so a fork
 * starts idle. One key makes at most one fork.
 */
export const fork: Rule<'fork'> = (rows, request, stamp) => {
  const { id, from, at, source, key, operation } = request
  const keyHash = hashKey(source, key)
  const bodyHash = sha256(canonicalJson([keyHash, 'fork', from, at]))
  const known = rows.intake(keyHash)
  if (known !== undefined) {
    if (known.bodyHash !== bodyHash) return { outcome: { kind: 'conflict' } }
    return { outcome: { kind: 'duplicate', sessionId: known.sessionId } }
  }
  checkName(id, 'A session')
  const session = rows.session(from)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  if (!Number.isInteger(at) || at < 1 || at > session.tail) {
    return { outcome: { kind: 'unknown-entry', tail: session.tail } }
  }
  if (rows.session(id) !== undefined) return { outcome: { kind: 'exists' } }

  const born = bornAt(rows, session, { id, at }, stamp.at)
  const draft = new Draft(rows, born, operation, stamp)
  const left = openCallsIn(rows.forkPrefix(from, at).newest)
  for (const call of left) {
    const meta = { call, outcome: 'interrupted', blobs: [] } as const
    draft.append({ kind: 'result', meta }, { body: LEFT_BEHIND, tokens: LEFT_TOKENS })
  }
  const meta = { session: id, origin: born.origin ?? from, at, hash: born.tailHash, left }
  draft.append({ kind: 'arrival', meta }, { body: 'null', tokens: 0 })
  draft.set({ seen: draft.session.tail })
  const line = creationLine(draft.session, operation)
  const { origin, hash } = meta
  return {
    outcome: { kind: 'forked', session: draft.session },
    change: {
      ...draft.change(),
      sessions: [{ before: null, after: draft.session }],
      intake: [{ keyHash, bodyHash, sessionId: id, number: mailNumber(0) }],
      audit: [{ ...line, facts: { ...line.facts, origin, at, hash, entry: draft.session.tail } }],
    },
  }
}

/** The session row as of entries 1..at, before the fork's own first entry. */
function bornAt(
  rows: Rows,
  session: SessionRow,
  { id, at }: { readonly id: SessionRow['id']; readonly at: EntryNumber },
  now: number,
): SessionRow {
  const entry = rows.entry(session.id, at)
  const keeper = at > ownAfter(session) ? session : keeperAbove(rows, session, at)
  const { folded, newest } = rows.forkPrefix(session.id, at)
  const { effective, covers, by, base, pins, settings, tasks } = fold(
    folded.filter(({ number }) => number <= at),
  )
  if (entry === undefined || keeper === undefined) {
    throw damagedEntry(session.id, at, 'is missing')
  }
  const { agent, policy, root } = session
  const limits = limitsAt(folded, at) ?? session.limits
  // The handoff was erased: the fork owes a new one before a model sees the range.
  const isErased = effective !== 0 && rows.entry(session.id, effective)?.body === null
  return {
    ...newSession({ id, agent, limits, policy }, 'forked', { at: now, seed: '' }),
    ...{ origin: keeper.id, forkedAt: at, root: root ?? session.id },
    ...{ tail: at, tailHash: entry.hash, turn: turnIn(newest) },
    ...{ effective, covers, by, base, pins, settings, tasks },
    owed: isErased ? [effective] : [],
  }
}

function keeperAbove(rows: Rows, session: SessionRow, at: EntryNumber): SessionRow | undefined {
  const related = new Map(relatedSessions(rows, session).map((row) => [row.id, row]))
  return keeperOf(
    lineOf(session, (id) => related.get(id)),
    at,
  )
}

function turnIn([newest]: readonly EntryHead[]): number {
  return newest?.kind === 'assistant' || newest?.kind === 'turn' ? newest.meta.turn : 0
}

function openCallsIn([newest, ...behind]: readonly EntryHead[]): readonly string[] {
  if (newest?.kind !== 'assistant') return []
  const closed = new Set(behind.flatMap((head) => (head.kind === 'result' ? [head.meta.call] : [])))
  return newest.meta.calls.filter((call) => !closed.has(call))
}
