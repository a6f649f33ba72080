/**
 * Writes what `JSON.stringify(value, undefined, 2)` does, in pieces: the diagnosis of a large home
 * is long, and its whole text would take several times its length in memory.
 */
export function* renderJson(value: object): Generator<string> {
  let piece = ''
  for (const part of partsOf(value, LEVELS, '')) {
    piece += part
    if (piece.length < PIECE_LENGTH) continue
    yield piece
    piece = ''
  }
  yield `${piece}\n`
}

/** The diagnosis, its profiles, their fields, and the items of their lists. */
const LEVELS = 4
const PIECE_LENGTH = 64 * 1024

function* partsOf(value: unknown, levels: number, pad: string): Generator<string> {
  const isList = Array.isArray(value)
  const isOpened = levels > 0 && typeof value === 'object' && value !== null
  const items = isOpened ? Object.entries(value).filter(([, item]) => item !== undefined) : []
  if (items.length === 0) {
    // Line breaks occur only between values; inside strings they are escaped.
    yield JSON.stringify(value, undefined, 2).replaceAll('\n', `\n${pad}`)
    return
  }
  let before = isList ? '[' : '{'
  for (const [key, item] of items) {
    yield `${before}\n${pad}  ${isList ? '' : `${JSON.stringify(key)}: `}`
    yield* partsOf(item, levels - 1, `${pad}  `)
    before = ','
  }
  yield `\n${pad}${isList ? ']' : '}'}`
}
