import { describe, expect, it } from 'vitest'
import { user } from '../../../../test/support/builders.ts'
import { textOf } from './text.ts'
import { asTyped, typedText } from './typed-command.ts'

const COMPACT =
  '<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args></command-args>'

describe('a slash command of Claude Code', () => {
  it.each([
    [COMPACT, '/compact'],
    [
      '<command-message>fix is running…</command-message>\n<command-name>/fix</command-name>\n<command-args>issue 7</command-args>',
      '/fix issue 7',
    ],
    [
      `<local-command-caveat>Caveat: …</local-command-caveat>\n${COMPACT}\n<local-command-stdout>Compacted.</local-command-stdout>`,
      '/compact\nCompacted.',
    ],
    [
      '<bash-input>ls</bash-input><bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>',
      '! ls\na.txt',
    ],
    [`${COMPACT}\nAnd now?`, '/compact\nAnd now?'],
    [`${COMPACT}\n${COMPACT}`, '/compact\n/compact'],
  ])('is shown as it was typed', (recorded, typed) => {
    expect(typedText(recorded)).toBe(typed)
    expect(textOf(asTyped(user(recorded)))).toBe(typed)
  })

  it.each([
    'What does <command-name>/fix</command-name> mean?',
    '<command-name>/fix',
    '<b>Hi</b>',
    '',
  ])('leaves the person’s own text unchanged: %s', (text) => expect(typedText(text)).toBe(text))

  it('takes time in proportion to the length of the text', () => {
    expect(typedText('<bash-input>'.repeat(50_000))).toHaveLength(12 * 50_000)
    expect(typedText(`${'<bash-input></bash-input>'.repeat(20_000)}`)).toBe('')
  })
})
