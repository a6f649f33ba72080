import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { discordMarkdown, LENGTH_MAX, TEXT_LENGTH_MAX } from './markdown.ts'

describe('discordMarkdown', () => {
  it('leaves alone what Discord shows as it is', () => {
    const text = '# One\n**bold** and `code`\n```ts\n#### kept | as | it is\n```\n- item'
    expect(discordMarkdown(text)).toBe(text)
  })

  it('shows deep headings as bold lines and tables as they were typed', () => {
    expect(discordMarkdown('#### Deep **er**')).toBe('**Deep er**')
    expect(discordMarkdown('a\n| x | y |\n| - | - |\nb')).toBe(
      'a\n```\n| x | y |\n| - | - |\n```\nb',
    )
  })

  it('closes a block of code that is still open', () => {
    expect(discordMarkdown('```ts\nconst a = 1')).toBe('```ts\nconst a = 1\n```')
  })

  it('gives a message that Discord takes, for any text', () => {
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
