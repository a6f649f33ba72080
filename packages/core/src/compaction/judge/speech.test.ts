import { describe, expect, it } from 'vitest'
import { countWords, readSpeech, withoutInventedTurns, withoutQuotations } from './speech.ts'

const NOTHING = {
  ...{ words: 0, reports: 0, addresses: 0, announces: 0, headings: [] },
  ...{ opensAsReply: false, closesAsReply: false, startsMidway: false },
}

describe('how a text speaks', () => {
  it.each<[string, object]>([
    ['', {}],
    ['The user asked the agent about it.', { words: 7, reports: 2 }],
    [
      'Let me look at your file. You said so.',
      { words: 9, addresses: 2, announces: 1, opensAsReply: true },
    ],
    ['Thanks! I will add it.', { words: 5, announces: 1, opensAsReply: true }],
    [
      '# Progress\n\n## Done\nThanks for it.',
      { words: 5, headings: ['progress', 'done'], opensAsReply: true },
    ],
    ['**Hi** there', { words: 2, opensAsReply: true }],
    ['It is done. Let me know if it fails.', { words: 9, announces: 1, closesAsReply: true }],
    ['It is done. Would you like more?', { words: 7, addresses: 1, closesAsReply: true }],
    ['It is done. Please confirm the date', { words: 7, closesAsReply: true }],
    ['3. Third of all', { words: 4, startsMidway: true }],
    ['and so on', { words: 3, startsMidway: true }],
    ['1. First of all', { words: 4 }],
    ['The "your file" and `you` say “let me” so.', { words: 4 }],
    ['Kept:\n> Thanks, you!\nDone.', { words: 2, headings: ['kept'] }],
    [
      '**Data:**\n2. **Next steps**:\n1) What is left:\nA: b',
      { words: 10, headings: ['data', 'next steps', 'what is left'] },
    ],
    [`${'Word '.repeat(200)}You?`, { words: 201, addresses: 1 }],
  ])('%j', (text, speech) => {
    expect(readSpeech(text)).toEqual({ ...NOTHING, ...speech })
  })

  it('is read in its first 60,000 characters, and at its edges', () => {
    expect(readSpeech(`${'a '.repeat(29_999)}bc you`).words).toBe(30_000)
    const far = (text: string, characters: number) => `${'x'.repeat(characters)} ${text}`
    expect(readSpeech(far('Let me know.', 387)).closesAsReply).toBe(true)
    expect(readSpeech(`Let me know ${'x'.repeat(400)}`).closesAsReply).toBe(false)
  })

  it('counts words, and two characters of Chinese as one more', () => {
    expect(countWords('one two_3, 4')).toBe(3)
    expect(countWords('船が')).toBe(2)
    expect(countWords('')).toBe(0)
  })

  it('leaves out what it quotes', () => {
    const quoted = ['```a b```', '`a`', '"a"', '“a”', '«a»', '„a“', '「a」', '  > a']
    for (const each of quoted) expect(withoutQuotations(each).trim()).toBe('…')
    expect(withoutQuotations('say "a" and "b"')).toBe('say  …  and  … ')
    expect(withoutQuotations('"a\nb" > c')).toBe('"a\nb" > c')
  })
})

it('turns that a model invented are cut off, and labels in a list are not', () => {
  const summary = 'It is done.\n- User: Ann'
  expect(withoutInventedTurns(summary)).toBe(summary)
  expect(withoutInventedTurns(`${summary}\n\n[USER]: And now?\n[ASSISTANT]: This.`)).toBe(summary)
  expect(withoutInventedTurns(`${summary}\nHuman: And?\nAI: This.`)).toBe(summary)
  expect(withoutInventedTurns(`${summary}\nAssistant: This.\nUser: And?`)).toBe(summary)
  for (const label of ['User: a\nHuman: b', 'Agent: a\nModel: b', 'user: a']) {
    expect(withoutInventedTurns(`${summary}\n${label}`)).toBe(`${summary}\n${label}`)
  }
})
