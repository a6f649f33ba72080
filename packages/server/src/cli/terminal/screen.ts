import { clearScreenDown, cursorTo, type Interface, moveCursor } from 'node:readline'
import type { Screen } from './answers.ts'
import { printable } from './printable.ts'

/**
 * A terminal that shows a growing answer while the user types the next message. Complete lines
 * scroll up and are never redrawn; below them readline draws its prompt: the unfinished line of the
 * answer, the status, and the input.
 */
export class TerminalScreen implements Screen {
  readonly #lines: Interface
  readonly #output: NodeJS.WriteStream
  #partial = ''
  #status = ''
  /** Readline's prompt is on the screen; false right after a line was entered. */
  #isDrawn = false

  constructor(lines: Interface, output: NodeJS.WriteStream) {
    this.#lines = lines
    this.#output = output
  }

  stream(text: string): void {
    const { done, rest } = splitLines(this.#partial + printable(text), this.#columns())
    this.#partial = rest
    if (done.length > 0) this.#above(done)
    else this.#draw()
  }

  endAnswer(): void {
    if (this.#partial === '') return
    const line = this.#partial
    this.#partial = ''
    this.#above([line])
  }

  say(text: string): void {
    this.endAnswer()
    this.#above([text])
  }

  status(text: string): void {
    if (text === this.#status) return
    this.#status = text
    this.#draw()
  }

  /** The entered line has scrolled up with everything above it. */
  typed(): void {
    this.#partial = ''
    this.#isDrawn = false
  }

  #columns(): number {
    return Math.max(20, this.#output.columns || 80) // 0 if the terminal does not know its width
  }

  #above(lines: readonly string[]): void {
    const rows = this.#isDrawn ? this.#lines.getCursorPos().rows : 0
    moveCursor(this.#output, 0, -rows)
    cursorTo(this.#output, 0)
    clearScreenDown(this.#output)
    this.#output.write(`${lines.join('\n')}\n`)
    // Readline moves up by the rows that it drew last, which no longer exist.
    Object.assign(this.#lines, { prevRows: 0 })
    this.#draw()
  }

  #draw(): void {
    const above = [this.#partial, this.#status].filter((line) => line !== '')
    this.#lines.setPrompt([...above, '> '].join('\n'))
    this.#lines.prompt(true)
    this.#isDrawn = true
  }
}

/**
 * Splits a growing text into complete lines and the unfinished rest. A line wider than the terminal
 * is broken at a space, so that little has to be redrawn.
 */
export function splitLines(
  text: string,
  columns: number,
): { readonly done: readonly string[]; readonly rest: string } {
  const lines = text.split('\n')
  let rest = lines.pop() ?? ''
  const done = [...lines]
  while (rest.length > columns) {
    const blank = rest.lastIndexOf(' ', columns)
    const end = blank > 0 ? blank : columns
    done.push(rest.slice(0, end))
    rest = rest.slice(blank > 0 ? end + 1 : end)
  }
  return { done, rest }
}
