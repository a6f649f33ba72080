import { expect, it } from 'vitest'
import type { Found } from '../../../runtime/runtime.ts'
import { drawFound } from './text.ts'

const entry = (number: number, text: string, more = {}) => ({
  ...{ number, kind: 'input', at: 0, isCovered: false, body: null, meta: { lane: 'user' } },
  message: { role: 'user', parts: [{ type: 'text', text }] },
  ...more,
})

function draw(excerpt: string, text: string, more = {}): string[] {
  const found = {
    sessionId: 's',
    excerpt,
    entry: entry(7, 'whole'),
    before: [],
    after: [],
    ...more,
  }
  const paint = (style: string, words: string) => (style === 'dim' ? words : `<${words}>`)
  return drawFound(found as unknown as Found, { query: { text }, paint }).split('\n')
}

it('shows the text around the first match, cut at both ends', () => {
  const [, line = ''] = draw(`${'a '.repeat(100)}GRANITE${' b'.repeat(100)}`, 'granite')
  expect(line).toMatch(/^ {4}…(?:a )+<GRANITE>(?: b)+ ?…$/)
  expect(line.replaceAll(/[<>…]/g, '').trim().length).toBeLessThanOrEqual(160)
})

it('shows the part that holds most of the words, in any of their forms', () => {
  const far = 'granite '.padEnd(300, '- ')
  expect(draw(`${far}granites were delivered`, 'granite delivering')[1]).toBe(
    `    …${far.slice(-60)}<granites> were <delivered>`,
  )
})

it('does not cut a text that fits, and marks every match', () => {
  expect(draw('one two one', 'ONE two')[1]).toBe('    <one> <two> <one>')
  expect(draw('one', 'other')[1]).toBe('    one')
})

it('never splits a character', () => {
  for (const lead of [0, 1]) {
    const text = `${'x'.repeat(lead)}${'😀'.repeat(200)}`
    for (const at of [0, 1]) {
      const [, line = ''] = draw(`${'y'.repeat(at)}${text}`, '')
      expect(line.isWellFormed()).toBe(true)
    }
  }
})

it('marks compacted entries, and shows the neighbours in order', () => {
  const more = {
    entry: entry(7, 'whole', { isCovered: true }),
    before: [entry(6, 'earlier')],
    after: [entry(8, 'later')],
  }
  const lines = draw('', 'x', more)
  expect(lines[0]).toMatch(/^s <#7> .*, compacted away/)
  expect(lines.slice(1, 4).map((line) => line.trim())).toEqual([
    expect.stringMatching(/^#6 .*: earlier$/),
    'whole',
    expect.stringMatching(/^#8 .*: later$/),
  ])
  expect(draw('', 'x')[0]).not.toContain('compacted')
})
