import { type EntryNumber, entryNumber, type MailNumber, mailNumber } from '../../base/ids.ts'
import { ERASE_MAX } from '../bounds.ts'
import { InvalidRequestError } from '../errors.ts'
import { handoffOf } from '../fold.ts'
import type { CompactionMeta, EntryHead } from '../rows.ts'
import { Draft } from './draft.ts'
import { fencedAtTail, type Rule, tailOf } from './ruling.ts'

/**
 * Erasure takes bodies, salts and search rows away for good and leaves every hash, so the chain
 * still checks. A handoff that covers an erased entry may repeat it, so each of those is erased
 * too, and the one in effect must be replaced in the same commit: by the body of the erasure entry.
 */
export const eraseEntries: Rule<'eraseEntries'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  if (request.entries.length === 0 || request.entries.length > ERASE_MAX) {
    throw new InvalidRequestError({ problem: `An erasure takes 1 to ${ERASE_MAX} entries.` })
  }
  const named = new Map<EntryNumber, EntryHead>()
  for (const number of request.entries) {
    const entry = rows.entry(session.id, number)
    if (entry === undefined) return { outcome: { kind: 'unknown-entry', entry: number } }
    named.set(number, entry)
  }
  const first = entryNumber(Math.min(...request.entries))
  const handoffs = rows.handoffs(session.id)
  const tainted = handoffs.filter((head) => (handoffOf(head)?.covers ?? 0) >= first)
  for (const head of tainted) named.set(head.number, head)

  const replaced = named.has(session.effective)
  if (replaced && request.replacement === undefined) {
    return { outcome: { kind: 'replacement-needed', effective: session.effective } }
  }
  const draft = new Draft(rows, session, request.operation, stamp)
  const entries = [...named.keys()].sort((a, b) => a - b)
  const previous = below(session.effective, named)
  const replaces: CompactionMeta | null =
    replaced && session.by !== null ? { covers: session.covers, previous, by: session.by } : null
  const content = replaced ? request.replacement : undefined
  const number = draft.appendJson(
    { kind: 'erasure', meta: { entries, replaces } },
    { body: content?.body ?? null, tokens: content?.tokens ?? 0 },
  )
  draft.set({ base: number, ...(replaces === null ? {} : { effective: number }) })
  draft.endOperation('superseded', { reason: 'entries were erased meanwhile' })
  const heads = [...named.values()]
  draft.dropBlobs(heads.flatMap(blobsOf))
  draft.erase({
    sessionId: session.id,
    entries,
    mail: heads.flatMap(mailOf),
    replies: entries.flatMap((entry) => rows.repliesOf(session.id, entry)).map((row) => row.number),
  })
  draft.auditOperation('entries erased', 'erased', { entries, entry: number })
  return {
    outcome: { kind: 'erased', tail: tailOf(draft.session), entries },
    change: draft.change(),
  }
}

/** The newest handoff under the one in effect that tells of nothing erased. */
function below(effective: EntryNumber, gone: ReadonlyMap<EntryNumber, EntryHead>): EntryNumber {
  let number = effective
  while (number !== 0 && gone.has(number)) {
    const head = gone.get(number)
    number = entryNumber((head && handoffOf(head)?.previous) ?? 0)
  }
  return number
}

function blobsOf(head: EntryHead): readonly string[] {
  return head.kind === 'input' || head.kind === 'assistant' || head.kind === 'result'
    ? head.meta.blobs
    : []
}

function mailOf(head: EntryHead): readonly MailNumber[] {
  return head.kind === 'input' ? [mailNumber(head.meta.mail)] : []
}

/** Raises the fence, so that whoever held the session is out; the rest goes in pieces. */
export const deleteSession: Rule<'deleteSession'> = (rows, request, stamp) => {
  const session = rows.session(request.sessionId)
  if (session === undefined || session.state !== 'open') return { outcome: { kind: 'gone' } }
  const draft = new Draft(rows, session, request.operation, stamp)
  draft.set({
    fence: session.fence + 1,
    runner: null,
    holder: null,
    state: 'erasing',
    wakeAt: null,
  })
  draft.endOperation('superseded', { reason: 'the session was deleted' })
  draft.auditOperation('session deleted', 'started', { fence: draft.session.fence })
  return { outcome: { kind: 'done' }, change: draft.change() }
}

export const eraseSome: Rule<'eraseSome'> = (rows, { sessionId, limit }) => {
  const session = rows.session(sessionId)
  if (session === undefined || session.state === 'open') return { outcome: { kind: 'not-deleted' } }
  if (session.state === 'gone') return { outcome: { kind: 'erased', left: false } }
  const { entries, mail, replies, blobs, routes } = rows.remains(sessionId, limit)
  const left = entries.length + mail.length + replies.length + blobs.length + routes.length > 0
  if (left) {
    return {
      outcome: { kind: 'erased', left },
      change: {
        erase: { sessionId, entries, mail, replies },
        blobUses: blobs.map((hash) => ({ sessionId, hash, uses: 0 })),
        routesRemoved: routes,
      },
    }
  }
  return {
    outcome: { kind: 'erased', left },
    change: {
      sessions: [{ before: session, after: { ...session, state: 'gone', pins: {} } }],
      audit: [
        {
          sessionId,
          kind: 'session deleted',
          operation: null,
          phase: null,
          facts: { state: 'gone' },
        },
      ],
    },
  }
}
