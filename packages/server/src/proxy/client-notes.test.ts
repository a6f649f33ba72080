import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../test/support/timing.ts'
import { isClientSummary, isLeftHandoff, kindOf, splitNotes, splitTags } from './client-notes.ts'

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

const TAGS = [
  ...['system-reminder', 'environment_context', 'user_instructions', 'turn_aborted'],
  ...['permissions instructions', 'collaboration_mode', 'total_tokens'],
]

it.each(TAGS)('takes out every note in <%s>, in order, and leaves the rest', (tag) => {
  const note = (words: string) => `<${tag}>${words}</${tag}>`
  const text = `${note('One: 5')} a\n${note('Two\nthree')}b ${note('c')}\n${note('')}`
  expect(splitNotes(text)).toEqual({
    text: ` a\nb ${note('c')}\n`,
    notes: [
      { kind: `<${tag}>One# #</${tag}>`, text: note('One: 5') },
      { kind: `<${tag}>Two`, text: note('Two\nthree') },
      { kind: `<${tag}></${tag}>`, text: note('') },
    ],
  })
  // A mark that only looks like one, before the next that is one.
  expect(splitNotes(`x<${tag}>\n${note('y')}<${tag}>z`).text).toBe(`x<${tag}>\n<${tag}>z`)
})

it('keeps other tags, and does not take what a tool writes for a note as a whole', () => {
  const other = '<thinking>x</thinking>'
  expect(splitNotes(other)).toEqual({ text: other, notes: [] })
  const text = '# AGENTS.md instructions\n<total_tokens>5</total_tokens>'
  expect(splitTags(text)).toEqual({
    text: '# AGENTS.md instructions\n',
    notes: [{ kind: '<total_tokens>#</total_tokens>', text: '<total_tokens>5</total_tokens>' }],
  })
})

it.each<[string, string]>([
  ['', ''],
  ['Words', 'Words'],
  ['<a>\n  Words 1,5 and 2.\nmore', '<a>Words # and #'],
  [`<${'x'.repeat(60)}>y`, `<${'x'.repeat(60)}>y`],
  ['x'.repeat(81), 'x'.repeat(80)],
  [`<a>${'x'.repeat(79)}12`, `<a>${'x'.repeat(79)}#`],
])('names the kind of %j', (text, kind) => {
  expect(kindOf(text)).toBe(kind)
})

it.each<[string, boolean, boolean]>([
  ['[handoff 0123456789ab by=digest] So far.', true, true],
  ['[handoff 0123456789a by=digest] So far.', false, false],
  [' [handoff 0123456789ab by=digest]', false, false],
  ['This session is being continued from a previous conversation that ran out.', true, false],
  ['Another language model started to solve this problem and', true, false],
  [
    'The conversation history before this point was compacted into the following summary:',
    true,
    false,
  ],
  ['They said: This session is being continued from a previous conversation', false, false],
])('knows a summary of a client from words: %s', (text, isSummary, isOurs) => {
  expect([isClientSummary(text), isLeftHandoff(text)]).toEqual([isSummary, isOurs])
})
