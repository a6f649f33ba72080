import type { EntryNumber, MailNumber, SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import { onPath } from '../context.ts'
import { DamagedRowError } from '../errors.ts'
import { FOLDED_NAMES, fold } from '../fold.ts'
import { sha256 } from '../integrity/canonical.ts'
import { checkEntry, ENTRY_DAMAGE, firstHash, hashEntry } from '../integrity/chain.ts'
import { damagedColumn, damagedEntry, damagedMail, orUnreadable } from '../integrity/damaged-row.ts'
import type { ContextEntries, ListMail, ReadEntries } from '../queries.ts'
import type { AuditRow, BlobRow, Entry, MailRow, SessionRow } from '../tables/rows.ts'
import { judgeMemory, type KeyMemory } from './session.ts'

/**
 * The hash that an entry with this number must follow. An entry of another session with the same
 * number matches its own hash. Undefined: the entry before it is missing.
 */
export type HashBefore = (number: number) => string | undefined

/** `hashes`: those of the entries before the wanted ones, by number. */
export function hashBeforeIn(
  { id, root }: Pick<SessionRow, 'id' | 'root'>,
  hashes: ReadonlyMap<number, string>,
): HashBefore {
  return (number) => (number === 1 ? firstHash(root ?? id) : hashes.get(number - 1))
}

/**
 * Checks rows that an engine has read before they are used. Entries must match their hashes,
 * without a gap, up to the tail; a read that cannot return all of them throws rather than return a
 * shorter list. All arguments come from one snapshot.
 */
export function checkedEntries(
  session: SessionRow,
  { from, to }: Pick<ReadEntries, 'from' | 'to'>,
  entries: readonly Entry[],
  hashBefore: HashBefore,
): readonly Entry[] {
  const { id, tail, tailHash } = session
  const first = Math.max(1, from)
  const last = Math.min(to, tail, from + LIST_MAX - 1)
  let prevHash = hashBefore(first)
  for (const [index, entry] of entries.entries()) {
    const number = first + index
    if (number > last) throw damagedEntry(id, tail + 1, 'exists after the last one')
    if (entry.number !== number) throw damagedEntry(id, number, 'is missing')
    checkOne(id, prevHash ?? entry.prevHash, entry)
    prevHash = entry.hash
  }
  if (entries.length < last - first + 1) {
    throw damagedEntry(id, first + entries.length, 'is missing')
  }
  if (last === tail) checkTail(session, hashBefore)
  if (last === tail && prevHash !== undefined && entries.length > 0 && prevHash !== tailHash) {
    throw damagedEntry(id, tail, 'does not have the hash that its session records')
  }
  return entries
}

/** An older row of the session, put back, would cut its transcript short. */
function checkTail({ id, tail }: SessionRow, hashBefore: HashBefore): void {
  if (hashBefore(tail + 2) !== undefined) {
    throw damagedEntry(id, tail + 1, 'exists after the last one')
  }
}

/** Single entries, read without all of their neighbours. */
export function checkedSingles(
  sessionId: SessionId,
  entries: readonly Entry[],
  hashBefore: HashBefore,
): readonly Entry[] {
  for (const [index, entry] of entries.entries()) {
    const last = entries[index - 1]
    const isNext = last?.number === entry.number - 1
    const prevHash = isNext ? last?.hash : hashBefore(entry.number)
    checkOne(sessionId, prevHash ?? entry.prevHash, entry)
  }
  return entries
}

/** A context and the heads it was folded from: heads have no body, but the body's hash. */
export function checkedContext(
  context: ContextEntries,
  heads: readonly Entry[],
  upto: EntryNumber,
  hashBefore: HashBefore,
): ContextEntries {
  const { session, covers, entries } = context
  const { id } = session
  for (const head of heads) {
    if (orUnreadable(() => hashEntry(head.prevHash, head, head.bodyHash)) === head.hash) continue
    throw damagedEntry(id, head.number, ENTRY_DAMAGE.head)
  }
  const state = fold(heads.filter(({ number }) => number <= upto))
  if (upto === session.tail) {
    const wrong = FOLDED_NAMES.find((name) => state[name] !== session[name])
    if (wrong !== undefined) throw damagedColumn(id, wrong, 'does not agree with its entries')
    checkTail(session, hashBefore)
  }
  const early = entries.filter(({ number }) => number <= covers)
  const pins = Object.values(state.pins).map((pin) => pin.entry)
  const wanted = [state.effective, state.settings, state.tasks, ...pins, ...state.carries]
  const missing = wanted.find(
    (number) => number !== 0 && number <= covers && !early.some((entry) => entry.number === number),
  )
  if (missing !== undefined) throw damagedEntry(id, missing, 'is missing')
  checkedSingles(id, early, hashBefore)
  checkSpan(session, entries.slice(early.length), { after: covers, upto, hashBefore })
  return onPath(context, heads, upto)
}

/** The part of a context after its handoff may be longer than one page. */
function checkSpan(
  session: SessionRow,
  entries: readonly Entry[],
  { after, upto, hashBefore }: { after: EntryNumber; upto: EntryNumber; hashBefore: HashBefore },
): void {
  const last = Math.min(upto, session.tail)
  for (let from = after + 1; from <= last; from += LIST_MAX) {
    const to = Math.min(last, from + LIST_MAX - 1)
    const page = entries.slice(from - after - 1, to - after)
    const before: HashBefore = (number) =>
      number === from && from > after + 1 ? entries[from - after - 2]?.hash : hashBefore(number)
    checkedEntries(session, { from: from as EntryNumber, to: to as EntryNumber }, page, before)
  }
}

/**
 * Checks that mail is complete as far as the session's counters can tell: every number up to the
 * last if nothing was filtered out, and the pending count if only pending mail was requested.
 */
export function checkedMail<Mail extends Pick<MailRow, 'number'>>(
  session: SessionRow,
  { lane, state, after = 0 as MailNumber, limit }: ListMail,
  mail: readonly Mail[],
): readonly Mail[] {
  const { id } = session
  if (session.state !== 'open') return mail
  const most = Math.min(limit, LIST_MAX)
  if (lane === undefined && state === undefined) {
    const wanted = Math.min(most, Math.max(0, session.mail - after))
    const gap = mail.findIndex(({ number }, index) => number !== after + index + 1)
    const found = gap === -1 ? mail.length : gap
    if (found < wanted) throw damagedMail(id, after + found + 1, 'is missing')
    if (mail.length > wanted) throw damagedMail(id, session.mail + 1, 'exists after the last one')
  } else if (lane !== undefined && state === 'pending') {
    const isFromStart = after <= (lane === 'control' ? 0 : session.delivered[lane])
    if (isFromStart && mail.length !== Math.min(most, session.pending[lane])) {
      throw damagedColumn(
        id,
        'pending',
        `counts ${session.pending[lane]} of lane ${lane}, and ${mail.length} are there`,
      )
    }
  }
  return mail
}

export function checkedBlob(blob: BlobRow): BlobRow {
  const { sessionId, hash, bytes } = blob
  if (sha256(bytes) === hash) return blob
  const row = `blob ${hash} of session ${sessionId}`
  throw new DamagedRowError({ row, sessionId, problem: 'has bytes that do not match its hash' })
}

/** A body must reach a model only if it matches the key and the hash that were admitted. */
export function checkMemory(
  session: SessionRow,
  mail: MailRow,
  memory: KeyMemory | undefined,
): MailRow {
  const problem = orUnreadable(() => judgeMemory(session, mail, memory) ?? '') ?? 'cannot be read'
  if (problem !== '') throw damagedMail(session.id, mail.number, problem)
  return mail
}

function checkOne(sessionId: SessionId, prevHash: string, entry: Entry): void {
  const damage = orUnreadable(() => checkEntry(prevHash, entry) ?? '') ?? 'head'
  if (damage !== '') throw damagedEntry(sessionId, entry.number, ENTRY_DAMAGE[damage])
}

/** Without this check, reading a damaged audit page by page would never end. */
export function checkedAudit<Row extends Pick<AuditRow, 'cursor'>>(
  rows: readonly Row[],
  after: number,
): readonly Row[] {
  let last = after
  for (const { cursor } of rows) {
    if (cursor <= last) {
      const problem = `comes after line ${last}`
      throw new DamagedRowError({ row: `line ${cursor} of the audit`, column: 'cursor', problem })
    }
    last = cursor
  }
  return rows
}

/**
 * Keeps a reader of pages from going round in circles. A damaged row can have the number of an
 * earlier one; where a page ends with such a row, the next page would be one that was already read,
 * and so on without end. Returns true the first time that a page ends here.
 */
export function pageEnds(): (end: unknown) => boolean {
  const seen = new Set<string>()
  return (end) => {
    const text = JSON.stringify(end, (_, value) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    if (seen.has(text)) return false
    seen.add(text)
    return true
  }
}
