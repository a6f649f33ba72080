import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import { WAITING_NOTE_TOKENS } from '../bounds.ts'
import { compactionMetaOf } from '../fold.ts'
import type { EntryHead, SessionRow } from '../tables/rows.ts'
import type { Rows } from './ruling.ts'

/**
 * Delivered input that no finished turn has answered. Every context contains it whole until a turn
 * that had it ends (I34): a compaction that covers it carries it beside the handoff, and a delivery
 * leaves in the mailbox what does not fit beside it.
 */
export type InputHead = EntryHead & { readonly kind: 'input' }

/** The inputs in the current context, oldest first: the carried ones and those not covered. */
function shownInputs(rows: Rows, session: SessionRow): readonly InputHead[] {
  const carried = carriedEntries(rows, session)
  const from = Math.min(session.covers, (carried[0] ?? Number.POSITIVE_INFINITY) - 1)
  return rows
    .inputsAfter(session.id, entryNumber(from))
    .filter((head): head is InputHead => head.kind === 'input')
    .filter(({ number }) => number > session.covers || carried.includes(number))
}

function carriedEntries(rows: Rows, session: SessionRow): readonly number[] {
  const entry = session.effective === 0 ? undefined : rows.entry(session.id, session.effective)
  return (entry && compactionMetaOf(entry)?.carries) ?? []
}

export function openInputs(rows: Rows, session: SessionRow): readonly InputHead[] {
  // Between turns, all delivered input is answered.
  if (session.turnState === 'idle') return []
  return shownInputs(rows, session).filter((head) => isOpen(head, session))
}

function isOpen({ number, meta }: InputHead, { settled, forkedAt }: SessionRow): boolean {
  // A fork starts idle and does not answer the input of its origin.
  return number > forkedAt && meta.mail > settled[meta.lane]
}

export function openTokens(open: readonly InputHead[]): number {
  return open.reduce(
    (sum, { tokens, meta }) =>
      sum + tokens + (meta.waiting === undefined ? 0 : WAITING_NOTE_TOKENS),
    0,
  )
}

/** Whether a handoff that covers no more than the current one could still take in carried input. */
export function carriesAnswered(rows: Rows, session: SessionRow): boolean {
  const carried = carriedEntries(rows, session)
  if (carried.length === 0) return false
  return shownInputs(rows, session).some(
    (head) =>
      carried.includes(head.number) && (session.turnState === 'idle' || !isOpen(head, session)),
  )
}

/**
 * The first entry that a handoff with these `carries` would drop or wrongly carry; null if none.
 */
export function cannotCarry(
  rows: Rows,
  session: SessionRow,
  covers: number,
  carries: readonly number[],
): { readonly why: 'unanswered' | 'not-shown'; readonly entry: EntryNumber } | null {
  const left = openInputs(rows, session).find(
    ({ number }) => number <= covers && !carries.includes(number),
  )
  if (left !== undefined) return { why: 'unanswered', entry: left.number }
  if (carries.length === 0) return null
  const shown = new Set<number>(shownInputs(rows, session).map(({ number }) => number))
  const stray = carries.find((number) => number > covers || !shown.has(number))
  return stray === undefined ? null : { why: 'not-shown', entry: entryNumber(stray) }
}
