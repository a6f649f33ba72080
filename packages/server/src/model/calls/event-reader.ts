import type { JsonValue } from '#core/base/json'
import { findDepthFault } from '#core/message/json-text'

/**
 * Inspects an event stream on its way from the wire to the provider's package: whether it has
 * content, whether it exceeds its limits and, if requested, its raw events. An event that is not
 * JSON is left out; the package reads it too and reports it. The rest after the last blank line is
 * an incomplete event and does not count.
 */
export class EventReader {
  readonly #take: ((event: JsonValue) => void) | undefined
  readonly #decoder = new TextDecoder()
  /** The incomplete last line. Pieces are only appended; it is parsed once, when it is complete. */
  #line = ''
  #isComment = false
  #data = ''
  #hasData = false
  #endsInReturn = false
  #isTooDeep = false

  constructor(take?: (event: JsonValue) => void) {
    this.#take = take
  }

  /** Not a valid event: endless, or nested too deep to walk. */
  get isTooLarge(): boolean {
    return this.#isTooDeep || this.#line.length + this.#data.length > EVENT_CHARACTERS_MAX
  }

  /**
   * Whether the stream has content. Comments and pings are only keep-alives; a piece of any other
   * line counts.
   */
  read(chunk: Uint8Array): boolean {
    const text = this.#withNewlines(this.#decoder.decode(chunk, { stream: true }))
    let isSaying = false
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (this.#line !== '') {
        const line = this.#line + text.slice(start, end)
        this.#readLine(line, 0, line.length)
        this.#line = ''
      } else if (end > start) this.#readLine(text, start, end)
      else if (this.#hasData) isSaying = this.#dispatch() || isSaying
      start = end + 1
    }
    if (start === text.length) return isSaying
    if (this.#line === '') this.#isComment = text[start] === ':'
    this.#line += text.slice(start)
    return isSaying || !this.#isComment
  }

  /** Lines may also end in a carriage return, as from a few proxies. */
  #withNewlines(text: string): string {
    if (!this.#endsInReturn && !text.includes('\r')) return text
    const own = this.#endsInReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#endsInReturn = text.endsWith('\r')
    return own.replace(/\r\n?/g, '\n')
  }

  #readLine(text: string, start: number, end: number): void {
    if (!text.startsWith(DATA, start)) return
    const at = start + DATA.length
    const value = text.slice(text[at] === ' ' ? at + 1 : at, end)
    this.#data = this.#hasData ? `${this.#data}\n${value}` : value
    this.#hasData = true
  }

  #dispatch(): boolean {
    const data = this.#data
    this.#data = ''
    this.#hasData = false
    this.#isTooDeep ||= findDepthFault(data) !== undefined
    if (this.#isTooDeep || (data.length < PING_MAX && PING.test(data))) return false
    if (this.#take !== undefined) takeJson(data, this.#take)
    return data !== ''
  }
}

// A single event with an image may be this large.
const EVENT_CHARACTERS_MAX = 32 * 1024 * 1024
const DATA = 'data:'
const PING_MAX = 64
const PING = /^\{ ?"type": ?"ping"/

function takeJson(data: string, take: (event: JsonValue) => void): void {
  let event: JsonValue
  try {
    event = JSON.parse(data) as JsonValue
  } catch {
    return
  }
  take(event)
}
