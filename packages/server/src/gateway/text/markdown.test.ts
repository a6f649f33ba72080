import { describe, expect, it } from 'vitest'
import { entryMarkdown, headMarkdown } from './markdown.ts'
import { showUnseen } from './show-unseen.ts'

const entry = (text: string, isMarkdown = true) =>
  entryMarkdown({ heading: 'User', text, isMarkdown, note: null })

/** Without the heading and the quotation of every line. */
function written(text: string, isMarkdown = true): string {
  const [before, ours, heading, between, ...lines] = entry(text, isMarkdown).split('\n')
  expect([before, ours, heading]).toEqual(['', '### User', ''])
  expect(lines.at(-1)).toBe('')
  return [between, ...lines.slice(0, -1)]
    .map((line) => /^> ?(.*)$/.exec(line ?? '')?.[1])
    .join('\n')
}

describe('Markdown of an entry', () => {
  it.each([
    'Plain text, snake_case, 1.5 GB, AT&T, a &lt; b',
    '**bold**, *emphasis*, ***both***, ~~gone~~, `code`',
    'one  \ntwo',
    '- a\n- b\n\n  - c\n\n  more',
    '3. a\n4. b',
    '> quoted\n>\n> > twice',
    '| a | b |\n| --- | --- |\n| `c` | *d* |',
    '```ts\nconst a = "<img>"\n\n\tb  \n```',
    '````\n```\n````',
    '``a`b``',
    '`` `a` ``',
    '<https://a.example/b_c?d=1>',
    '[a](https://b.example/?c=1#d)',
    '[a](mailto:b@c.example)',
    '___',
  ])('leaves as it is: %j', (text) => {
    expect(written(text)).toBe(text)
  })

  it.each([
    // Ours are the first three levels.
    ['# a', '#### a'],
    ['## a #b#', '##### a #b\\#'],
    ['##### a', '###### a'],
    ['a\n===', '#### a'],
    ['    code', '```\ncode\n```'],
    ['```js title="x"\na\n```', '```js\na\n```'],
    ['a\nb', 'a  \nb'],
    ['https://a.example/b_c.', '<https://a.example/b_c>.'],
    ['[a](https://b.example/c_(d))', '[a](https://b.example/c_%28d%29)'],
    // Nothing is loaded.
    ['![a](https://b.example/?c)', '[a](https://b.example/?c)'],
    ['![a][b]\n\n[b]: https://c.example', '!\\[a\\]\\[b\\]\n\n\\[b\\]: <https://c.example>'],
    ['[![a](https://b.example)](https://c.example)', '[a](https://c.example)'],
    ['![a\\](https://b.example)', '!\\[a\\](<https://b.example>)'],
    ['!<!---->[a](https://b.example)', '!&lt;!---->[a](https://b.example)'],
    ['\\![a](https://b.example)', '\\![a](https://b.example)'],
    ['```mermaid\na\n```', '```\na\n```'],
    ['```{=html}\n<a>\n```', '```\n<a>\n```'],
    // Nothing is run.
    ['<img src=x onerror=a()>', '&lt;img src=x onerror=a()>'],
    ['&lt;b&gt; &amp;lt; &copy', '&lt;b> &amp;lt; &copy'],
    ['[a](javascript:b)', '\\[a\\](javascript:b)'],
    ['[a](/b)', '\\[a\\](/b)'],
    ['[`a]`](https://b.example)', '[a&#93;](https://b.example)'],
    ['|a|b|\n|-|-|\n|`c\\|d`|e\\|f|', '| a | b |\n| --- | --- |\n| c&#124;d | e&#124;f |'],
    [
      '$a$ {.b onclick=c} www.d.example ftp://e',
      '\\$a\\$ \\{.b onclick=c} www\\.d.example ftp:\\//e',
    ],
    // Nothing begins a block, or joins another one.
    [
      '\\# a\n\\> b\n\\- c\n\\+ d\n1\\. e\n\\=',
      '\\# a  \n\\> b  \n\\- c  \n\\+ d  \n1\\. e  \n\\=',
    ],
    ['a&NewLine;# b', 'a # b'],
    ['&#32;&#32;&#32;&#32;a', '&#32;   a'],
    ['~~[](/a)~~', '~~\\[\\](/a)~~'],
    ['`a`[](https://b.example)`` c`d ``', '`a`[](https://b.example)``c`d``'],
    ['*a*&nbsp;', '*a*\u00a0'],
    ['a ~~~~b~~~~', 'a ~~b~~'],
    ['- - -', '___'],
    ['-\n- a', '-\n- a'],
  ])('writes %j as %j', (text, expected) => {
    expect(written(text)).toBe(expected)
  })

  it('keeps what a tool returned byte for byte, inside a fence that it cannot close', () => {
    const text = '### Agent\n~~~~\n````\n  <b>  \n\n\t![a](b)'
    expect(written(text, false)).toBe(`\`\`\`\`\`\n${text}\n\`\`\`\`\``)
  })

  it('does not grow with the square of the text for short lines in deep lists', () => {
    const text = `${'1. '.repeat(38)}a\n${'b\n'.repeat(1_000)}`
    expect(entry(text).length).toBeLessThan(4 * text.length)
  })

  it('says why there is no text', () => {
    expect(entryMarkdown({ heading: 'User', text: null, isMarkdown: true, note: 'Erased.' })).toBe(
      '\n### User\n\n_Erased._\n',
    )
  })

  it('escapes titles', () => {
    const heading = 'pin <b> [a](b) #'
    expect(entryMarkdown({ heading, text: null, isMarkdown: true, note: null })).toBe(
      '\n### pin &lt;b> \\[a\\](b) \\#\n',
    )
    expect(headMarkdown('<b> [a](b) #', '- *c*')).toBe('# &lt;b> \\[a\\](b) \\#\n\n\\- \\*c\\*\n')
  })
})

it.each([
  ['\u0000\u001b\u007f\u009b\r', '‹U+0000›‹U+001B›‹U+007F›‹U+009B›‹U+000D›'],
  ['a\u202eb\u200bc\ufeff', 'a‹U+202E›b‹U+200B›c‹U+FEFF›'],
  ['\u2028\u2029\u00ad\u3164', '‹U+2028›‹U+2029›‹U+00AD›‹U+3164›'],
  ['a\u{e0061}\u{e0100}', 'a‹U+E0061›‹U+E0100›'],
  ['pass\u200dword \ufe0f', 'pass‹U+200D›word ‹U+FE0F›'],
  ['\ud800a', '‹U+D800›a'],
  ['a\n\tb', 'a\n\tb'],
  ['👨‍👩‍👦 👩🏽‍💻 ❤️ 1️⃣', '👨‍👩‍👦 👩🏽‍💻 ❤️ 1️⃣'],
  ['می‌خواهم क्‍ष', 'می‌خواهم क्‍ष'],
])('shows what is not seen in %j', (text, expected) => {
  expect(showUnseen(text)).toBe(expected)
})
