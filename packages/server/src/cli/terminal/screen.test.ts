import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitLines, TerminalScreen } from './screen.ts'

describe('splitLines', () => {
  it('loses nothing but the blank at which it breaks, and keeps what is drawn again small', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 20, max: 80 }), (text, columns) => {
        const { done, rest } = splitLines(text, columns)
        const joined = [...done, rest].join(' ').replaceAll(/\s/g, '')
        expect(joined).toBe(text.replaceAll(/\s/g, ''))
        expect(rest.length).toBeLessThanOrEqual(columns)
      }),
    )
  })
})

describe('TerminalScreen', () => {
  it('shows an answer that grows above what is being typed, each line once', () => {
    const { screen, type, rows } = terminal()
    screen.status('-- ready --')
    type('half a que')
    for (const piece of [
      'One\u001b[2J line.\nTwo ',
      'is ',
      'longer than the ',
      'terminal wide is.',
    ]) {
      screen.stream(piece)
    }
    screen.status('-- busy --')
    screen.endAnswer()
    type('stion')
    expect(rows()).toEqual([
      'One line.',
      'Two is longer than the terminal',
      'wide is.',
      '-- busy --',
      '> half a question',
    ])
  })

  it('leaves what was entered where it stands', () => {
    const { screen, type, rows } = terminal()
    screen.status('-- ready --')
    type('Hello.\r')
    screen.typed()
    screen.say('Hello to you.')
    expect(rows()).toEqual(['-- ready --', '> Hello.', 'Hello to you.', '-- ready --', '>'])
  })
})

const COLUMNS = 32
const ESCAPE = '\u001b'

function terminal() {
  const input = new PassThrough()
  const written: string[] = []
  const output = Object.assign(new PassThrough(), { columns: COLUMNS, rows: 24, isTTY: true })
  output.on('data', (chunk: Buffer) => written.push(chunk.toString()))
  const lines = createInterface({ input, output, terminal: true })
  const screen = new TerminalScreen(lines, output as unknown as NodeJS.WriteStream)
  const type = (text: string) => {
    lines.write(text)
  }
  return { screen, type, rows: () => render(written.join('')) }
}

/** As much of a terminal as readline needs: rows, a cursor, and clearing. */
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
