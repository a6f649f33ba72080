import { isObject, type JsonObject } from '#core/base/json'

/** Longer lines are forwarded but not parsed. */
const LINE_MAX = 16 * 1024 * 1024

/** The events of a stream, from its bytes as they pass. Unreadable events are skipped. */
export class EventLines {
  readonly #decoder = new TextDecoder()
  #rest = ''

  take(chunk: Buffer): readonly JsonObject[] {
    this.#rest += this.#decoder.decode(chunk, { stream: true })
    const end = this.#rest.lastIndexOf('\n')
    if (end === -1) {
      if (this.#rest.length > LINE_MAX) this.#rest = ''
      return []
    }
    const lines = this.#rest.slice(0, end).split('\n')
    this.#rest = this.#rest.slice(end + 1)
    return lines.flatMap(eventOf)
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
