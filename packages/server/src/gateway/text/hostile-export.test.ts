import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { marked } from 'marked'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { describe, expect, it } from 'vitest'
import { user } from '../../../../../test/support/builders.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import type { Session, SessionSummary, TranscriptEntry } from '../../runtime/runtime.ts'
import { exportAs } from './export-session.ts'
import { entryMarkdown } from './markdown.ts'
import { showUnseen } from './show-unseen.ts'

/**
 * Random mixtures of hostile pieces, exported, rendered by other programs with raw HTML allowed, and judged by
 * what an HTML parser finds.
 */

const PIECES = [
  // What loads.
  ...['![x](https://evil.example/?s)', '![x][r]', '\n\n[r]: https://evil.example\n\n', '![', '!'],
  ...[
    '[![b](https://i.example)](https://l.example)',
    '<img src=x onerror=a()>',
    '<style>@import"x"',
  ],
  // What runs, and links to elsewhere.
  ...['<script>a()</script>', '<script>', '<iframe src=//e>', '<a href="javascript:a()">', '<b>'],
  ...[
    '[a](javascript:a())',
    '[a](JaVaScript&colon;1)',
    '[a](data:text/html,x)',
    '[a](/b)',
    '[](/b)',
  ],
  ...[
    'ftp://e.example/x',
    '//e.example/x',
    'www.e.example',
    'https://e.example/a_b?c=1&d=2',
    'a@b.example',
  ],
  ...[
    '[t](https://e.example "t")',
    '[t](<https://e.example/ b>)',
    '<https://e.example/x_y>',
    '{onclick=a()}',
  ],
  // What breaks out.
  ...[
    '<!--',
    '-->',
    '<details>',
    '<pre>',
    '</blockquote>',
    '<![CDATA[',
    '<?',
    '<',
    '>',
    '&lt;script&gt;',
  ],
  ...[
    '`',
    '``',
    '```',
    '````\n',
    '```js\n',
    '```mermaid\n',
    '```{=html}\n',
    '~',
    '~~',
    '~~~',
    '    ',
    '\t',
  ],
  ...[
    '`a`',
    '`<img src=x>`',
    '`a|b`',
    '`<img>\\|<img src=x onerror=1>`',
    '\\',
    '\\\\',
    '\\\n',
    '  \n',
  ],
  ...[
    '# ',
    '## User\n',
    '### Agent\n',
    '\n===\n',
    '\n---\n',
    '***',
    '___',
    '- ',
    '1. ',
    '> ',
    '\n> ',
    '[^1]: a\n',
  ],
  ...[
    '| a | b |\n|---|---|\n| ',
    '\n|---|\n',
    '|',
    '\n:-\n',
    '[',
    '](',
    ']',
    '(',
    ')',
    '[^1]',
    '$x$',
  ],
  // What is not seen, and what entities stand for.
  ...[
    '\u202e',
    '\u200b',
    '\u0000',
    '\u000b',
    '\u0085',
    '\u2028',
    '\u001b[31m',
    '\ud800',
    '&#x202e;',
    '\r',
  ],
  ...[
    '&NewLine;',
    '&#10;## User',
    '&Tab;',
    '&#32;',
    '&nbsp;',
    '&#13;',
    '&#96;&#96;&#96;',
    '&amp;',
    '&',
  ],
  ...[
    '*',
    '**',
    '_',
    'a',
    'b c',
    'a_b',
    'é',
    '漢',
    '👨‍👩‍👦',
    '"',
    '\n',
    '\n\n',
    '- [x] ',
    '=',
    '+',
    '1.',
    ':',
  ],
]

const { text: hostile } = fc.letrec<{ text: string }>((tie) => {
  const inner = tie('text')
  const line = inner.map((text) => text.replaceAll(/\s*[\r\n]+\s*/g, ' '))
  const lines = (first: string, rest: string) =>
    inner.map((text) => first + text.replaceAll('\n', `\n${rest}`))
  const mixed = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 })
  return {
    text: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 4, arbitrary: mixed.map((pieces) => pieces.join('')) },
      line.map((text) => `[${text}](https://e.example)`),
      line.map((text) => `![${text}](https://e.example)`),
      line.map((text) => `\`\` ${text} \`\``),
      fc
        .tuple(fc.constantFrom('`', '*', '**', '~~', '\n# '), line)
        .map(([mark, text]) => mark + text + mark),
      fc.tuple(line, line).map(([one, two]) => `\na|b\n-|-\n${one}|${two}\n${two}|${one}\n`),
      fc.oneof(lines('> ', '> '), lines('- ', '  '), lines('1. ', '   ')),
      fc.tuple(inner, inner).map((both) => both.join('')),
    ),
  }
})

const conversations = fc.array(fc.record({ text: hostile, isResult: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
})

type Said = typeof conversations extends fc.Arbitrary<infer Value> ? Value : never

async function exported(said: Said, form: 'markdown' | 'html'): Promise<string> {
  const entries = said.map(({ text, isResult }, at) => {
    const kind = isResult ? 'result' : 'input'
    return { kind, message: user(text), meta: {}, body: null, at: 0, number: at + 1 }
  })
  const session = {
    transcript: async () => entries as unknown as TranscriptEntry[],
  } as unknown as Session
  const title = said.map(({ text }) => text).join(' ')
  const summary = {
    id: 's',
    title,
    agent: title.split('\n')[0],
    createdAt: 0,
    entries: said.length,
  }
  let written = ''
  for await (const piece of exportAs(session, summary as unknown as SessionSummary, { form })) {
    written += piece
  }
  return written
}

const markdownIt = new MarkdownIt({ html: true, linkify: true })

const RENDERERS: Readonly<Record<string, (text: string) => string>> = {
  'markdown-it': (text) => markdownIt.render(text),
  marked: (text) => marked.parse(text, { async: false }),
  'marked, without tables': (text) => marked.parse(text, { async: false, gfm: false }),
}

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'rel'],
  ol: ['start'],
  code: ['class'],
  blockquote: ['class'],
  span: ['class'],
  ...Object.fromEntries(
    'html head body main p h1 h2 h3 h4 h5 h6 ul li pre em strong s del br hr table thead tbody tr th td'
      .split(' ')
      .map((tag) => [tag, []]),
  ),
}

type Node = DefaultTreeAdapterTypes.Node

const childrenOf = (node: Node): readonly Node[] => ('childNodes' in node ? node.childNodes : [])

const textIn = (node: Node): string =>
  'value' in node ? node.value : childrenOf(node).map(textIn).join('')

/** Whatever a renderer wrote that could act: it is no part of ordinary Markdown. */
function actsIn(node: Node): string[] {
  const own: string[] = node.nodeName === '#comment' ? ['a comment'] : []
  if ('attrs' in node) {
    const allowed = ATTRIBUTES[node.nodeName]
    if (allowed === undefined) own.push(`<${node.nodeName}>`)
    for (const { name, value } of node.attrs) {
      const isHarmless = name !== 'href' || /^(?:https?|mailto):/i.test(value)
      if (allowed?.includes(name) !== true || !isHarmless) own.push(`${name}="${value}"`)
    }
  }
  return [...own, ...childrenOf(node).flatMap(actsIn)]
}

/** The parts of the page in order, with the words of our headings. */
function outlineOf(root: Node, ours: string): string[] {
  return childrenOf(root)
    .filter((node) => 'tagName' in node || textIn(node).trim() !== '')
    .map((node) => (node.nodeName === ours ? textIn(node) : node.nodeName))
}

function elementIn(node: Node, tag: string): Node {
  const found = childrenOf(node).find(({ nodeName }) => nodeName === tag)
  if (found === undefined) throw new Error(`No <${tag}> in <${node.nodeName}>`)
  return found
}

const outlineFor = (said: Said): string[] => [
  ...['h1', 'p'],
  ...said.flatMap(({ isResult }, at) => [
    `${isResult ? 'Tool result' : 'User'} · 1970-01-01 00:00 · #${at + 1}`,
    'blockquote',
  ]),
]

const SEEN =
  /^(?:[\n\t]|[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff])*$/u

describe('an export of hostile messages', () => {
  it.each(Object.keys(RENDERERS))(
    'loads and runs nothing, and keeps its speakers apart, rendered by %s',
    async (renderer) => {
      const render = RENDERERS[renderer] ?? String
      await fc.assert(
        fc.asyncProperty(conversations, async (said) => {
          const markdown = await exported(said, 'markdown')
          expect(markdown).toMatch(SEEN)
          const page = parse(`<!doctype html><html><head></head><body>${render(markdown)}`)
          const html = elementIn(page, 'html')
          expect(actsIn(html)).toEqual([])
          expect(outlineOf(elementIn(html, 'body'), 'h3')).toEqual(outlineFor(said))
        }),
        { numRuns: tries(800) },
      )
    },
    120_000,
  )

  it('loads and runs nothing, and keeps its speakers apart, as HTML', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async (said) => {
        const text = await exported(said, 'html')
        expect(text).toMatch(SEEN)
        const html = elementIn(parse(text), 'html')
        const body = elementIn(html, 'body')
        expect(actsIn(body)).toEqual([])
        expect(outlineOf(elementIn(body, 'main'), 'h2')).toEqual(outlineFor(said))
        const head = outlineOf(elementIn(html, 'head'), '')
        expect(head).toEqual(['meta', 'meta', 'meta', 'title', 'style'])
      }),
      { numRuns: tries(800) },
    )
  }, 120_000)
})

describe.each([
  ...[
    '[',
    '*',
    '`',
    '<',
    '&',
    '![',
    '*a_',
    '[a](',
    '> a\n',
    '- a\n',
    'a\n',
    '|a|\n',
    '`` ` ',
    '[a]: b\n',
  ],
  ...[
    '<!--',
    '~~a',
    '<https://a.example>',
    'https://a.example ',
    '![a](https://b.example) ',
    '\u202e',
  ],
])('an export of a long text of %j', (piece) => {
  it('takes time in proportion to its size', () => {
    const cost = costOfTenfold(
      (size) => {
        const text = piece.repeat(size / piece.length)
        return () =>
          showUnseen(entryMarkdown({ heading: 'User', text, isMarkdown: true, note: null }))
      },
      { size: 10_000, floorMs: 2, clearlyLinear: 25 },
    )
    expect(cost).toBeLessThan(40)
  }, 120_000)
})

it.each([
  ['lists', '- '.repeat(36)],
  ['lines in lists', '- '.repeat(36), 'a\n'],
  ['code in lists', `${'- '.repeat(36)}\`\`\`\n`, '\n'],
])(
  'an export of deep %s grows and takes time in proportion to its size',
  (_what, deep, more = deep) => {
    const entry = { heading: 'User', isMarkdown: true, note: null }
    const cost = costOfTenfold(
      (size) => {
        const text = `${deep}${more.repeat(size / more.length)}`
        return () => entryMarkdown({ ...entry, text })
      },
      { size: 10_000, floorMs: 2, clearlyLinear: 25 },
    )
    expect(cost).toBeLessThan(40)
  },
  120_000,
)
