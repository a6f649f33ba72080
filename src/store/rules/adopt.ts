import { mailNumber } from '../../base/ids.ts'
import { sha256 } from '../canonical.ts'
import type { AdoptSession } from '../commits.ts'
import type { IntakeRow, SessionRow } from '../rows.ts'
import { checkTranscript } from '../verify.ts'
import { hashKey, intakeHash } from './admit.ts'
import { birthLine } from './birth.ts'
import type { Rule, SenderRow } from './ruling.ts'

/**
 * A session carried over from another store keeps its id, its chain and its waiting mail; its lease
 * and its operation stay behind. A transcript that does not check is refused whole.
 */
export const adoptSession: Rule<'adoptSession'> = (rows, request, stamp) => {
  const { entries, mail, replies, blobs, operation } = request
  const session: SessionRow = {
    ...request.session,
    birth: 'imported',
    fence: request.session.fence + 1,
    runner: null,
    holder: null,
    operation: null,
    // Files of older programs know no title.
    title: request.session.title ?? null,
  }
  const sessionId = session.id
  if (rows.session(sessionId) !== undefined) return { outcome: { kind: 'exists', sessionId } }
  const [damage] = checkTranscript(session, entries)
  if (damage !== undefined) {
    const where = damage.entry === null ? '' : ` (entry ${damage.entry})`
    return { outcome: { kind: 'refused', line: 0, problem: `${damage.problem}${where}` } }
  }
  const damaged = blobs.find((blob) => sha256(blob.bytes) !== blob.hash)
  if (damaged !== undefined) {
    return { outcome: { kind: 'refused', line: 0, problem: `blob ${damaged.hash} is damaged` } }
  }
  return {
    outcome: { kind: 'imported', sessionId, entries: entries.length },
    change: {
      sessions: [{ before: null, after: session }],
      entries: entries.map((entry) => ({ sessionId, entry })),
      mail: mail.map((row) => ({ sessionId, mail: row })),
      intake: intakeOf(request).filter((row) => rows.intake(row.keyHash) === undefined),
      senders: sendersOf(request),
      replies: replies.map((reply) => ({ ...reply, sessionId, claimant: null })),
      blobs: blobs.map((blob) => ({ ...blob, sessionId, at: stamp.at })),
      audit: [birthLine(session, operation)],
    },
  }
}

function intakeOf({ session, mail }: AdoptSession): readonly IntakeRow[] {
  return mail.flatMap(({ source, key, body, lane, control, number }) => {
    if (source === null || key === null || body === null) return []
    const keyHash = hashKey(source, key)
    const bodyHash = intakeHash(keyHash, lane, control, body)
    return [{ keyHash, bodyHash, sessionId: session.id, number: mailNumber(number) }]
  })
}

function sendersOf({ session, mail }: AdoptSession): readonly SenderRow[] {
  const pending = new Map<string, number>()
  for (const { lane, number, state, source } of mail) {
    const delivered = lane === 'control' ? 0 : session.delivered[lane]
    if (state !== 'admitted' || number <= delivered || source === null) continue
    pending.set(source, (pending.get(source) ?? 0) + 1)
  }
  return [...pending].map(([source, count]) => ({ sessionId: session.id, source, pending: count }))
}
