import { type EntryNumber, entryNumber, type MailNumber, mailNumber } from '../../base/ids.ts'
import { ERASE_MAX } from '../bounds.ts'
import type { ErasedUpTo } from '../commits.ts'
import { InvalidRequestError } from '../errors.ts'
import { compactionMetaOf } from '../fold.ts'
import type { CompactionMeta, EntryHead, ReplyRow } from '../rows.ts'
import { Draft } from './change-builder.ts'
import { fencedAtTail, type Remains, type Rule, tailOf } from './ruling.ts'

/**
 * Erasure takes bodies, salts and search rows away for good and leaves every hash, so the chain
 * still checks. A handoff that covers an erased entry may repeat it, so each of those is erased
 * too, and the one in effect must be replaced in the same commit: by the body of the erasure entry.
 * Notes that may repeat it go, and so does the title. Pins pass through none of these.
 */
export const eraseEntries: Rule<'eraseEntries'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  if (request.entries.length === 0 || request.entries.length > ERASE_MAX) {
    throw new InvalidRequestError({ problem: `An erasure takes 1 to ${ERASE_MAX} entries.` })
  }
  const named = new Map<EntryNumber, EntryHead>()
  const blobs: string[] = []
  for (const number of new Set(request.entries)) {
    const entry = rows.entry(session.id, number)
    if (entry === undefined) return { outcome: { kind: 'unknown-entry', entry: number } }
    named.set(number, entry)
    // Erased before, it uses its files no longer: counted off twice, one would be taken from others.
    if (entry.body !== null) blobs.push(...blobsOf(entry))
  }
  const repeated = [...named.values()].filter(({ kind }) => kind !== 'pin')
  const first = Math.min(...repeated.map(({ number }) => number))
  const handoffs = rows.handoffs(session.id)
  const tainted = handoffs.filter((head) => (compactionMetaOf(head)?.covers ?? 0) >= first)
  for (const head of tainted) named.set(head.number, head)

  const replaced = named.has(session.effective)
  if (replaced && request.replacement === undefined) {
    return { outcome: { kind: 'replacement-needed', effective: session.effective } }
  }
  const draft = new Draft(rows, session, request.operation, stamp)
  const entries = [...named.keys()].sort((a, b) => a - b)
  const previous = below(session.effective, named)
  const effective = handoffs.find((head) => head.number === session.effective)
  const carries = (effective && compactionMetaOf(effective)?.carries) ?? []
  const { covers, by } = session
  const replaces: CompactionMeta | null =
    replaced && by !== null
      ? { covers, previous, by, ...(carries.length > 0 && { carries }) }
      : null
  const content = replaced ? request.replacement : undefined
  const number = draft.appendJson(
    { kind: 'erasure', meta: { entries, replaces } },
    { body: content?.body ?? null, tokens: content?.tokens ?? 0 },
  )
  // A title is made from messages, but it is unknown from which.
  const title = repeated.length === 0 ? {} : UNTITLED
  draft.set({ base: number, ...title, ...(replaces === null ? {} : { effective: number }) })
  draft.endOperation('superseded', { reason: 'entries were erased meanwhile' })
  const heads = [...named.values()]
  draft.dropBlobs(blobs)
  const replies = entries.flatMap((entry) => rows.repliesOf(session.id, entry))
  draft.erase({
    sessionId: session.id,
    entries,
    mail: heads.flatMap(mailOf),
    replies: replies.map((row) => row.number),
  })
  draft.settleControls(request.settles ?? [])
  draft.auditOperation('entries erased', 'erased', { entries, entry: number })
  const notes = repeated.flatMap(({ number: entry }) => rows.notesFrom(session.id, entry))
  // One that was proposed from a range is found by every erased entry of it.
  const notesRemoved = [
    ...new Map(notes.map((key) => [`${key.agent} ${key.scope} ${key.id}`, key])).values(),
  ]
  const schedulesRemoved = (request.schedules ?? []).filter(
    (id) => rows.schedule(id)?.sessionId === session.id,
  )
  return {
    outcome: { kind: 'erased', tail: tailOf(draft.session), entries },
    change: { ...draft.change(), replies: replies.map(unsent), notesRemoved, schedulesRemoved },
  }
}

/** Nothing is left to send: a waiting reply is dead, claimed or not, and the next of its address leads. */
function unsent(reply: ReplyRow): ReplyRow {
  const isWaiting = reply.state === 'waiting'
  return { ...reply, body: null, ...(isWaiting && { state: 'dead', claimant: null }) }
}

/** The newest handoff below the one in effect that mentions nothing erased. */
function below(effective: EntryNumber, gone: ReadonlyMap<EntryNumber, EntryHead>): EntryNumber {
  let number = effective
  while (number !== 0 && gone.has(number)) {
    const head = gone.get(number)
    number = entryNumber((head && compactionMetaOf(head)?.previous) ?? 0)
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

/** Raises the fence, so that the holder loses the session; the rest is erased in pieces. */
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
    // Lists show it until the rest is gone.
    ...UNTITLED,
  })
  draft.endOperation('superseded', { reason: 'the session was deleted' })
  draft.auditOperation('session deleted', 'started', { fence: draft.session.fence })
  return { outcome: { kind: 'done' }, change: draft.change() }
}

const UNTITLED = { title: null, titleSalt: null } as const
const NOTHING_ERASED: ErasedUpTo = { entry: 0, mail: 0, reply: 0 }

export const eraseSome: Rule<'eraseSome'> = (rows, { sessionId, limit, after }) => {
  const session = rows.session(sessionId)
  if (session === undefined || session.state === 'open') return { outcome: { kind: 'not-deleted' } }
  const from = after ?? NOTHING_ERASED
  if (session.state === 'gone') return { outcome: { kind: 'erased', left: false, upTo: from } }
  // Nothing behind the last piece: before it is called done, one look from the beginning.
  const rest = rows.remains(sessionId, limit, from)
  const remains = isEmpty(rest) ? rows.remains(sessionId, limit, NOTHING_ERASED) : rest
  const { entries, mail, replies, blobs, routes, schedules, notes } = remains
  const left = !isEmpty(remains)
  const upTo = {
    entry: entries.at(-1) ?? from.entry,
    mail: mail.at(-1) ?? from.mail,
    reply: replies.at(-1) ?? from.reply,
  }
  if (left) {
    return {
      outcome: { kind: 'erased', left, upTo },
      change: {
        erase: { sessionId, entries, mail, replies },
        blobUses: blobs.map((hash) => ({ sessionId, hash, uses: 0 })),
        routesRemoved: routes,
        schedulesRemoved: schedules,
        notesRemoved: notes,
      },
    }
  }
  return {
    outcome: { kind: 'erased', left, upTo },
    change: {
      // The title is erased here too, because an older version may have started this.
      sessions: [{ before: session, after: { ...session, state: 'gone', pins: {}, ...UNTITLED } }],
      draftsRemoved: sessionId,
      sendersRemoved: sessionId,
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

function isEmpty(remains: Remains): boolean {
  return Object.values(remains).every((rest) => rest.length === 0)
}
