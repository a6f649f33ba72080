import { isObject, type JsonObject } from '#core/base/json'

/**
 * A request's body as slices: the offsets of its list of messages and of each message. Nothing is
 * serialised again from parsed values, so unchanged bytes are forwarded as they came. A client
 * sends its whole history with every request, so bytes equal to those of an earlier body are not
 * parsed again.
 */
export interface Body {
  readonly bytes: Buffer
  /** The offset after the list's opening bracket. */
  readonly listFrom: number
  /** The offset of its closing bracket. */
  readonly listTo: number
  readonly items: readonly Slice[]
  /** All other fields of the body, parsed. */
  readonly fields: JsonObject
  /** How many items are, byte for byte, those of the earlier body. */
  readonly known: number
}

export interface Slice {
  readonly from: number
  readonly to: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COLON = 0x3a

/** Undefined: not a JSON object with such a list. It can still be forwarded. */
export function readBody(bytes: Buffer, list: string, before?: Body): Body | undefined {
  try {
    return scan(bytes, list, before)
  } catch (error) {
    if (error instanceof NotJsonError || error instanceof SyntaxError) return undefined
    throw error
  }
}

class NotJsonError extends Error {}

function scan(bytes: Buffer, list: string, before: Body | undefined): Body | undefined {
  const common = before === undefined ? 0 : commonPrefix(bytes, before.bytes)
  const isSameStart = before !== undefined && before.listFrom <= common
  const listFrom = isSameStart ? before.listFrom : findList(bytes, list)
  if (listFrom === undefined) return undefined
  const items: Slice[] = []
  if (isSameStart) {
    for (const item of before.items) {
      if (item.to > common) break
      items.push(item)
    }
  }
  const known = items.length
  let at = items.at(-1)?.to ?? listFrom
  while (true) {
    at = skipSpace(bytes, at)
    const byte = bytes[at]
    if (byte === CLOSE_LIST) break
    if (byte === COMMA) {
      at += 1
      continue
    }
    const to = skipValue(bytes, at)
    items.push({ from: at, to })
    at = to
  }
  const fields = fieldsBeside(bytes, listFrom, at, before, common)
  return fields && { bytes, listFrom, listTo: at, items, fields, known }
}

/** Tools and system text are long and mostly those of the request before. */
function fieldsBeside(
  bytes: Buffer,
  listFrom: number,
  listTo: number,
  before: Body | undefined,
  common: number,
): JsonObject | undefined {
  if (before !== undefined && before.listFrom <= common) {
    const rest = before.bytes.subarray(before.listTo)
    if (rest.equals(bytes.subarray(listTo))) return before.fields
  }
  const text = bytes.toString('utf8', 0, listFrom) + bytes.toString('utf8', listTo)
  const parsed: unknown = JSON.parse(text)
  return isObject(parsed) ? parsed : undefined
}

export function parseItem(body: Body, index: number): JsonObject {
  const slice = body.items[index]
  const value: unknown = slice && JSON.parse(body.bytes.toString('utf8', slice.from, slice.to))
  return isObject(value) ? value : {}
}

/** The slices of a list that an item holds under this name, such as its content blocks. */
export function slicesWithin(body: Body, item: Slice, list: string): Body | undefined {
  const inner = readBody(body.bytes.subarray(item.from, item.to), list)
  if (inner === undefined) return undefined
  const shift = ({ from, to }: Slice): Slice => ({ from: from + item.from, to: to + item.from })
  return {
    ...{ ...inner, bytes: body.bytes, items: inner.items.map(shift) },
    ...{ listFrom: inner.listFrom + item.from, listTo: inner.listTo + item.from },
  }
}

const CHUNK = 64 * 1024

function commonPrefix(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length) {
    const end = Math.min(length, at + CHUNK)
    if (one.compare(other, at, end, at, end) !== 0) break
    at = end
  }
  while (at < length && one[at] === other[at]) at += 1
  return at
}

/** Behind the opening bracket of the top-level list of this name; the last one counts, as in JSON. */
function findList(bytes: Buffer, name: string): number | undefined {
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== OPEN_OBJECT) throw new NotJsonError()
  at = skipSpace(bytes, at + 1)
  let found: number | undefined
  while (bytes[at] !== CLOSE_OBJECT) {
    if (bytes[at] === COMMA) {
      at = skipSpace(bytes, at + 1)
      continue
    }
    const keyTo = skipString(bytes, at)
    const key: unknown = JSON.parse(bytes.toString('utf8', at, keyTo))
    at = skipSpace(bytes, keyTo)
    if (bytes[at] !== COLON) throw new NotJsonError()
    at = skipSpace(bytes, at + 1)
    if (key === name) {
      // Parsers disagree on a duplicate name.
      if (found !== undefined) return undefined
      if (bytes[at] !== OPEN_LIST) return undefined
      found = at + 1
    }
    at = skipSpace(bytes, skipValue(bytes, at))
  }
  return found
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at += 1
  }
  throw new NotJsonError()
}

function skipString(bytes: Buffer, from: number): number {
  if (bytes[from] !== QUOTE) throw new NotJsonError()
  let at = from + 1
  while (true) {
    const quote = bytes.indexOf(QUOTE, at)
    if (quote === -1) throw new NotJsonError()
    let escapes = 0
    while (bytes[quote - 1 - escapes] === BACKSLASH) escapes += 1
    if (escapes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

/**
 * The offset after the value that begins here. Without recursion, so that nesting uses no stack.
 */
function skipValue(bytes: Buffer, from: number): number {
  const first = bytes[from]
  if (first === QUOTE) return skipString(bytes, from)
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    let at = from
    while (at < bytes.length && !isEnd(bytes[at])) at += 1
    if (at === from || at >= bytes.length) throw new NotJsonError()
    return at
  }
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = skipString(bytes, at)
      continue
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1
    at += 1
    if (depth === 0) return at
  }
  throw new NotJsonError()
}

function isEnd(byte: number | undefined): boolean {
  return (
    byte === COMMA ||
    byte === CLOSE_OBJECT ||
    byte === CLOSE_LIST ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  )
}
