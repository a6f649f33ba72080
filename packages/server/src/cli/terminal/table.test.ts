import { describe, expect, it } from 'vitest'
import { noPaint } from './colours.ts'
import { ago, grouped } from './format.ts'
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
