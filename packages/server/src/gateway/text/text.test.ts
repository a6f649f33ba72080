import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { highlight } from './highlight.ts'
import { parseMarkdown } from './parse-markdown.ts'

describe('highlight', () => {
  it('finds comments, strings, numbers and keywords', () => {
    expect(highlight('const a = "b\\"" // 2', 'ts')).toEqual([
      { kind: 'keyword', text: 'const' },
      { kind: 'plain', text: ' a = ' },
      { kind: 'string', text: '"b\\""' },
      { kind: 'plain', text: ' ' },
      { kind: 'comment', text: '// 2' },
    ])
    expect(highlight('+one\n-two\n', 'diff').map(({ kind }) => kind)).toEqual(['added', 'removed'])
    expect(highlight('whatever', 'klingon')).toEqual([{ kind: 'plain', text: 'whatever' }])
  })

  it('loses no character, in every language', () => {
    const code = fc.string({ unit: fc.constantFrom(...'"\'`\\/*#-+<!> \n1ae.if@$'), size: 'large' })
    fc.assert(
      fc.property(code, fc.constantFrom('ts', 'py', 'sql', 'diff', 'html', 'sh'), (text, name) => {
        expect(
          highlight(text, name)
            .map((span) => span.text)
            .join(''),
        ).toBe(text)
      }),
    )
  })
})

describe('parseMarkdown', () => {
  it('reads CommonMark and tables', () => {
    const { blocks, starts } = parseMarkdown(
      '# Plan\n\n1. **one**\n   - deep\n2. `two`\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n```ts\nx\n```\n> said\n\n---',
    )
    expect(blocks.map(({ kind }) => kind)).toEqual([
      ...['heading', 'list', 'table', 'code', 'quote', 'rule'],
    ])
    expect(starts).toEqual([0, 2, 6, 10, 13, 15])
    expect(blocks[1]).toMatchObject({
      start: 1,
      items: [[{}, { kind: 'list', start: null }], [{}]],
    })
    expect(blocks[2]).toMatchObject({
      head: [[{ text: 'a' }], [{ text: 'b' }]],
      rows: [[[{ text: '1' }], [{ kind: 'strike' }]]],
    })
  })

  it('puts a box before each task of a list, and only there', () => {
    const { blocks } = parseMarkdown(
      '- [x] **done**\n- [ ] open\n- [y] no\n- [x]tight\n\n[ ] outside',
    )
    expect(JSON.stringify(blocks)).toMatch(
      /"☑ ".*"done".*"☐ open".*"\[y\] no".*"\[x\]tight".*"\[ \] outside"/,
    )
  })

  it('ignores HTML and dangerous URLs, and keeps line breaks', () => {
    const text = '<b>x</b>\n[y](javascript:alert(1)) ![z](data:text/html,1)'
    const [paragraph] = parseMarkdown(text).blocks
    expect(JSON.stringify(paragraph)).not.toMatch(/"kind":"link"/)
    expect(paragraph).toMatchObject({ children: [{ text: '<b>x</b>' }, { kind: 'break' }, {}] })
  })

  it('reads what is quoted up to 39 times', () => {
    for (const levels of [1, 38, 39]) {
      const parsed = JSON.stringify(parseMarkdown(`${'> '.repeat(levels)}**deep**`))
      expect(parsed.split('"kind":"quote"')).toHaveLength(levels + 1)
      expect(parsed).toContain('"kind":"strong"')
    }
  })

  it('keeps text that is nested too deep, and what follows it, as it was written', () => {
    for (const mark of ['> ', '- ', '1. ']) {
      const parsed = JSON.stringify(parseMarkdown(`${mark.repeat(60)}deep\n\nAfter it.`))
      expect(parsed).toContain('deep')
      expect(parsed).toContain('After it.')
    }
  })
})

/** The time for the text, as a multiple of the time for a quarter of it. */
describe.each([
  ['emphasis', (size: number) => '*a_'.repeat(size)],
  ['stars', (size: number) => `${'*'.repeat(size)}a`],
  ['quotes', (size: number) => `${'> '.repeat(size)}a`],
  ['brackets', (size: number) => '[a]('.repeat(size)],
  ['lists', (size: number) => '- '.repeat(size)],
])('hostile text: %s', (_name, make) => {
  it('takes bounded time to parse', () => {
    // 20,000 characters: other parsers took 6 to 40 s, this one 0.3 s on a loaded machine.
    const started = process.cpuUsage()
    parseMarkdown(make(20_000 / make(1).length))
    const { user, system } = process.cpuUsage(started)
    expect((user + system) / 1_000_000).toBeLessThan(4)
  })
})
