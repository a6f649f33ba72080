import { describe, expect, it } from 'vitest'
import { parseMarkdown } from '../../gateway/text/parse-markdown.ts'
import { noPaint, type Paint } from './colours.ts'
import { ago, grouped } from './format.ts'
import { drawBlocks, wrapWords } from './markdown.ts'
import { drawTable } from './table.ts'
import { drawFill } from './usage-bar.ts'

describe('drawTable', () => {
  const columns = [{ title: 'NAME' }, { title: 'COUNT', align: 'right' as const }]

  it('makes columns as wide as their widest cell, with numbers right-aligned', () => {
    const rows = [
      ['a', '1'],
      ['longer', '1,000'],
    ]
    expect(drawTable(columns, rows, noPaint)).toBe('NAME    COUNT\na           1\nlonger  1,000\n')
  })

  it('ignores colour codes in widths', () => {
    const painted = drawTable(
      columns,
      [[{ text: 'é', colour: 'red' }, '1']],
      (_, text) => `<${text}>`,
    )
    expect(painted.split('\n')[1]).toBe('<é>         1')
  })
})

describe('drawTable in a narrow terminal', () => {
  const columns = [
    { title: 'ID', yields: 2, least: 3, cut: 'bare' as const },
    { title: 'COUNT', yields: 1 },
    { title: 'STATE' },
    { title: 'TITLE', yields: 3, least: 4 },
  ]
  const rows = [['abcdef', '12', 'idle', 'A long title']]
  const drawn = (width?: number) => drawTable(columns, rows, noPaint, width).split('\n')[1]

  it.each([
    [undefined, 'abcdef  12     idle   A long title'],
    [34, 'abcdef  12     idle   A long title'],
    [33, 'abcdef  idle   A long title'],
    [26, 'abc  idle   A long title'],
    [20, 'abc  idle   A long …'],
    [13, 'abc  idle   …'],
  ])('of %s columns leaves out and shortens the least important first', (width, line) => {
    expect(drawn(width)).toBe(line)
    if (width !== undefined) expect(line.length).toBeLessThanOrEqual(width)
  })
})

describe('drawFill', () => {
  it.each([
    [0, '░░░░░░░░░░ 0 %', 'green'],
    [5_000, '█████░░░░░ 50 %', 'green'],
    [8_000, '████████░░ 80 %', 'yellow'],
    [30_000, '██████████ 300 %', 'red'],
  ])('draws %i of 10000 tokens', (tokens, text, colour) => {
    expect(drawFill({ tokens, windowTokens: 10_000 })).toEqual({ text, colour })
  })
})

describe('ago', () => {
  it('names the largest unit that fits, and never a future time', () => {
    const day = 24 * 60 * 60_000
    expect([0, 999, 1_000, 61_000, 2 * 60 * 60_000, 3 * day].map((ms) => ago(0, ms))).toEqual([
      ...['now', 'now', '1 s ago', '1 min ago', '2 h ago', '3 d ago'],
    ])
    expect(ago(5_000, 0)).toBe('now')
  })
})

describe('grouped', () => {
  it('puts a comma before every third digit from the end', () => {
    expect([0, 12, 999, 1_000, 12_345, 1_234_567].map(grouped)).toEqual([
      ...['0', '12', '999', '1,000', '12,345', '1,234,567'],
    ])
  })
})

const named: Paint = (colour, text) => `<${colour}>${text}</>`
const draw = (lines: readonly string[], columns = 40, paint: Paint = noPaint) =>
  drawBlocks(parseMarkdown(lines.join('\n')).blocks, { columns, paint })

describe('drawBlocks', () => {
  it.each([
    ['a paragraph at the width', ['one two three four'], ['one two', 'three four']],
    ['a word that is too wide', ['abcdefghijklmno'], ['abcdefghij', 'klmno']],
    ['blocks with a blank line between them', ['one', '', 'two'], ['one', '', 'two']],
    ['a line break where it was written', ['one', 'two'], ['one', 'two']],
    ['a list without blank lines', ['- one', '- two'], ['• one', '• two']],
    ['a numbered list from its number', ['7. one', '8. two'], ['7. one', '8. two']],
    ['an item below its mark', ['- one two three'], ['• one two', '  three']],
    ['items of ten and more below their mark', ['10. one two three'], ['10. one two', '    three']],
    ['a list inside an item', ['- one', '  - two'], ['• one', '  • two']],
    ['an empty item', ['-', '- two'], ['• ', '• two']],
    ['a quote with its bar on each line', ['> one', '>', '> two'], ['│ one', '│ ', '│ two']],
    ['code as it is, indented', ['```', 'a  b', '\tc', '```'], ['  a  b', '      c']],
    ['long code cut at the width', ['```', 'abcdefghij', '```'], ['  abcdefgh', '  ij']],
    ['a rule as wide as the terminal', ['---'], ['──────────']],
  ])('draws %s', (_, source, lines) => {
    expect(draw(source, 10)).toEqual(lines)
  })

  it('draws a rule of 40 columns at most', () => {
    expect(draw(['---'], 100)).toEqual(['─'.repeat(40)])
  })

  it('keeps eight columns for text in deep lists and for code, however narrow the terminal', () => {
    expect(draw(['> abcdefghij'], 4)).toEqual(['│ abcdefgh', '│ ij'])
    expect(draw(['```', 'abcdefghij', '```'], 4)).toEqual(['  abcdefgh', '  ij'])
  })

  it.each([
    ['# One', '<underline><bold>One</></>'],
    ['## Two', '<bold>Two</>'],
    ['**a**', '<bold>a</>'],
    ['*a*', '<italic>a</>'],
    ['~~a~~', '<strikethrough>a</>'],
    ['`a`', '<cyan>a</>'],
    ['[a](https://b.example)', 'a (<underline>https://b.example</>)'],
    ['<https://b.example>', 'https://b.example'],
    ['***a** b*', '<italic><bold>a</> b</>'],
    ['> a', '<dim>│ </>a'],
    ['---', `<dim>${'─'.repeat(40)}</>`],
  ])('marks %s', (source, line) => {
    expect(draw([source], 80, named)).toEqual([line])
  })

  it('colours code by its parts, each line for itself', () => {
    const source = ['```js', '/* a', 'b */ const x = "y" + 1', '```']
    expect(draw(source, 120, named)).toEqual([
      '  <dim>/* a</>',
      '  <dim>b */</> <magenta>const</> x = <green>"y"</> + <yellow>1</>',
    ])
    expect(draw(['```diff', '+a', '-b', ' c', '```'], 80, named)).toEqual([
      '  <green>+a</>',
      '  <red>-b</>',
      '   c',
    ])
  })
})

describe('drawBlocks with a table', () => {
  const table = ['| A | Bee |', '| - | --- |', '| one two | x |', '| y | |']

  it('aligns its columns under their titles', () => {
    expect(draw(table)).toEqual(['A       │ Bee', '────────┼────', 'one two │ x', 'y       │'])
  })

  it('shrinks the widest column first and wraps its cells', () => {
    expect(draw(table, 9)).toEqual(['A   │ Bee', '────┼────', 'one │ x', 'two │', 'y   │'])
    expect(draw(table, 7)).toEqual([
      ...['A  │ Be', '   │ e', '───┼───', 'on │ x', 'e  │', 'tw │', 'o  │', 'y  │'],
    ])
  })

  it('fits the width exactly, and keeps one character of each column in any terminal', () => {
    expect(draw(table, 13)[2]).toBe('one two │ x')
    expect(draw(table, 12).slice(2, 4)).toEqual(['one    │ x', 'two    │'])
    expect(draw(['| ab | cd |', '| - | - |'], 1)).toEqual(['a │ c', 'b │ d', '──┼──'])
  })

  it('marks its titles', () => {
    expect(draw(['| A | B |', '| - | - |', '| `c` | d |'], 40, named)).toEqual([
      '<bold>A</><dim> │ </><bold>B</>',
      expect.stringMatching(/^<dim>─+┼─+<\/>$/),
      expect.stringMatching(/^<cyan>c<\/> *<dim> │ <\/>d$/),
    ])
  })
})

describe('wrapWords', () => {
  it('keeps indentation on every line', () => {
    expect(wrapWords('  one two three', 9)).toEqual(['  one two', '  three'])
  })

  it('indents by half of the width at most', () => {
    for (const line of wrapWords('          one two', 8)) expect(line).toMatch(/^ {4}(?! {4})/)
  })
})
