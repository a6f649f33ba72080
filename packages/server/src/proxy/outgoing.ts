import { type Slice, slicesWithin } from './body.ts'
import type { ClientNote } from './client-notes.ts'
import { countedItems, type History, type HistoryItem, type Placed } from './history.ts'

/**
 * The body sent instead of a whole history: the unchanged start of the body, the stored handoff,
 * and the raw bytes of everything that it does not cover.
 */

/** How many items at the beginning hold no units: system texts and notes, sent as they come. */
export function leadingItems({ items }: Pick<History, 'items'>): number {
  const first = items.findIndex(({ hashes }) => hashes.length > 0)
  return first === -1 ? items.length : first
}

/** Null: this history cannot be cut there; use another boundary. */
export function withHandoff(
  placed: Placed,
  depth: number,
  handoff: string,
): readonly Buffer[] | null {
  const { history } = placed
  const { body, items } = history
  const { bytes, listFrom, listTo } = body
  const tail = tailBehind(placed, depth)
  if (tail === null) return null
  const lead = Math.min(leadingItems(history), tail.next)
  const headTo = lead === 0 ? listFrom : (body.items[lead - 1]?.to ?? listFrom)
  const isLast = tail.next >= items.length
  const rest = isLast ? bytes.subarray(listTo) : bytes.subarray(body.items[tail.next]?.from)
  const inserted = [handoff, ...(tail.divided === null ? [] : [tail.divided])].join(',')
  const text = `${lead === 0 ? '' : ','}${inserted}${isLast ? '' : ','}`
  return [bytes.subarray(0, headTo), Buffer.from(text), rest]
}

interface Tail {
  /** The rest of an item that is partly covered. */
  readonly divided: string | null
  /** The first item that is sent whole. */
  readonly next: number
}

/**
 * The cut lies behind the last covered item, not before the first one that is not covered: a
 * reasoning item before a call stays with its call.
 */
function tailBehind(placed: Placed, depth: number): Tail | null {
  if (placed.start.depth === depth) return { divided: null, next: placed.from }
  for (const { index, item, before, after } of countedItems(placed)) {
    if (after === depth) return { divided: null, next: index + 1 }
    if (after < depth) continue
    const divided = dividedItem(placed.history, item, index, depth - before)
    return divided === undefined ? null : { divided, next: index + 1 }
  }
  return null
}

/** A message whose first units are covered, such as results with the next prompt behind them. */
function dividedItem(
  { body }: History,
  { blocks }: HistoryItem,
  index: number,
  covered: number,
): string | undefined {
  const slice: Slice | undefined = body.items[index]
  if (blocks === undefined || slice === undefined) return undefined
  const inner = slicesWithin(body, slice, 'content')
  const last = blocks[covered - 1]
  const next = blocks[covered]
  if (inner === undefined || last === undefined || last === next) return undefined
  const from = inner.items[last + 1]?.from
  if (from === undefined) return undefined
  const { bytes } = body
  return bytes.toString('utf8', slice.from, inner.listFrom) + bytes.toString('utf8', from, slice.to)
}

export interface Cut {
  /** The last covered item. */
  readonly index: number
  readonly depth: number
  /** How much of the body stays behind it. */
  readonly tailBytes: number
}

/** Where a new boundary may lie: behind an item, where no call waits for its result. */
export function cutsOf(placed: Placed): readonly Cut[] {
  const { body } = placed.history
  const open = new Set<string>()
  const cuts: Cut[] = []
  for (const { index, item, after } of countedItems(placed)) {
    for (const id of item.opens) open.add(id)
    for (const id of item.closes) open.delete(id)
    if (open.size > 0 || item.hashes.length === 0) continue
    cuts.push({ index, depth: after, tailBytes: body.listTo - (body.items[index]?.to ?? 0) })
  }
  return cuts
}

/**
 * The cut that keeps as much as possible verbatim, up to this limit. Something must remain after it
 * for the model to answer.
 */
export function chooseCut(
  placed: Placed,
  { keepBytes, beyond }: { readonly keepBytes: number; readonly beyond: number },
): Cut | null {
  const counted = placed.history.items.length - 1
  const usable = cutsOf(placed).filter(({ depth, index }) => depth > beyond && index < counted)
  return usable.find(({ tailBytes }) => tailBytes <= keepBytes) ?? usable.at(-1) ?? null
}

/** The newest of each kind among the covered notes, in the order in which they came. */
export function coveredNotes(
  { history }: Placed,
  last: number,
): { readonly notes: readonly ClientNote[]; readonly items: readonly string[] } {
  const notes = new Map<string, ClientNote>()
  const ranked = new Map<string, string>()
  const { body, items } = history
  for (let index = leadingItems(history); index <= last; index += 1) {
    const item = items[index]
    const slice = body.items[index]
    if (item === undefined || slice === undefined) continue
    for (const note of item.notes) {
      notes.delete(note.kind)
      notes.set(note.kind, note)
    }
    if (item.rank === undefined) continue
    ranked.delete(item.rank)
    ranked.set(item.rank, body.bytes.toString('utf8', slice.from, slice.to))
  }
  return { notes: [...notes.values()], items: [...ranked.values()] }
}
