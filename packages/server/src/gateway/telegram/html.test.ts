import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visibleText } from '../../../../../test/gateways/bot-api-server.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { renderTelegramHtml } from './html.ts'

describe('renderHtml', () => {
  it.each([
    ['**bold** and *thin*', '<b>bold</b> and <i>thin</i>'],
    ['**bold *thin* bold**', '<b>bold <i>thin</i> bold</b>'],
    ['snake_case_name and _thin_', 'snake_case_name and <i>thin</i>'],
    ['2 * 3 * 4 < 5 & "six"', '2 * 3 * 4 &lt; 5 &amp; &quot;six&quot;'],
    ['`a < b` and ``c ` d``', '<code>a &lt; b</code> and <code>c ` d</code>'],
    ['~~gone~~', '<s>gone</s>'],
    ['# A **title**', '<b>A title</b>'],
    ['**a __b__ c**', '<b>a b c</b>'],
    ['- one\n  - two', '• one\n  • two'],
    ['> said\n> so', '<blockquote>said\nso</blockquote>'],
    ['```ts\nlet a = 1 < 2\n```', '<pre><code class="language-ts">let a = 1 &lt; 2</code></pre>'],
    ['```\nnever closed', '<pre>never closed</pre>'],
    ['```ls``` lists\nfiles', '<code>ls</code> lists\nfiles'],
    ['1. so:\n    ```\n    ls\n    ```\nand', '1. so:\n<pre>    ls</pre>\nand'],
    ['[a](https://x.example/?a=1&b=2)', '<a href="https://x.example/?a=1&amp;b=2">a</a>'],
    ['[a](javascript:alert(1))', '[a](javascript:alert(1))'],
    ['[[a](https://x.example)', '[<a href="https://x.example">a</a>'],
    ['| a | b |\n| - | - |', '<pre>| a | b |\n| - | - |</pre>'],
    ['\\*not thin\\*', '*not thin*'],
    ['**open', '**open'],
    ['<b>not ours</b>', '&lt;b&gt;not ours&lt;/b&gt;'],
  ])('%j', (markdown, html) => {
    expect(renderTelegramHtml(markdown)).toBe(html)
  })

  it('is well-formed and never longer as visible text, for any input', () => {
    const mark = fc.constantFrom(
      ...['**', '*', '_', '__', '~~', '`', '``', '```', '[', '](', ')', '\\', '<', '>', '&', '"'],
      ...['\n', ' ', 'a', 'https://x.example', '# ', '- ', '> ', '|', '</b>', '<pre>', '\ud800'],
    )
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 60 }), (marks) => {
        const markdown = marks.join('')
        const text = visibleText(renderTelegramHtml(markdown))
        expect(text).not.toBe(null)
        expect(text?.length).toBeLessThanOrEqual(markdown.length)
      }),
      { numRuns: tries(2_000) },
    )
  })

  it.each(['**a ', '[', '](x)', '[a](', '[a](b ', '`', '_a', '``` \n', '*a_b~~'])(
    'takes at most linear time for repetitions of %j',
    (piece) => {
      const prepare = (length: number) => {
        const text = piece.repeat(length / piece.length)
        return () => renderTelegramHtml(text)
      }
      expect(costOfTenfold(prepare, { size: 10_000 })).toBeLessThan(15)
    },
  )
})
