import { describe, expect, it } from 'vitest'
import { readMessage } from '../../../packages/dashboard/data/message-markdown.ts'

const text = (words: string) => ({ kind: 'text', text: words })
const link = (href: string, words = href) => ({ kind: 'link', href, children: [text(words)] })
const paragraph = (...children: readonly unknown[]) => ({ kind: 'paragraph', children })

describe('readMessage', () => {
  it('links addresses in the text, without the full stop after them', () => {
    const { blocks } = readMessage('See **https://a.example/x?y=1**, or\n> http://b.example/.')
    expect(blocks).toEqual([
      paragraph(
        text('See '),
        { kind: 'strong', children: [link('https://a.example/x?y=1')] },
        text(', or'),
      ),
      { kind: 'quote', blocks: [paragraph(link('http://b.example/'), text('.'))] },
    ])
  })

  it('keeps links to web and mail addresses, and only the words of all others', () => {
    const { blocks } = readMessage(
      '[a](https://a.example) [b](mailto:b@b.example) [c](ftp://c.example) [d](#/health) [e](javascript:e)',
    )
    const [block] = blocks
    const spans: readonly unknown[] = block?.kind === 'paragraph' ? block.children : []
    const [first, , second, ...others] = spans
    expect([first, second]).toEqual([
      link('https://a.example', 'a'),
      link('mailto:b@b.example', 'b'),
    ])
    expect(others.filter((span) => JSON.stringify(span).includes('href'))).toEqual([])
    expect(JSON.stringify(others)).toContain('"d"')
  })

  it('shows what would need too many elements as it was written, from its block on', () => {
    const list = '- **w** `w`\n'.repeat(400)
    const { blocks, rest, elementsLeft } = readMessage(`# Head\r\r${list}\nThe *end*.`)
    expect(blocks.map(({ kind }) => kind)).toEqual(['heading'])
    expect(rest).toBe(`${list}\nThe *end*.`)
    expect(elementsLeft).toBe(999)
  })

  it('draws a table of a hundred rows whole', () => {
    const table = `| a | b |\n| - | - |\n${'| 1 | 2 |\n'.repeat(100)}`
    const { blocks, rest } = readMessage(table)
    expect(rest).toBe('')
    expect(blocks).toMatchObject([{ kind: 'table', head: [[text('a')], [text('b')]] }])
  })
})
