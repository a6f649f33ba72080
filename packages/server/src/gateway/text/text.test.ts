import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { highlight } from './highlight.ts'
import { documentHtml, entryHtml } from './html.ts'
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

  it('keeps definitions of links, which other renderers hide', () => {
    const text = '[a]: https://b.example "c"\n\n[d][a]'
    expect(parseMarkdown(text).blocks).toMatchObject([
      { children: [{ text: '[a]: https://b.example "c"' }] },
      { children: [{ text: '[d][a]' }] },
    ])
  })

  it('reads text in up to 39 nested quotations', () => {
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

describe('highlight by language', () => {
  /** Spans that are not plain, such as `k:const`. */
  const marked = (code: string, language: string) =>
    highlight(code, language).flatMap(({ kind, text }) =>
      kind === 'plain' ? [] : [`${kind[0]}:${text}`],
    )

  it.each([
    ['js', 'let a = `b\nc` + 0x1f', ['k:let', 's:`b\nc`', 'n:0x1f']],
    ['TSX', "type a = 'b' // c", ['k:type', "s:'b'", 'c:// c']],
    ['js', '/* a\nb */ new', ['c:/* a\nb */', 'k:new']],
    ['js', '/* never closed\nif', ['c:/* never closed\nif']],
    ['js', '/*/ if', ['c:/*/ if']],
    ['js', "'open\nif", ["s:'open", 'k:if']],
    ['js', "'a\\'b' if", ["s:'a\\'b'", 'k:if']],
    ['js', '"a', ['s:"a']],
    ['js', '// a\nif', ['c:// a', 'k:if']],
    ['js', 'iffy $if if_ élif', []],
    ['js', 'a1 1a 2.5', ['n:1a', 'n:2.5']],
    ['go', "func a() { x := `b` 'c' }", ['k:func', 's:`b`']],
    ['py', '# a\ndef b: None', ['c:# a', 'k:def', 'k:None']],
    ['ruby', 'unless a # b', ['k:unless', 'c:# b']],
    ['sh', 'echo "a\nb" # c', ['k:echo', 's:"a\nb"', 'c:# c']],
    ['yaml', 'a: true # b', ['k:true', 'c:# b']],
    ['json', '{"a": null}', ['s:"a"', 'k:null']],
    ['css', '/* a */ @media', ['c:/* a */', 'k:media']],
    ['html', '<!-- a --> <p class="b">if', ['c:<!-- a -->', 's:"b"']],
    ['sql', 'select A -- b\nFROM', ['k:select', 'c:-- b', 'k:FROM']],
    ['lua', 'local a -- b', ['k:local', 'c:-- b']],
    ['diff', '+a\n-b\n@@ c\n d', ['a:+a\n', 'r:-b\n', 'k:@@ c\n']],
    ['patch', '+a', ['a:+a']],
    ['', 'if', []],
  ])('marks %s: %j', (language, code, expected) => {
    expect(marked(code, language)).toEqual(expected)
  })
})

describe('parseMarkdown, span by span', () => {
  const text = (value: string) => ({ kind: 'text', text: value })

  it.each([
    ['a\nb', [text('a'), { kind: 'break' }, text('b')]],
    ['a  \nb', [text('a'), { kind: 'break' }, text('b')]],
    ['`a`', [{ kind: 'code', text: 'a' }]],
    ['*a*', [{ kind: 'emphasis', children: [text('a')] }]],
    [
      '**a *b***',
      [{ kind: 'strong', children: [text('a '), { kind: 'emphasis', children: [text('b')] }] }],
    ],
    ['~~a~~', [{ kind: 'strike', children: [text('a')] }]],
    [
      '[a](https://b.example)',
      [{ kind: 'link', href: 'https://b.example', children: [text('a')] }],
    ],
    [
      '![a](https://b.example/c.png)',
      [{ kind: 'link', href: 'https://b.example/c.png', children: [text('a')] }],
    ],
    [
      '![](https://b.example/c.png)',
      [{ kind: 'link', href: 'https://b.example/c.png', children: [text('image')] }],
    ],
  ])('reads %j', (source, children) => {
    expect(parseMarkdown(source).blocks).toEqual([{ kind: 'paragraph', children }])
  })

  it.each<[string, object]>([
    ['### a', { kind: 'heading', level: 3, children: [text('a')] }],
    ['```ts title="x"\na\n\n```', { kind: 'code', text: 'a\n', language: 'ts' }],
    ['    a\n    b', { kind: 'code', text: 'a\nb', language: '' }],
    ['4. a', { kind: 'list', start: 4, items: [[{ kind: 'paragraph', children: [text('a')] }]] }],
    ['- ', { kind: 'list', start: null, items: [[]] }],
    ['> a', { kind: 'quote', blocks: [{ kind: 'paragraph', children: [text('a')] }] }],
    ['***', { kind: 'rule' }],
    ['|a|\n|-|', { kind: 'table', head: [[text('a')]], rows: [] }],
  ])('reads %j as one block', (source, block) => {
    expect(parseMarkdown(source)).toEqual({ blocks: [block], starts: [0] })
  })
})

describe('entryHtml', () => {
  const html = (text: string) => {
    const whole = entryHtml({ heading: 'User', text, isMarkdown: true, note: '' })
    const match = /^<h2>User<\/h2>\n<blockquote class="said">\n(.*)\n<\/blockquote>$/s.exec(whole)
    return match?.[1]
  }

  it.each([
    ['a\nb', '<p>a<br>b</p>'],
    ['# a', '<h3>a</h3>'],
    ['##### a', '<h6>a</h6>'],
    ['**a** *b* ~~c~~ `d`', '<p><strong>a</strong> <em>b</em> <s>c</s> <code>d</code></p>'],
    [
      '```js\nif "<"\n```',
      '<pre><code><span class="keyword">if</span> <span class="string">&quot;&lt;&quot;</span></code></pre>',
    ],
    ['> a', '<blockquote><p>a</p></blockquote>'],
    ['- a\n- b', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
    ['3. a', '<ol start="3"><li><p>a</p></li></ol>'],
    [
      '|a|b|\n|-|-|\n|c|d|',
      '<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>',
    ],
    ['---', '<hr>'],
    ['a\n\nb', '<p>a</p>\n<p>b</p>'],
    ['<b>&"\'', '<p>&lt;b&gt;&amp;&quot;&#39;</p>'],
    [
      '[a](https://b.example/?c&d)',
      '<p><a href="https://b.example/?c&amp;d" rel="noopener noreferrer">a</a></p>',
    ],
    [
      '[a](mailto:b@c.example)',
      '<p><a href="mailto:b@c.example" rel="noopener noreferrer">a</a></p>',
    ],
    ['[a](ftp://b.example)', '<p>a</p>'],
    ['[a](/b)', '<p>a</p>'],
  ])('writes %j', (source, expected) => {
    expect(html(source)).toBe(expected)
  })

  it('says why there is no text', () => {
    const entry = { heading: '<a>', text: null, isMarkdown: true, note: 'Gone & lost.' }
    expect(entryHtml(entry)).toBe('<h2>&lt;a&gt;</h2>\n<p><em>Gone &amp; lost.</em></p>')
  })

  it('is put into a page that loads nothing and runs no script', async () => {
    async function* entries() {
      for (const heading of ['one', 'two'])
        yield { heading, text: null, isMarkdown: true, note: null }
    }
    let page = ''
    for await (const part of documentHtml('<t>', 'a & b', entries())) page += part
    expect(page).toContain("default-src 'none'; style-src 'unsafe-inline'")
    expect(page).toContain('<title>&lt;t&gt;</title>')
    expect(page).toContain(
      '<h1>&lt;t&gt;</h1>\n<p>a &amp; b</p>\n<h2>one</h2>\n<h2>two</h2>\n</main>',
    )
    expect(page).not.toMatch(/<script|src=|@import|url\(/)
  })
})
