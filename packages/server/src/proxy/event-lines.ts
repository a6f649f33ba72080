import { isObject, type JsonObject } from '#core/base/json'

/** Longer lines are forwarded but not parsed. */
const LINE_MAX = 16 * 1024 * 1024

/**
 * The events of a stream, from its bytes as they pass. Unreadable events are skipped. A line may
 * come in thousands of pieces, so each piece is searched once and they are joined at its end.
 */
export class EventLines {
  readonly #decoder = new TextDecoder()
  #pieces: string[] = []
  #length = 0

  take(chunk: Buffer): readonly JsonObject[] {
    const text = this.#decoder.decode(chunk, { stream: true })
    const end = text.lastIndexOf('\n')
    if (end === -1) {
      this.#keep(text)
      return []
    }
    const isTooLong = this.#length > LINE_MAX
    const [first = '', ...lines] = text.slice(0, end).split('\n')
    if (!isTooLong) lines.unshift(this.#pieces.join('') + first)
    this.#pieces = []
    this.#length = 0
    this.#keep(text.slice(end + 1))
    return lines.flatMap(eventOf)
  }

  #keep(piece: string): void {
    this.#length += piece.length
    if (this.#length > LINE_MAX) this.#pieces = []
    else this.#pieces.push(piece)
  }
}

function eventOf(line: string): readonly JsonObject[] {
  if (!line.startsWith('data:')) return []
  try {
    const value: unknown = JSON.parse(line.slice(5))
    return isObject(value) ? [value] : []
  } catch {
    return []
  }
}
