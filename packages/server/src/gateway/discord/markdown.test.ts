import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { discordMarkdown, LENGTH_MAX, TEXT_LENGTH_MAX } from './markdown.ts'

describe('discordMarkdown', () => {
  it('leaves markup that Discord renders unchanged', () => {
    const text = '# One\n**bold** and `code`\n```ts\n#### kept | as | it is\n```\n- item'
    expect(discordMarkdown(text)).toBe(text)
  })

  it('renders deep headings as bold lines and tables as typed', () => {
    expect(discordMarkdown('#### Deep **er**')).toBe('**Deep er**')
    expect(discordMarkdown('a\n| x | y |\n| - | - |\nb')).toBe(
      'a\n```\n| x | y |\n| - | - |\n```\nb',
    )
  })

  it('closes an open code block', () => {
    expect(discordMarkdown('```ts\nconst a = 1')).toBe('```ts\nconst a = 1\n```')
  })

  it('produces a message that Discord accepts, for any text', () => {
    const piece = fc.constantFrom('```', '```ts', '|a|', '\n', '#### x', ' ', 'word ', '![i](u)')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 700 }), (pieces) => {
        const rendered = discordMarkdown(pieces.join('').slice(0, TEXT_LENGTH_MAX))
        expect(rendered.length).toBeLessThanOrEqual(LENGTH_MAX)
        expect(rendered.trim()).not.toBe('')
      }),
    )
  })
})
