import { entryNumber, mailNumber } from '../../base/ids.ts'
import type { AdoptSession } from '../commits.ts'
import { compactionMetaOf } from '../fold.ts'
import { sha256 } from '../integrity/canonical.ts'
import { mailState } from '../mail-state.ts'
import type { BlobRow, Entry, IntakeRow, SessionRow } from '../tables/rows.ts'
import { judgeInput } from '../verify/session.ts'
import { checkTranscript } from '../verify/transcript.ts'
import { ERASED_BODY, hashKey, intakeHash } from './admit.ts'
import { creationLine } from './create-session.ts'
import { recordedAt } from './record-entries.ts'
import type { AuditDraft, Rows, Rule, SenderRow } from './ruling.ts'
import { checkLimits, titled } from './settings.ts'

/**
 * A session imported from another store keeps its id, its chain and its waiting mail, but not its
 * lease or operation. If the chain does not check, the whole file is refused.
 */
export const adoptSession: Rule<'adoptSession'> = (rows, request, stamp) => {
  const { mail, replies, blobs, operation } = request
  const { entries, owed } = withoutErased(rows, request)
  const session: SessionRow = {
    ...request.session,
    birth: 'imported',
    // A fork's file contains all entries that it reads.
    origin: null,
    retained: entryNumber(0),
    owed,
    // Files are untrusted: an imported session never joins the scope of an existing one.
    scope: request.session.id,
    fence: request.session.fence + 1,
    // No process of this store has held it: the first holder ends a turn that the file left open.
    recovered: 0,
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
  const problem = findWrongSum({ ...request, entries })
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
      blobs: blobs
        .map((blob) => ({ ...blob, uses: usesOf({ ...request, entries }, blob) }))
        .filter(({ uses }) => uses > 0)
        .map((blob) => ({ ...blob, sessionId, at: stamp.at })),
      audit: [importLine(session, entries, operation)],
    },
  }
}

/**
 * Also says what the file has erased: whatever has no text otherwise must have been erased here. The
 * entries of a deleted session are not counted.
 */
function importLine(
  session: SessionRow,
  entries: readonly Entry[],
  operation: AdoptSession['operation'],
): AuditDraft {
  const line = creationLine(session, operation)
  const { state } = session
  const emptied = state === 'open' ? entries.filter(({ body }) => body === null) : []
  const erased = emptied.map(({ number }) => number)
  return { ...line, facts: { ...line.facts, state, ...(erased.length > 0 && { erased }) } }
}

/**
 * Entries that were erased here stay erased. An entry that another session of the same chain has
 * lost is imported without its body, as is every handoff that covers one. The session then owes an
 * erasure entry for them.
 */
function withoutErased(
  rows: Rows,
  { session, entries }: AdoptSession,
): Pick<AdoptSession, 'entries'> & Pick<SessionRow, 'owed'> {
  const chain = rows.related(session.root ?? session.id).map(({ id }) => id)
  const lost = new Set(chain.length === 0 ? [] : rows.erased(chain))
  const isLost = ({ hash, body }: Entry) => body !== null && lost.has(hash)
  const first = entries.find((entry) => isLost(entry) && entry.kind !== 'pin')?.number
  const isEmptied = (entry: Entry) =>
    isLost(entry) ||
    (first !== undefined && entry.body !== null && (compactionMetaOf(entry)?.covers ?? 0) >= first)
  const emptied = entries.filter(isEmptied)
  const owed = new Set([...session.owed, ...emptied.map(({ number }) => number)])
  return {
    entries: entries.map((entry) =>
      isEmptied(entry) ? { ...entry, body: null, salt: null } : entry,
    ),
    owed: [...owed].sort((a, b) => a - b),
  }
}

/** Checks the counts that no hash covers. */
function findWrongSum({ session, entries, mail, replies, blobs }: AdoptSession): string | null {
  const refusal = checkLimits(session.limits)
  if (refusal !== null) return 'the session limits leave no room for a context'
  if (session.seen > session.tail) return 'the session claims entries that do not exist'
  for (const lane of ['user', 'notification'] as const) {
    const { delivered, settled } = session
    if (settled[lane] > delivered[lane] || delivered[lane] > session.mail) {
      return `the session claims more deliveries in lane ${lane} than it has mail`
    }
  }
  // A deleted session has no mailbox any more.
  const isGapless = mail.every(({ number }, index) => number === index + 1)
  if (session.state === 'open' && (!isGapless || mail.length !== session.mail)) {
    return `expected mail 1 to ${session.mail}`
  }
  const own = entries.filter(({ number }) => number > session.forkedAt)
  const wrong = findWrongMail(session, mail) ?? findChangedMail(own, mail)
  if (wrong !== null) return wrong
  const calls = new Set(entries.flatMap(({ meta }) => ('calls' in meta ? meta.calls : [])))
  const stray = session.openCalls.find((call) => !calls.has(call))
  if (stray !== undefined) return `the session has an open call that no entry made`
  if (!isAscending(session.owed, session.tail)) return 'the session owes erasures out of order'
  if (new Set(session.openCalls).size < session.openCalls.length) return 'a call is open twice'
  let last = 0
  for (const { number, entry } of replies) {
    if (number <= last || number > session.replies) return `reply ${number} is out of order`
    if (entry > session.tail) return `reply ${number} refers to a missing entry`
    last = number
  }
  const known = new Set(blobs.map(({ hash }) => hash))
  return known.size === blobs.length ? null : 'a blob occurs twice'
}

function isAscending(numbers: readonly number[], max: number): boolean {
  return numbers.every((number, index) => number > (numbers[index - 1] ?? 0) && number <= max)
}

function findWrongMail(session: SessionRow, mail: AdoptSession['mail']): string | null {
  const keys = new Set<string>()
  for (const row of mail) {
    const { number, lane, control, source, key, body } = row
    if ((lane === 'control') !== (control !== null)) return `mail ${number} is in the wrong lane`
    if (body === null && mailState(session, row) === 'pending') {
      return `mail ${number} is waiting but has no body`
    }
    if (source === null || key === null) continue
    const keyHash = hashKey(source, key)
    if (keys.has(keyHash)) return `mail ${number} repeats the key of another item`
    keys.add(keyHash)
  }
  return null
}

/** Delivered mail must equal its entry, which the chain protects. */
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

/**
 * Counted here: in its origin the blob may have had more uses, after the entry where this session
 * was forked or in entries that were erased here.
 */
function usesOf({ session, entries, mail }: AdoptSession, { hash }: BlobRow): number {
  const waiting = mail.filter((row) => row.body !== null && mailState(session, row) === 'pending')
  const users = [
    ...entries.flatMap(({ body, meta }) => (body !== null && 'blobs' in meta ? meta.blobs : [])),
    ...waiting.flatMap((row) => row.blobs),
  ]
  return users.filter((used) => used === hash).length
}

/** Counted again, because waiting mail may have been withdrawn during the export. */
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
    const bodyHash = body === null ? ERASED_BODY : intakeHash(keyHash, lane, control, body)
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
