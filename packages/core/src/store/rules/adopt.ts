import { mailNumber } from '../../base/ids.ts'
import type { AdoptSession } from '../commits.ts'
import { sha256 } from '../integrity/canonical.ts'
import { mailState } from '../mail-state.ts'
import type { IntakeRow, SessionRow } from '../rows.ts'
import { judgeInput } from '../verify/session.ts'
import { checkTranscript } from '../verify/transcript.ts'
import { hashKey, intakeHash, UNTOLD } from './admit.ts'
import { creationLine } from './create-session.ts'
import { recordedAt } from './record-entries.ts'
import type { Rule, SenderRow } from './ruling.ts'
import { checkLimits, titled } from './settings.ts'

/**
 * A session carried over from another store keeps its id, its chain and its waiting mail; its lease
 * and its operation stay behind. A transcript that does not check is refused whole.
 */
export const adoptSession: Rule<'adoptSession'> = (rows, request, stamp) => {
  const { entries, mail, replies, blobs, operation } = request
  const session: SessionRow = {
    ...request.session,
    birth: 'imported',
    // A file comes from anywhere: it joins the scope of no session that is here.
    scope: request.session.id,
    fence: request.session.fence + 1,
    runner: null,
    holder: null,
    operation: null,
    pending: pendingOf(request),
    ...titled(request.session.title, stamp),
  }
  const sessionId = session.id
  if (rows.session(sessionId) !== undefined) return { outcome: { kind: 'exists', sessionId } }
  const [damage] = checkTranscript(session, entries)
  if (damage !== undefined) {
    return { outcome: { kind: 'refused', line: 0, problem: damage.problem } }
  }
  const problem = findWrongSum(request)
  if (problem !== null) return { outcome: { kind: 'refused', line: 0, problem } }
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
      audit: [creationLine(session, operation)],
    },
  }
}

/** What no hash holds together must at least add up. */
function findWrongSum({ session, entries, mail, replies, blobs }: AdoptSession): string | null {
  const refusal = checkLimits(session.limits)
  if (refusal !== null) return 'the limits of its session leave no room for a context'
  if (session.seen > session.tail) return 'its session has seen more entries than there are'
  for (const lane of ['user', 'notification'] as const) {
    const { delivered, settled } = session
    if (settled[lane] > delivered[lane] || delivered[lane] > session.mail) {
      return `its session has delivered more of lane ${lane} than came in`
    }
  }
  // A session that is gone has left its mailbox.
  const isGapless = mail.every(({ number }, index) => number === index + 1)
  if (session.state === 'open' && (!isGapless || mail.length !== session.mail)) {
    return `expected mail 1 to ${session.mail}`
  }
  const wrong = findWrongMail(session, mail) ?? findChangedMail(entries, mail)
  if (wrong !== null) return wrong
  const calls = new Set(entries.flatMap(({ meta }) => ('calls' in meta ? meta.calls : [])))
  const stray = session.openCalls.find((call) => !calls.has(call))
  if (stray !== undefined) return `its session waits for a call that nobody made`
  let last = 0
  for (const { number, entry } of replies) {
    if (number <= last || number > session.replies) return `reply ${number} is out of its place`
    if (entry > session.tail) return `reply ${number} tells of an entry that is not there`
    last = number
  }
  const known = new Set(blobs.map(({ hash }) => hash))
  return known.size === blobs.length ? null : 'a blob stands there twice'
}

function findWrongMail(session: SessionRow, mail: AdoptSession['mail']): string | null {
  const keys = new Set<string>()
  for (const row of mail) {
    const { number, lane, control, source, key, body } = row
    if ((lane === 'control') !== (control !== null)) return `mail ${number} is in a wrong lane`
    if (body === null && mailState(session, row) === 'pending') {
      return `mail ${number} waits and says nothing`
    }
    if (source === null || key === null) continue
    const keyHash = hashKey(source, key)
    if (keys.has(keyHash)) return `mail ${number} has the key of another`
    keys.add(keyHash)
  }
  return null
}

/** What was delivered is in the chain; the mail that it was must say the same. */
function findChangedMail(
  entries: AdoptSession['entries'],
  mail: AdoptSession['mail'],
): string | null {
  const inputs = new Map(
    entries.flatMap((entry) => (entry.kind === 'input' ? [[entry.meta.mail, entry]] : [])),
  )
  for (const row of mail) {
    const problem = judgeInput(inputs.get(row.number), row)
    if (problem !== null) return `mail ${row.number} ${problem}`
  }
  return null
}

/** Counted anew: while the file was written, waiting mail may have been withdrawn. */
function pendingOf({ session, mail }: AdoptSession): SessionRow['pending'] {
  const pending = { control: 0, user: 0, notification: 0 }
  for (const row of mail) if (mailState(session, row) === 'pending') pending[row.lane] += 1
  return pending
}

function intakeOf({ session, mail, entries }: AdoptSession): readonly IntakeRow[] {
  const recorded = entries.flatMap(({ meta, number }) => {
    if (!('keyHash' in meta) || !('bodyHash' in meta)) return []
    const { keyHash, bodyHash } = meta
    if (keyHash === undefined || bodyHash === undefined) return []
    return [{ keyHash, bodyHash, sessionId: session.id, number: recordedAt(number) }]
  })
  const sent = mail.flatMap(({ source, key, body, lane, control, number }) => {
    if (source === null || key === null) return []
    const keyHash = hashKey(source, key)
    const bodyHash = body === null ? UNTOLD : intakeHash(keyHash, lane, control, body)
    return [{ keyHash, bodyHash, sessionId: session.id, number: mailNumber(number) }]
  })
  return [...sent, ...recorded]
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
