import { splitsCharacter } from '#core/base/line'

/** The end of a program's output, with offsets from its beginning. */
export class Output {
  readonly #charactersMax: number
  #text = ''
  #dropped = 0

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** All characters ever written. */
  get end(): number {
    return this.#dropped + this.#text.length
  }

  write(text: string): void {
    this.#text += text
    // Cut only at twice the limit, because a cut copies the text.
    if (this.#text.length <= 2 * this.#charactersMax) return
    const cut = this.#text.length - this.#charactersMax
    this.#text = this.#text.slice(cut)
    this.#dropped += cut
  }

  read(
    from: number,
    charactersMax: number,
  ): { readonly text: string; readonly from: number; readonly next: number } {
    const start = Math.min(Math.max(from, this.#dropped, this.end - this.#charactersMax), this.end)
    const at = start - this.#dropped
    const begin = splitsCharacter(this.#text, at) ? at + 1 : at
    const cut = Math.min(begin + charactersMax, this.#text.length)
    const end = splitsCharacter(this.#text, cut) ? cut - 1 : cut
    const text = this.#text.slice(begin, end)
    return { text, from: this.#dropped + begin, next: this.#dropped + end }
  }
}

/**
 * Splits one stream into complete lines. Each stream has its own splitter, because programs flush
 * the two at different moments, in the middle of each other's lines.
 */
export class Lines {
  #line = ''

  /** Returns the lines that this text completes; an endless line is returned in pieces. */
  take(text: string): readonly string[] {
    const lines = (this.#line + text).split(LINE_END)
    this.#line = lines.pop() ?? ''
    if (this.#line.length > UNFINISHED_MAX) {
      lines.push(this.#line)
      this.#line = ''
    }
    return lines
  }

  /** The last line, if it has no end. */
  finish(): readonly string[] {
    const line = this.#line.replace(/\r$/, '')
    this.#line = ''
    return line === '' ? [] : [line]
  }
}

/** A carriage return (as in progress output) ends a line. */
const LINE_END = /\r?\n|\r(?=[^\n])/
const UNFINISHED_MAX = 16_000
