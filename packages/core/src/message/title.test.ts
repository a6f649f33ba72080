import { describe, expect, it } from 'vitest'
import type { Message } from './message.ts'
import { firstSentence, sentenceOf } from './title.ts'

const asItIs = (text: string) => text

describe('sentenceOf', () => {
  it('is masked before it is cut', () => {
    const mask = (text: string) => text.replaceAll(/\bhush-\w{60}\b/g, '[secret]')
    const text = `Please log in to the server with hush-${'x'.repeat(60)} today`
    expect(sentenceOf(text, mask)).toBe('Please log in to the server with [secret] today')
  })

  it.each([
    ['Fix the login page. Then deploy it.', 'Fix the login page'],
    ['Why is the sky blue?\nAnd the sea?', 'Why is the sky blue?'],
    ['# Weekly report\n\nSales rose.', 'Weekly report'],
    [
      '<environment_context>\n<cwd>/srv</cwd>\n</environment_context>\nAdd a test, please',
      'Add a test, please',
    ],
    ['42\n2026-11-17 10:00\nBook the flight to Oslo', 'Book the flight to Oslo'],
    ['**Fix** the `login` page, _please_. Then rest.', 'Fix the login page, please'],
    [
      '1. [Read this](https://example.org/a_b) and ~~skip~~ the rest',
      'Read this and skip the rest',
    ],
    ['- [ ] Water the plants', 'Water the plants'],
    ['> ## Quoted heading here', 'Quoted heading here'],
    ['![chart](a.png) What does it show?', 'chart What does it show?'],
    [
      '<p>Dear <b>agent</b>, look at <a href="x">this page</a></p>',
      'Dear agent, look at this page',
    ],
    ['<b>Fix</b> the page', 'Fix the page'],
    [
      'Is 2 * 3 * 4 more than a_b or snake_case_name?',
      'Is 2 * 3 * 4 more than a_b or snake_case_name?',
    ],
    ['Use Map<string, number> if a < b and c > d', 'Use Map<string, number> if a < b and c > d'],
    ['**bold without end stays as it is', '**bold without end stays as it is'],
    ['**42**\nBook the flight', 'Book the flight'],
    ['/clear', null],
    ['12345', null],
    ['', null],
  ])('of %j is %j', (text, title) => {
    expect(sentenceOf(text, asItIs)).toBe(title)
  })

  const words = 'one two three '.repeat(5)
  it.each([
    [`${words}nine eight`, `${words}nine eight`],
    [`${words}nine eights`, `${words}nine…`],
    [`${'x'.repeat(40)} ${'y'.repeat(40)}`, `${'x'.repeat(40)}…`],
    [`ab ${'x'.repeat(77)}`, `ab ${'x'.repeat(77)}`],
    [`ab cd${'x'.repeat(90)}`, 'ab…'],
    [`${'x'.repeat(79)} zz`, `${'x'.repeat(79)}…`],
    [`${'x'.repeat(80)} zz`, `${'x'.repeat(79)}…`],
    // A sentence is searched in the first 4,000 characters.
    [`1 ${' '.repeat(3_991)}ab cd ef`, '1 ab cd e'],
    [`${'1 '.repeat(1_998)}\n\nab`, null],
  ])('is cut at a word after 80 characters: %#', (text, title) => {
    expect(sentenceOf(text, asItIs)).toBe(title)
  })
})

describe('firstSentence', () => {
  it('uses the text of a person, and none of a program', () => {
    const say = (text: string, synthetic?: true): Message => ({
      ...{ role: 'user', parts: [{ type: 'text', text }] },
      ...(synthetic && { synthetic }),
    })
    const said = [say('You are resumed now.', true), say('7'), say('Plan my week.')]
    expect(firstSentence(said, asItIs)).toBe('Plan my week')
    expect(firstSentence([], asItIs)).toBeNull()
    expect(firstSentence([say('7'), say('/clear')], asItIs)).toBeNull()
    const reply: Message = { role: 'assistant', parts: [{ type: 'text', text: 'I am here.' }] }
    expect(firstSentence([reply, say('And me.'), say('Not me.')], asItIs)).toBe('And me')
  })
})
