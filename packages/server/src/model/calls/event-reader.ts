import type { JsonValue } from '#core/base/json'
import { findDepthFault } from '#core/message/json-text'

/**
 * Looks over an event stream on its way from the wire to the provider's package: whether it says
 * anything, whether it has gone out of bounds and, where somebody wants them, its events as they
 * came. An event that is no JSON is left out; the package reads it as well and says so. What stands
 * behind the last blank line is half an event and none.
 */
export class EventReader {
  readonly #take: ((event: JsonValue) => void) | undefined
  readonly #decoder = new TextDecoder()
  /** Of the line that has not ended yet. Only ever added to: it is read once, when its end comes. */
  #line = ''
  #isComment = false
  #data = ''
  #hasData = false
  #endsInReturn = false
  #isTooDeep = false

  constructor(take?: (event: JsonValue) => void) {
    this.#take = take
  }

  /** No event of a model's: one that goes on and on, or one nested so that nobody can walk it. */
  get isTooLarge(): boolean {
    return this.#isTooDeep || this.#line.length + this.#data.length > EVENT_CHARACTERS_MAX
  }

  /**
   * Tells whether anything was said. Comments and pings are signs of life and say nothing; a piece
   * of any other line counts, whatever it becomes.
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

  /** Lines may end in a return, too; nobody's do but those of a few proxies. */
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

// An image within a single event may take this much.
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
