import { sentenceOf } from '#core/message/title'
import { type Body, parseItem } from './body.ts'
import { type ClientNote, isClientSummary } from './client-notes.ts'
import { hashUnit, type Unit } from './unit.ts'
import type { UnitNode, UnitTree } from './unit-tree.ts'
import { textAt } from './wire/fields.ts'
import type { ClientWire, ReadItem } from './wire/wire.ts'

/** A request's history, item by item. */
export interface History {
  readonly body: Body
  readonly wire: ClientWire
  readonly items: readonly HistoryItem[]
  /** The newest item that refers to one of our handoffs, which replaces everything before it. */
  readonly named: { readonly index: number; readonly address: Address } | null
}

/** Kept small, because a long history has thousands of these until the next request. */
export interface HistoryItem {
  readonly hashes: readonly string[]
  readonly notes: readonly ClientNote[]
  readonly rank?: string
  readonly blocks?: readonly number[]
  /** Calls that it opens, and calls that it answers. */
  readonly opens: readonly string[]
  readonly closes: readonly string[]
  readonly address?: Address
}

/** The handoff that a `compaction` item refers to: its content is only this. */
export interface Address {
  readonly session: string
  readonly entry: number
  /** Kept with the handoff: only a client that was given the item knows it. Version 0.2 had none. */
  readonly token?: string
}

const ADDRESS = /^throughline\.([A-Za-z0-9_-]{1,64})\.([1-9]\d{0,9})(?:\.([A-Za-z0-9_-]{1,64}))?$/

export function writeAddress({ session, entry, token }: Address): string {
  return `throughline.${session}.${entry}${token === undefined ? '' : `.${token}`}`
}

function readAddress(text: string): Address | undefined {
  const [, session, entry, token] = ADDRESS.exec(text) ?? []
  if (session === undefined) return undefined
  return { session, entry: Number(entry), ...(token !== undefined && { token }) }
}

/** The first sentence that the client's user wrote; null if there is none worth showing. */
export function firstSaid(
  { items, body, wire }: History,
  mask: (text: string) => string,
): string | null {
  for (const [index, { hashes }] of items.entries()) {
    if (hashes.length === 0) continue
    const { units } = wire.read(parseItem(body, index))
    const said = units.filter(isSaid)
    if (said.length === 0) continue
    const sentences = said.map(({ text }) => sentenceOf(text, mask))
    return sentences.find((sentence) => sentence !== null) ?? null
  }
  return null
}

function isSaid(unit: Unit): unit is Extract<Unit, { kind: 'text' }> {
  return unit.kind === 'text' && unit.role === 'user' && !isClientSummary(unit.text)
}

/** Items that are byte for byte those of the earlier request are not read again. */
export function readHistory(body: Body, wire: ClientWire, before?: History): History {
  const items = before?.wire === wire ? before.items.slice(0, body.known) : []
  for (let index = items.length; index < body.items.length; index += 1) {
    const item = parseItem(body, index)
    const address =
      item['type'] === 'compaction' ? readAddress(textAt(item, 'encrypted_content')) : undefined
    items.push({ ...itemOf(wire.read(item)), ...(address !== undefined && { address }) })
  }
  const index = items.findLastIndex(({ address }) => address !== undefined)
  const address = items[index]?.address
  return { body, wire, items, named: address === undefined ? null : { index, address } }
}

function itemOf({ units, notes, rank, blocks }: ReadItem): HistoryItem {
  return {
    hashes: units.map(hashUnit),
    notes,
    ...(rank !== undefined && { rank }),
    ...(blocks !== undefined && { blocks }),
    opens: units.flatMap((unit) => (unit.kind === 'call' ? [unit.id] : [])),
    closes: units.flatMap((unit) => (unit.kind === 'result' ? [unit.id] : [])),
  }
}

/** A history in its session: the items that count, and the units that lead up to them. */
export interface Placed {
  readonly history: History
  /** The first item that counts. */
  readonly from: number
  readonly start: UnitNode
}

/** Null: it refers to a handoff that this session does not have. */
export function findPosition(
  { id, tree }: { readonly id: string; readonly tree: UnitTree },
  history: History,
): Placed | null {
  const { named } = history
  if (named === null) return { history, from: 0, start: tree.root }
  // Another session has its own handoff under the same number.
  const start = named.address.session === id ? tree.coveredBy(named.address.entry) : null
  return start === null ? null : { history, from: named.index + 1, start }
}

/** The items that count, each with the number of units before and behind it. */
export function* countedItems({ history, from, start }: Placed) {
  let before = start.depth
  for (let index = from; index < history.items.length; index += 1) {
    const item = history.items[index]
    if (item === undefined) return
    const after = before + item.hashes.length
    yield { index, item, before, after }
    before = after
  }
}

/**
 * The units themselves behind the first `depth` ones, read again from the body. After so many bytes
 * it stops, at the end of an item.
 */
export function unitsBehind(
  placed: Placed,
  depth: number,
  bytesMax = Number.POSITIVE_INFINITY,
): readonly Unit[] {
  const { body, wire } = placed.history
  const units: Unit[] = []
  let bytes = 0
  for (const { index, before, after } of countedItems(placed)) {
    if (after <= depth) continue
    if (bytes > bytesMax) return units
    const { from = 0, to = 0 } = body.items[index] ?? {}
    bytes += to - from
    const found = wire.read(parseItem(body, index)).units
    units.push(...found.slice(Math.max(0, depth - before)))
  }
  return units
}

/** As far as the session knows this history. */
export function locate(tree: UnitTree, placed: Placed): UnitNode {
  let node = placed.start
  for (const { item, after } of countedItems(placed)) {
    node = tree.follow(node, item.hashes)
    if (node.depth < after) return node
  }
  return node
}

export function unitCount({ history, from, start }: Placed): number {
  let count = start.depth
  for (const { hashes } of history.items.slice(from)) count += hashes.length
  return count
}
