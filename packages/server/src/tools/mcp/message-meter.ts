import type { FloodGauge } from './flood.ts'

/**
 * What a message would cost to parse, counted in one pass over its bytes before anything is parsed. The
 * size alone does not tell: 16 MB of short names take half a minute, and nothing else runs meanwhile.
 */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024
/** Members of JSON objects and lists. 100,000 short ones take up to a second to parse. */
export const MESSAGE_VALUES_MAX = 100_000

/** Each line of an event stream counts as so many values: reading a line that is no event costs as much. */
const LINE_VALUES = 10

/** Where a message ends: with each line, with an empty line (event streams), or only with the whole answer. */
export type MessageEnd = 'line' | 'empty-line' | 'never'

export class MessageMeter {
  readonly #gauge: FloodGauge
  readonly #end: MessageEnd
  #bytes = 0
  #values = 0
  #lineBytes = 0
  #isInString = false
  #isEscaped = false

  constructor(gauge: FloodGauge, end: MessageEnd) {
    this.#gauge = gauge
    this.#end = end
  }

  /** Null: all is well. Otherwise what was too much. */
  add(chunk: Uint8Array): string | null {
    let [bytesMost, valuesMost, values] = [0, 0, 0]
    for (const byte of chunk) {
      const count = this.#valuesAt(byte)
      values += count
      this.#values += count
      this.#bytes += 1
      if (byte !== LINE_FEED) continue
      bytesMost = Math.max(bytesMost, this.#bytes)
      valuesMost = Math.max(valuesMost, this.#values)
      if (this.#end === 'line' || (this.#end === 'empty-line' && this.#lineBytes === 0)) {
        this.#bytes = 0
        this.#values = 0
      }
      this.#lineBytes = 0
    }
    if (Math.max(bytesMost, this.#bytes) > MESSAGE_BYTES_MAX) {
      return `it sent one message of more than ${MESSAGE_BYTES_MAX} bytes`
    }
    if (Math.max(valuesMost, this.#values) > MESSAGE_VALUES_MAX) {
      return `it sent one message of more than ${MESSAGE_VALUES_MAX} values`
    }
    return this.#gauge.add({ bytes: chunk.length, values })
  }

  /** In JSON, a value follows each of these marks; no string goes on beyond the end of a line. */
  #valuesAt(byte: number): number {
    if (byte === LINE_FEED) {
      this.#isInString = false
      this.#isEscaped = false
      return this.#end === 'empty-line' ? LINE_VALUES : 1
    }
    this.#lineBytes += 1
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#isInString = false
      return 0
    }
    if (byte === QUOTE) this.#isInString = true
    return byte === COMMA || byte === BRACE || byte === BRACKET ? 1 : 0
  }
}

const LINE_FEED = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const BRACE = 0x7b
