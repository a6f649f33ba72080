import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../../test/support/seeded-random.ts'
import { noPaint } from './colours.ts'
import { EMPTY_DRAFT, insert } from './editor.ts'
import { TerminalScreen } from './screen.ts'

describe('TerminalScreen', () => {
  it('shows a growing answer above the typed text, each line once', () => {
    const { screen, type, rows } = terminal()
    screen.status('-- ready --')
    type('half a que')
    for (const piece of [
      'One\u001b[2J line.\n\nTwo ',
      'is ',
      'longer than the ',
      'terminal is wide.',
    ]) {
      screen.stream(piece)
    }
    screen.status('-- busy --')
    screen.endAnswer()
    type('stion')
    expect(rows()).toEqual([
      '',
      'main',
      'One line.',
      '',
      'Two is longer than the terminal',
      'is wide.',
      '-- busy --',
      '> half a question',
    ])
  })

  it('marks where a status that is too long was cut off', () => {
    const { screen, rows } = terminal()
    screen.status('── main · answering · 12 % · 3k in, 1k out ──')
    expect(rows()).toEqual(['── main · answering · 12 % · …', '>'])
    screen.status('── main · answering · 12 % ──')
    expect(rows()).toEqual(['── main · answering · 12 % ──', '>'])
  })

  it('keeps messages and notices below the growing answer', () => {
    const { screen, type, rows } = terminal()
    screen.stream('One and ')
    type('Stop that.')
    screen.sent('Stop that.')
    screen.say('(stopping)')
    screen.stream('two.\n\nThree.')
    screen.endAnswer()
    expect(rows()).toEqual([
      ...['', 'main', 'One and two.', '', 'Three.'],
      ...['', '> Stop that.', '(stopping)', '>'],
    ])
  })

  it('renders Markdown: lists, tables, code', () => {
    const { screen, rows } = terminal()
    screen.stream(
      '1. **one**\n2. `two`\n   - deep\n\n| a | b |\n|-|-|\n| c | long words that do not fit |\n',
    )
    screen.stream('\n```ts\nconst a = 1\n```\nEnd.')
    screen.endAnswer()
    expect(rows()).toEqual([
      ...['', 'main', '1. one', '2. two', '   • deep', ''],
      ...['a │ b', '──┼───────────────────────────', 'c │ long words that do not fit', ''],
      ...['  const a = 1', '', 'End.', '>'],
    ])
  })

  it('continues a code block after a line too long to be kept', () => {
    const { screen, rows } = terminal()
    const piece = 'x'.repeat(21_000)
    screen.stream(`\`\`\`\n${piece}\n`)
    screen.stream('const a = 1\n```\nEnd.')
    screen.endAnswer()
    const last = rows().filter((row) => !row.includes('x'))
    expect(last).toEqual(['', 'main', '  const a = 1', '', 'End.', '>'])
  })

  it('shows the same lines however an answer is cut into pieces', () => {
    const words = fc.constantFrom(
      ...[
        'a',
        ' ',
        '\n',
        '\n\n',
        '# ',
        '- ',
        '1. ',
        '> ',
        '```',
        '|',
        '-',
        '*',
        '`',
        '    ',
        'word',
      ],
    )
    const pieces = fc.array(fc.array(words, { maxLength: 6 }).map((parts) => parts.join('')))
    fc.assert(
      fc.property(pieces, (parts) => {
        const [cut, whole] = [terminal(), terminal()]
        for (const part of parts) cut.screen.stream(part)
        whole.screen.stream(parts.join(''))
        for (const { screen } of [cut, whole]) screen.endAnswer()
        expect(cut.rows()).toEqual(whole.rows())
      }),
      { numRuns: tries(300) },
    )
  })
})

const COLUMNS = 32
const ESCAPE = '\u001b'

function terminal() {
  const written: string[] = []
  const output = Object.assign(new PassThrough(), { columns: COLUMNS, rows: 12, isTTY: true })
  output.on('data', (chunk: Buffer) => written.push(chunk.toString()))
  const screen = new TerminalScreen(output as unknown as NodeJS.WriteStream, noPaint)
  screen.speaker = 'main'
  let draft = EMPTY_DRAFT
  const type = (text: string) => {
    draft = insert(draft, text)
    screen.draft(draft)
  }
  return { screen, type, rows: () => render(written.join('')) }
}

/** The parts of a terminal that the screen needs: rows, a cursor, and clearing. */
function render(text: string): readonly string[] {
  const rows: string[][] = [[]]
  let [row, column] = [0, 0]
  const control = new RegExp(`${ESCAPE}\\[(\\d*)([A-Z])|.`, 'gsu')
  for (const [piece, digits = '', letter] of text.matchAll(control)) {
    const count = digits === '' ? 1 : Number(digits)
    if (letter === 'A') row -= count
    else if (letter === 'B') row += count
    else if (letter === 'C') column += count
    else if (letter === 'D') column -= count
    else if (letter === 'G') column = count - 1
    else if (letter === 'J') {
      rows.length = row + 1
      rows[row] = (rows[row] ?? []).slice(0, column)
    } else if (letter !== undefined) throw new Error(`not understood: ${JSON.stringify(piece)}`)
    else if (piece === '\r') column = 0
    else if (piece === '\n') [row, column] = [row + 1, 0]
    else {
      if (column >= COLUMNS) [row, column] = [row + 1, 0]
      rows[row] ??= []
      const line = rows[row] ?? []
      while (line.length < column) line.push(' ')
      line[column] = piece
      column += 1
    }
    while (rows.length <= row) rows.push([])
  }
  return rows.map((line) => line.join('').trimEnd())
}
