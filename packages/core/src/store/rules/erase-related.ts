import {
  type EntryNumber,
  entryNumber,
  mailNumber,
  type OperationId,
  type SessionId,
} from '../../base/ids.ts'
import { compactionMetaOf } from '../fold.ts'
import { lineOf, ownAfter, storedRanges } from '../lineage.ts'
import type { NoteKey } from '../operational-rows.ts'
import type { Entry, EntryHead, ReplyRow, SessionRow } from '../tables/rows.ts'
import { Draft } from './change-builder.ts'
import type { Erase, Rows, Stamp, StoreChange } from './ruling.ts'

export const UNTITLED = { title: null, titleSalt: null } as const

/** All sessions that share entries with this one, itself included, origins before their forks. */
export function relatedSessions(rows: Rows, { id, root }: SessionRow): readonly SessionRow[] {
  return rows.related(root ?? id)
}

/** What is erased along with entries of one session: their mail, replies, blobs and notes. */
export interface GoneEntries {
  readonly erase: Erase
  readonly replies: readonly ReplyRow[]
  readonly blobs: readonly string[]
  readonly notes: readonly NoteKey[]
}

export function goneWith(rows: Rows, session: SessionRow, entries: readonly Entry[]): GoneEntries {
  const { id, forkedAt } = session
  const numbers = entries.map(({ number }) => number).sort((a, b) => a - b)
  const replies = numbers.flatMap((number) => rows.repliesOf(id, number))
  // An entry from another session names mail in that session's mailbox.
  const mail = entries.flatMap((head) =>
    head.kind === 'input' && head.number > forkedAt ? [mailNumber(head.meta.mail)] : [],
  )
  return {
    erase: { sessionId: id, entries: numbers, mail, replies: replies.map(({ number }) => number) },
    replies: replies.map(unsent),
    // An entry that was erased earlier has already released its blobs; releasing twice would take
    // them from other entries.
    blobs: entries.flatMap((entry) => (entry.body === null ? [] : blobsOf(entry))),
    notes: entries.filter(isRepeated).flatMap(({ number }) => rows.notesFrom(id, number)),
  }
}

/**
 * A waiting reply, claimed or not, is dead without its body, and the next one for its address may
 * go.
 */
export function unsent(reply: ReplyRow): ReplyRow {
  const isWaiting = reply.state === 'waiting'
  return { ...reply, body: null, ...(isWaiting && { state: 'dead', claimant: null }) }
}

function blobsOf(head: EntryHead): readonly string[] {
  return head.kind === 'input' || head.kind === 'assistant' || head.kind === 'result'
    ? head.meta.blobs
    : []
}

/** Handoffs, titles and notes never repeat pins. */
export function isRepeated({ kind }: EntryHead): boolean {
  return kind !== 'pin'
}

/** The session's handoffs that may repeat the entry, because they cover it. */
export function taintedBy(handoffs: readonly EntryHead[], first: number): readonly EntryHead[] {
  return handoffs.filter((head) => (compactionMetaOf(head)?.covers ?? 0) >= first)
}

/**
 * The part of an erasure that reaches other sessions: every fork that reads one of the entries,
 * every imported copy, and every handoff of theirs that covers one. All change in this commit,
 * whoever holds them, and their running compactions end, so that no work in progress restores the
 * text. Each session then owes an erasure entry, which only its holder can write.
 */
export function eraseFromRelated(
  rows: Rows,
  { owner, entries, operation, stamp }: ErasedFrom,
): readonly StoreChange[] {
  const related = relatedSessions(rows, owner)
  const byId = new Map(related.map((row) => [row.id, row]))
  const gone = new Map<SessionId, Map<EntryNumber, Entry>>([[owner.id, byNumber(entries)]])
  return related
    .filter(({ id }) => id !== owner.id)
    .flatMap((session) => {
      const own = byNumber(copiesIn(rows, session, owner, entries))
      gone.set(session.id, own)
      // Nothing is left in it, but a session that still exists may read entries through it.
      if (session.state === 'gone' && session.retained === 0) return []
      const line = lineOf(session, (id) => byId.get(id))
      const shown = storedRanges(line, 1, session.tail).flatMap(({ sessionId, from, to }) =>
        [...(gone.get(sessionId)?.values() ?? [])].filter(
          ({ number }) => number >= from && number <= to,
        ),
      )
      if (shown.length === 0) return []
      const first = Math.min(...shown.filter(isRepeated).map(({ number }) => number))
      for (const { number } of taintedBy(rows.handoffs(session.id), first)) {
        const entry = rows.entry(session.id, number)
        if (entry !== undefined) own.set(number, entry)
      }
      return [reach(rows, session, { shown, own: [...own.values()] }, { operation, stamp })]
    })
}

interface ErasedFrom {
  readonly owner: SessionRow
  /** As they were before, including the handoffs erased with them. */
  readonly entries: readonly Entry[]
  readonly operation: OperationId
  readonly stamp: Stamp
}

function byNumber(entries: readonly Entry[]): Map<EntryNumber, Entry> {
  return new Map(entries.map((entry) => [entry.number, entry]))
}

/** Only an import creates a second row of an entry, with the same number and hash. */
function copiesIn(
  rows: Rows,
  session: SessionRow,
  owner: SessionRow,
  entries: readonly Entry[],
): readonly Entry[] {
  if (session.birth !== 'imported' && owner.birth !== 'imported') return []
  return entries.flatMap(({ number, hash }) => {
    if (number <= ownAfter(session) || number > session.tail) return []
    const copy = rows.entry(session.id, number)
    return copy?.hash === hash ? [copy] : []
  })
}

function reach(
  rows: Rows,
  session: SessionRow,
  { shown, own }: { readonly shown: readonly Entry[]; readonly own: readonly Entry[] },
  { operation, stamp }: Pick<ErasedFrom, 'operation' | 'stamp'>,
): StoreChange {
  const draft = new Draft(rows, session, operation, stamp)
  const with_ = goneWith(rows, session, own)
  const entries = [...new Set([...shown, ...own].map(({ number }) => number))]
  if (session.state === 'open') {
    const owed = [...new Set([...session.owed, ...entries])].sort((a, b) => a - b)
    const title = [...shown, ...own].some(isRepeated) ? UNTITLED : {}
    draft.set({ owed: owed.map(entryNumber), ...title })
    draft.endOperation('superseded', { reason: 'entries were erased meanwhile' })
    draft.audit('entries erased', { entries: entries.sort((a, b) => a - b) })
  }
  draft.dropBlobs(with_.blobs)
  const noted = shown.filter(isRepeated).flatMap(({ number }) => rows.notesFrom(session.id, number))
  return {
    ...draft.change(),
    erase: [with_.erase],
    replies: with_.replies,
    notesRemoved: [...with_.notes, ...noted],
  }
}

/** Merges the changes into one commit. */
export function together(changes: readonly StoreChange[]): StoreChange {
  const all = <Name extends keyof StoreChange>(name: Name) =>
    changes.flatMap((change) => (change[name] as readonly unknown[] | undefined) ?? [])
  const lists = LISTS.map((name) => [name, all(name)] as const)
  const notes = all('notesRemoved') as NoteKey[]
  return {
    ...(Object.fromEntries(lists.filter(([, rows]) => rows.length > 0)) as StoreChange),
    // Each erased entry of a range finds the note that was proposed from the range.
    notesRemoved: [
      ...new Map(notes.map((key) => [`${key.agent} ${key.scope} ${key.id}`, key])).values(),
    ],
  }
}

const LISTS = [
  ...(['sessions', 'entries', 'mail', 'senders', 'operations', 'replies', 'blobUses'] as const),
  ...(['schedulesRemoved', 'erase', 'audit'] as const),
]
