import { type EntryNumber, entryNumber, type OperationId, type SessionId } from '../../base/ids.ts'
import { ERASE_MAX } from '../bounds.ts'
import type { ErasedUpTo } from '../commits.ts'
import { InvalidRequestError } from '../errors.ts'
import { compactionMetaOf } from '../fold.ts'
import { keeperOf, lineOf, ownAfter } from '../lineage.ts'
import type { CompactionMeta, Entry, EntryHead, SessionRow } from '../tables/rows.ts'
import { NO_OPERATION } from './admit.ts'
import { Draft } from './change-builder.ts'
import { inheritedClears } from './compaction.ts'
import {
  eraseFromRelated,
  goneWith,
  isRepeated,
  relatedSessions,
  taintedBy,
  together,
  UNTITLED,
  unsent,
} from './erase-related.ts'
import {
  fencedAtTail,
  type RemainingRows,
  type Rows,
  type Rule,
  type Stamp,
  type StoreChange,
  tailOf,
} from './ruling.ts'

/**
 * Erasure removes bodies, salts and search rows for good and leaves every hash, so the chain still
 * checks. A handoff that covers an erased entry may repeat it, so it is erased too; the handoff in
 * effect is replaced in the same commit, by the body of the erasure entry. Notes that may repeat
 * the entry are erased, as is the title. None of these ever repeat pins. The erasure entry also
 * names what the session owes; with no entries of its own to erase, it does only that.
 */
export const eraseEntries: Rule<'eraseEntries'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const { owed } = session
  checkCount(request.entries.length, owed.length > 0 ? 0 : 1)
  const named = new Map<EntryNumber, Entry>()
  for (const number of new Set(request.entries)) {
    if (number <= ownAfter(session)) return { outcome: elsewhere(rows, session, number) }
    const entry = rows.entry(session.id, number)
    if (entry === undefined) return { outcome: { kind: 'unknown-entry', entry: number } }
    named.set(number, entry)
  }
  const repeated = [...named.values()].filter(isRepeated)
  const handoffs = rows.handoffs(session.id)
  addTainted(rows, session, named)

  const entries = [...new Set([...named.keys(), ...owed])].sort((a, b) => a - b)
  const { effective, covers, by } = session
  const replaced = entries.includes(effective)
  const { replacement } = request
  if (replaced && replacement === undefined) {
    return { outcome: { kind: 'replacement-needed', effective } }
  }
  if (replacement !== undefined && !isSame(request.owed ?? [], owed)) {
    return { outcome: { kind: 'superseded', by: 'tail' } }
  }
  const draft = new Draft(rows, session, request.operation, stamp)
  const previous = below(rows, session, entries)
  const carries = carriedBy(rows, session, handoffs)
  const clears = inheritedClears(rows, session, covers)
  const replaces: CompactionMeta | null =
    replaced && by !== null
      ? { covers, previous, by, ...(carries.length > 0 && { carries }), ...(clears && { clears }) }
      : null
  const content = replaced ? replacement : undefined
  const number = draft.appendJson(
    { kind: 'erasure', meta: { entries, replaces } },
    { body: content?.body ?? null, tokens: content?.tokens ?? 0 },
  )
  // A title is made from messages, but which ones is not recorded.
  const title = repeated.length === 0 ? {} : UNTITLED
  const fresh = replaces === null ? {} : { effective: number }
  draft.set({ base: number, owed: [], ...title, ...fresh })
  draft.endOperation('superseded', { reason: 'entries were erased meanwhile' })
  const gone = goneWith(rows, session, [...named.values()])
  draft.dropBlobs(gone.blobs)
  draft.settleControls(request.settles ?? [])
  draft.auditOperation('entries erased', 'erased', { entries, entry: number })
  const schedulesRemoved = (request.schedules ?? []).filter(
    (id) => rows.schedule(id)?.sessionId === session.id,
  )
  const own: StoreChange = {
    ...draft.change(),
    erase: [gone.erase],
    replies: gone.replies,
    notesRemoved: gone.notes,
    schedulesRemoved,
  }
  const { operation } = request
  const related = { owner: session, entries: [...named.values()], operation, stamp }
  return {
    outcome: { kind: 'erased', tail: tailOf(draft.session), entries },
    change: together([own, ...(named.size === 0 ? [] : eraseFromRelated(rows, related))]),
  }
}

/**
 * A deleted session's transcript is closed, so no entry records this; its forks name what they
 * lost.
 */
export const eraseRetained: Rule<'eraseRetained'> = (rows, request, stamp) => {
  const { sessionId, operation } = request
  const session = rows.session(sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state === 'open') return { outcome: { kind: 'open' } }
  checkCount(request.entries.length, 1)
  const named = new Map<EntryNumber, Entry>()
  for (const number of new Set(request.entries)) {
    const entry = number <= ownAfter(session) ? undefined : rows.entry(sessionId, number)
    if (entry === undefined) return { outcome: { kind: 'unknown-entry', entry: number } }
    named.set(number, entry)
  }
  // A repeated request: the entries are erased and the audit row is written.
  if ([...named.values()].every(({ body }) => body === null)) {
    return { outcome: { kind: 'erased', entries: [...named.keys()] } }
  }
  addTainted(rows, session, named)
  const draft = new Draft(rows, session, operation, stamp)
  const gone = goneWith(rows, session, [...named.values()])
  draft.dropBlobs(gone.blobs)
  const entries = [...named.keys()].sort((a, b) => a - b)
  draft.auditOperation('entries erased', 'erased', { entries })
  const related = { owner: session, entries: [...named.values()], operation, stamp }
  return {
    outcome: { kind: 'erased', entries },
    change: together([
      { ...draft.change(), erase: [gone.erase] },
      ...eraseFromRelated(rows, related),
    ]),
  }
}

function checkCount(count: number, least: number): void {
  if (count >= least && count <= ERASE_MAX) return
  throw new InvalidRequestError({ problem: `Erase 1 to ${ERASE_MAX} entries at once.` })
}

function elsewhere(rows: Rows, session: SessionRow, entry: EntryNumber) {
  const related = new Map(relatedSessions(rows, session).map((row) => [row.id, row]))
  const line = lineOf(session, (id) => related.get(id))
  const sessionId = keeperOf(line, entry)?.id ?? session.origin ?? session.id
  return { kind: 'elsewhere', entry, sessionId } as const
}

/** Adds the handoffs that cover one of the named entries. */
function addTainted(rows: Rows, session: SessionRow, named: Map<EntryNumber, Entry>): void {
  const repeated = [...named.values()].filter(isRepeated)
  const first = Math.min(...repeated.map(({ number }) => number))
  for (const { number } of taintedBy(rows.handoffs(session.id), first)) {
    const entry = rows.entry(session.id, number)
    if (entry !== undefined) named.set(number, entry)
  }
}

function carriedBy(
  rows: Rows,
  session: SessionRow,
  handoffs: readonly EntryHead[],
): readonly number[] {
  const { effective } = session
  if (effective === 0) return []
  const head =
    handoffs.find(({ number }) => number === effective) ?? rows.entry(session.id, effective)
  return (head && compactionMetaOf(head)?.carries) ?? []
}

/** The newest handoff below the one in effect that covers no erased entry. */
function below(rows: Rows, session: SessionRow, gone: readonly EntryNumber[]): EntryNumber {
  let number = session.effective
  while (number !== 0 && gone.includes(number)) {
    const head = rows.entry(session.id, number)
    number = entryNumber((head && compactionMetaOf(head)?.previous) ?? 0)
  }
  return number
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((number, at) => number === other[at])
}

/**
 * Raises the fence, which shuts out the holder; `eraseSome` removes the rows piece by piece. Forks
 * that read its entries are deleted too or keep what they read, as the request says.
 */
export const deleteSession: Rule<'deleteSession'> = (rows, request, stamp) => {
  const session = rows.session(request.sessionId)
  if (session === undefined || session.state !== 'open') return { outcome: { kind: 'gone' } }
  const { forks = 'refuse', operation } = request
  const readers = readersOf(session.id, relatedSessions(rows, session)).filter(
    ({ state }) => state === 'open',
  )
  if (forks === 'refuse' && readers.length > 0) {
    return { outcome: { kind: 'forked', forks: readers.map(({ id }) => id) } }
  }
  const deleted = [session, ...(forks === 'purge' ? readers : [])]
  return {
    outcome: { kind: 'done', sessions: deleted.map(({ id }) => id) },
    change: together(
      deleted.map((each) =>
        deletion(rows, each, each === session ? operation : NO_OPERATION, stamp),
      ),
    ),
  }
}

function deletion(
  rows: Rows,
  session: SessionRow,
  operation: OperationId,
  stamp: Stamp,
): StoreChange {
  const draft = new Draft(rows, session, operation, stamp)
  draft.set({
    fence: session.fence + 1,
    runner: null,
    holder: null,
    state: 'erasing',
    wakeAt: null,
    owed: [],
    // Lists show the session until the last piece is erased.
    ...UNTITLED,
  })
  draft.endOperation('superseded', { reason: 'the session was deleted' })
  const facts = { fence: draft.session.fence }
  // The operation starts once: in the session that the request named.
  if (operation === NO_OPERATION) draft.audit('session deleted', facts)
  else draft.auditOperation('session deleted', 'started', facts)
  return draft.change()
}

/** All sessions that read entries of this one, directly or through another fork. */
function readersOf(id: SessionId, related: readonly SessionRow[]): readonly SessionRow[] {
  const found = new Set<SessionId>([id])
  return related.filter((row) => {
    if (row.origin === null || !found.has(row.origin)) return false
    found.add(row.id)
    return true
  })
}

/** How many of a session's entries are read by living forks, directly or through deleted ones. */
function retainedOf(id: SessionId, related: readonly SessionRow[]): EntryNumber {
  const direct = related.filter(({ origin }) => origin === id)
  const alive = direct.filter((fork) => fork.state === 'open' || retainedOf(fork.id, related) > 0)
  return entryNumber(Math.max(0, ...alive.map(({ forkedAt }) => forkedAt)))
}

const NOTHING_ERASED: ErasedUpTo = { entry: 0, mail: 0, reply: 0 }

export const eraseSome: Rule<'eraseSome'> = (rows, { sessionId, limit, after }) => {
  const session = rows.session(sessionId)
  if (session === undefined || session.state === 'open') return { outcome: { kind: 'not-deleted' } }
  const from = after ?? NOTHING_ERASED
  if (session.state === 'gone') return { outcome: { kind: 'erased', left: false, upTo: from } }
  const related = relatedSessions(rows, session)
  const retained = retainedOf(sessionId, related)
  // When nothing follows the last piece, scan once more from the start before reporting completion.
  const rest = rows.remainingRows(sessionId, limit, from, retained)
  const remaining = isEmpty(rest)
    ? rows.remainingRows(sessionId, limit, NOTHING_ERASED, retained)
    : rest
  const { entries, mail, replies, blobs, routes, schedules, notes } = remaining
  const left = !isEmpty(remaining)
  const upTo = {
    entry: entries.at(-1) ?? from.entry,
    mail: mail.at(-1) ?? from.mail,
    reply: replies.at(-1) ?? from.reply,
  }
  if (left) {
    return {
      outcome: { kind: 'erased', left, upTo },
      change: {
        replies: replies.flatMap((number) => rows.reply(sessionId, number) ?? []).map(unsent),
        erase: [{ sessionId, entries, mail, replies }],
        blobUses: blobs.map((hash) => ({ sessionId, hash, uses: 0 })),
        routesRemoved: routes,
        schedulesRemoved: schedules,
        notesRemoved: notes,
      },
    }
  }
  const ended: SessionRow = { ...session, state: 'gone', retained, pins: {}, ...UNTITLED }
  const freed = freedBy(ended, related)
  return {
    outcome: { kind: 'erased', left, upTo, ...(freed && { next: freed.id }) },
    change: {
      // Clear the title here too: an older version may have started the deletion.
      sessions: [
        { before: session, after: ended },
        ...(freed === undefined
          ? []
          : [{ before: freed, after: { ...freed, state: 'erasing' as const } }]),
      ],
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

/** The origin, if it is deleted and retains more than its remaining forks read. */
function freedBy(ended: SessionRow, related: readonly SessionRow[]): SessionRow | undefined {
  const origin = related.find(({ id }) => id === ended.origin)
  if (origin?.state !== 'gone') return undefined
  const now = related.map((row) => (row.id === ended.id ? ended : row))
  return retainedOf(origin.id, now) < origin.retained ? origin : undefined
}

function isEmpty(remaining: RemainingRows): boolean {
  return Object.values(remaining).every((rest) => rest.length === 0)
}
