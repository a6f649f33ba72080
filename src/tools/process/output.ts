import { splitsCharacter } from '../../base/line.ts'

/** The end of what a program wrote, counted from its beginning, and its lines as they get whole. */
export class Output {
  readonly #charactersMax: number
  #text = ''
  #dropped = 0
  #line = ''

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** All characters ever written. */
  get end(): number {
    return this.#dropped + this.#text.length
  }

  /** Gives the lines that this text completes; a line that never ends is given in pieces. */
  write(text: string): readonly string[] {
    this.#text += text
    // Twice the bound before it is cut: cutting at every write would copy it at every write.
    if (this.#text.length > 2 * this.#charactersMax) {
      const cut = this.#text.length - this.#charactersMax
      this.#text = this.#text.slice(cut)
      this.#dropped += cut
    }
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    if (this.#line.length > UNFINISHED_MAX) {
      lines.push(this.#line)
      this.#line = ''
    }
    return lines
  }

  /** The last line, if it has no end. */
  finish(): readonly string[] {
    const line = this.#line
    this.#line = ''
    return line === '' ? [] : [line]
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

const UNFINISHED_MAX = 16_000
