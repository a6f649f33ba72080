import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../test/support/timing.ts'
import { kindOf, splitNotes } from './client-notes.ts'

describe('splitNotes', () => {
  it("leaves a person's words when reminders stand around them [proxy law 14]", () => {
    const text =
      '<system-reminder>\nToday is Monday.\n</system-reminder>\nThe code word is heron.\n\n<system-reminder>\nBe brief.\n</system-reminder>'
    const { text: words, notes } = splitNotes(text)
    expect(words.trim()).toBe('The code word is heron.')
    expect(notes.map((note) => note.text.includes('heron'))).toEqual([false, false])
  })

  it('leaves a tag alone that a person writes about', () => {
    const text = 'Why is <system-reminder>x</system-reminder> in my log?'
    expect(splitNotes(text)).toEqual({ text, notes: [] })
  })

  it('keeps a reminder that never ends as words', () => {
    const text = '<system-reminder>\nno end'
    expect(splitNotes(text).text).toBe(text)
  })

  it('gives notes of one kind one name though their figures change', () => {
    expect(kindOf('<total_tokens>14,999 tokens left')).toBe(kindOf('<total_tokens>9 tokens left'))
    expect(kindOf('<system-reminder>\nA')).not.toBe(kindOf('<system-reminder>\nB'))
  })

  it('takes linear time for tags that are never closed', () => {
    const prepare = (count: number) => {
      const many = '\n<system-reminder>'.repeat(count)
      const inLine = `${'x<system-reminder>'.repeat(4 * count)}</system-reminder>`
      return () => [splitNotes(many), splitNotes(inLine)]
    }
    expect(costOfTenfold(prepare, { size: 500 })).toBeLessThan(15)
  })
})

it('takes the instructions of a project, which Codex sends as a text, for a note', () => {
  const text = '# AGENTS.md instructions for /work\n\nRun <tests>.'
  expect(splitNotes(text)).toEqual({ text: '', notes: [{ kind: kindOf(text), text }] })
  expect(splitNotes(` ${text}`)).toEqual({ text: ` ${text}`, notes: [] })
})
