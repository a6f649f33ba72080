import { describe, expect, it } from 'vitest'
import type { Message } from './message.ts'
import { firstSentence, sentenceOf } from './title.ts'

describe('sentenceOf', () => {
  it.each([
    ['Fix the login page. Then deploy it.', 'Fix the login page'],
    ['Why is the sky blue?\nAnd the sea?', 'Why is the sky blue?'],
    ['# Weekly report\n\nSales rose.', 'Weekly report'],
    [
      '<environment_context>\n<cwd>/srv</cwd>\n</environment_context>\nAdd a test, please',
      'Add a test, please',
    ],
    ['42\n2026-11-17 10:00\nBook the flight to Oslo', 'Book the flight to Oslo'],
    ['/clear', null],
    ['12345', null],
    ['', null],
  ])('of %j is %j', (text, title) => {
    expect(sentenceOf(text)).toBe(title)
  })

  it('is cut at a word', () => {
    const title = sentenceOf('one two three '.repeat(20)) ?? ''
    expect(title.length).toBeLessThanOrEqual(80)
    expect(title).toMatch(/(?:one|two|three)…$/)
  })
})

describe('firstSentence', () => {
  it('takes the words of a person, and none of a program', () => {
    const say = (text: string, synthetic?: true): Message => ({
      ...{ role: 'user', parts: [{ type: 'text', text }] },
      ...(synthetic && { synthetic }),
    })
    expect(firstSentence([say('You are resumed now.', true), say('7'), say('Plan my week.')])).toBe(
      'Plan my week',
    )
    expect(firstSentence([])).toBeNull()
  })
})
