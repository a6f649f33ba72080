import stringWidth from 'fast-string-width'
import { parseMarkdown } from '../../gateway/text/parse-markdown.ts'
import type { Screen } from './answers.ts'
import type { Paint } from './colours.ts'
import { EMPTY_DRAFT, type InputDraft, layOutDraft, TAB } from './editor.ts'
import { drawBlocks, wrapWords } from './markdown.ts'
import { printable } from './printable.ts'

/**
 * A terminal that shows a growing answer while the user types the next message. Complete blocks
 * scroll up and are never redrawn. Below them is the live part, redrawn with every change: the block
 * that still grows, lines held back until the answer ends, the status, and the draft.
 */
export class TerminalScreen implements Screen {
  readonly #output: NodeJS.WriteStream
  readonly #paint: Paint
  #speaker = ''
  #isOpen = false
  /** The end of the answer, which is still redrawn. */
  #growing = ''
  #held: string[] = []
  #status = ''
  #draft: InputDraft = EMPTY_DRAFT
  /** The live part as it was drawn last, and the row of it in which the cursor is. */
  #drawn: { readonly rows: readonly string[]; readonly cursorRow: number } = NOTHING_DRAWN

  constructor(output: NodeJS.WriteStream, paint: Paint) {
    this.#output = output
    this.#paint = paint
  }

  /** Whose name is above the answers from now on. */
  set speaker(name: string) {
    this.#speaker = name
  }

  stream(text: string): void {
    if (text === '') return
    const above = this.#isOpen ? [] : ['', this.#speaker]
    this.#isOpen = true
    this.#growing += text
    this.#draw([...above, ...this.#takeFinished()])
  }

  endAnswer(): void {
    if (!this.#isOpen) return
    const { blocks } = parseMarkdown(printable(this.#growing))
    const lines = [...drawBlocks(blocks, this.#style()), ...this.#held]
    this.#isOpen = false
    this.#growing = ''
    this.#held = []
    this.#draw(lines)
  }

  /** Held back below a growing answer, so that nothing tears the answer. */
  say(text: string): void {
    const lines = text.split('\n').flatMap((line) => wrapWords(line, this.columns))
    if (this.#isOpen) this.#held.push(...lines)
    this.#draw(this.#isOpen ? [] : lines)
  }

  status(text: string): void {
    if (text === this.#status) return
    this.#status = text
    this.#draw([])
  }

  draft(draft: InputDraft): void {
    this.#draft = draft
    this.#draw([])
  }

  /** The draft was sent: its text scrolls up, and the draft is empty. */
  sent(text: string): void {
    this.#draft = EMPTY_DRAFT
    const { rows } = layOutDraft(
      { text: printable(text.replaceAll('\t', TAB)), cursor: 0 },
      this.columns,
    )
    const lines = ['', ...rows.map((row) => this.#paint('bold', row))]
    if (this.#isOpen) this.#held.push(...lines)
    this.#draw(this.#isOpen ? [] : lines)
  }

  /** After the size changed, or from the top of a cleared screen. */
  redraw({ isCleared = false } = {}): void {
    if (isCleared) {
      this.#output.write(`${CSI}2J${CSI}H`)
      this.#drawn = NOTHING_DRAWN
    }
    this.#draw([])
  }

  /** Leaves the conversation on the screen and the cursor below it. */
  close(): void {
    this.endAnswer()
    const { rows, cursorRow } = this.#drawn
    this.#output.write(`${down(rows.length - 1 - cursorRow)}\r\n`)
    this.#drawn = NOTHING_DRAWN
  }

  /** The lines of complete blocks. The last block of a growing text may still change. */
  #takeFinished(): readonly string[] {
    const text = printable(this.#growing)
    // An incomplete line may still become part of the block before it.
    const { blocks, starts } = parseMarkdown(text.slice(0, text.lastIndexOf('\n') + 1))
    const last = blocks.at(-1)
    const lines = text.split('\n')
    if (last?.kind === 'code' && text.length > GROWING_MAX) {
      // Half of a very long code block scrolls up; the rest continues under the same fence.
      const head = lines.slice(0, (starts.at(-1) ?? 0) + 1)
      const body = lines.slice(head.length)
      const half = Math.floor(body.length / 2)
      if (half > 0) {
        const drawn = parseMarkdown([...head, ...body.slice(0, half)].join('\n')).blocks
        this.#growing = [head.at(-1) ?? '', ...body.slice(half)].join('\n')
        return drawBlocks(drawn, this.#style())
      }
    }
    if (blocks.length > 1) {
      this.#growing = lines.slice(starts.at(-1)).join('\n')
      return [...drawBlocks(blocks.slice(0, -1), this.#style()), '']
    }
    if (text.length <= GROWING_MAX) return []
    this.#growing = ''
    return drawBlocks(parseMarkdown(text).blocks, this.#style())
  }

  #style() {
    return { columns: this.columns, paint: this.#paint }
  }

  /** One less than the terminal has: some terminals wrap a line of full width. */
  get columns(): number {
    return Math.max(20, (this.#output.columns || 80) - 1) // 0 if the terminal does not know its width
  }

  /** In one write, so that the terminal never shows half a frame. */
  #draw(above: readonly string[]): void {
    const { rows, cursor } = this.#live()
    const last = rows.length - 1
    this.#output.write(
      [
        `${up(this.#rowsAboveCursor())}\r${CSI}J`,
        ...above.map((line) => `${line}\r\n`),
        rows.join('\r\n'),
        `${up(last - cursor.row)}\r${right(cursor.column)}`,
      ].join(''),
    )
    this.#drawn = { rows, cursorRow: cursor.row }
  }

  #live() {
    const columns = this.columns
    const rowsMax = Math.max(4, (this.#output.rows || 24) - 1)
    const layout = layOutDraft(this.#draft, columns)
    // A long draft shows the rows around its cursor.
    const draftMax = Math.max(1, Math.floor(rowsMax / 2))
    const from = Math.max(0, Math.min(layout.cursor.row, layout.rows.length - draftMax))
    const draft = layout.rows.slice(from, from + draftMax)
    const status = this.#status === '' ? [] : [cutTo(columns, this.#status)]
    const growing = drawBlocks(parseMarkdown(printable(this.#growing)).blocks, this.#style())
    const spaceMax = rowsMax - draft.length - status.length
    const talk = [...growing, ...this.#held].slice(-spaceMax)
    const rows = [...talk, ...status, ...draft]
    const row = rows.length - draft.length + layout.cursor.row - from
    return { rows, cursor: { row, column: layout.cursor.column } }
  }

  /** A terminal that became narrower has wrapped the rows. */
  #rowsAboveCursor(): number {
    const { rows, cursorRow } = this.#drawn
    const columns = this.#output.columns || 80
    return rows
      .slice(0, cursorRow)
      .reduce((sum, row) => sum + Math.max(1, Math.ceil(stringWidth(row) / columns)), 0)
  }
}

const NOTHING_DRAWN = { rows: [], cursorRow: 0 } as const
/** A block that grows is parsed again with every piece: 20 KB take 2 ms. */
const GROWING_MAX = 20_000
const CSI = '\u001b['

/** One row, with a mark where the rest was cut off. */
function cutTo(columns: number, text: string): string {
  if (stringWidth(text) <= columns) return text
  return `${wrapWords(text, columns - 2)[0] ?? ''} …`
}

function up(rows: number): string {
  return rows > 0 ? `${CSI}${rows}A` : ''
}

function down(rows: number): string {
  return rows > 0 ? `${CSI}${rows}B` : ''
}

function right(columns: number): string {
  return columns > 0 ? `${CSI}${columns}C` : ''
}
