import { DamagedRowError } from '../errors.ts'
import { isCount } from '../measure.ts'

/** Numbers in as few bytes as they need, seven bits per byte, low bits first. */
export class ByteWriter {
  #bytes = new Uint8Array(256)
  length = 0

  put(byte: number): void {
    if (this.length === this.#bytes.length) this.#grow(1)
    this.#bytes[this.length++] = byte
  }

  putNumber(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.put((rest % 128) + 128)
      rest = Math.floor(rest / 128)
    }
    this.put(rest)
  }

  putBytes(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#bytes.length) this.#grow(bytes.length)
    this.#bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  #grow(by: number): void {
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + by))
    grown.set(this.#bytes)
    this.#bytes = grown
  }

  /** A copy of the written bytes; the writer starts over. */
  take(): Uint8Array {
    const bytes = this.#bytes.slice(0, this.length)
    this.length = 0
    return bytes
  }
}

export class ByteReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length
  }

  next(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw damagedIndexError()
    return byte
  }

  take(length: number): Uint8Array {
    const end = this.at + length
    if (end > this.bytes.length) throw damagedIndexError()
    const bytes = this.bytes.subarray(this.at, end)
    this.at = end
    return bytes
  }

  nextNumber(): number {
    // Most numbers take one byte.
    const first = this.bytes[this.at] as number
    if (first < 128) {
      this.at++
      return first
    }
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.next()
      if (byte < 128) return value + byte * scale
      value += (byte - 128) * scale
      scale *= 128
    }
  }
}

export function damagedIndexError(): DamagedRowError {
  return new DamagedRowError({
    row: 'the search index',
    problem: 'holds something else than it should',
    remedy: '`throughline doctor --fix` builds it again.',
  })
}

/** Reads a row of the index that is JSON. */
export function parseIndexed(text: string, isValid: (value: unknown) => boolean): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damagedIndexError()
  }
  if (!isValid(value)) throw damagedIndexError()
  return value
}

/** A list of so many counts, and names behind them. */
export function isCountsAndNames(value: unknown, counts: number): boolean {
  if (!Array.isArray(value) || value.length < counts) return false
  return value.every((each, at) => (at < counts ? isCount(each) : typeof each === 'string'))
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const difference = (a[at] as number) - (b[at] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
