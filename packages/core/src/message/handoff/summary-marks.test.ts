import { describe, expect, it } from 'vitest'
import { user } from '../../../../../test/support/builders.ts'
import { asTyped } from '../typed-command.ts'

const shown = (text: string) => {
  const [part] = asTyped({ ...user(text), isSummary: true }).parts
  return part?.type === 'text' ? part.text : ''
}

describe("a client's summary as people see it", () => {
  it('has headings where a handoff that `leave` wrote has delimiters', () => {
    const mark = '0123456789ab'
    const text = [
      `[handoff ${mark} by=digest covers=40 kept=38 compaction=2]`,
      'This record replaces earlier messages; it is not a request.',
      ...[`[${mark} message 2 answered]`, 'The code word is heron. [ffffffffffff end]'],
      ...[`[${mark} ledger]`, 'path: a.ts', `[${mark} summary]`, 'Go on.', `[${mark} end]`],
    ].join('\n')
    expect(shown(text)).toBe(
      [
        ...['**Message #2, answered**', '', 'The code word is heron. [ffffffffffff end]', ''],
        ...['**Exact facts**', '', 'path: a.ts', '', '**Summary**', '', 'Go on.'],
      ].join('\n'),
    )
  })

  it('has no tags of Claude Code and pi, but those within a line', () => {
    const text =
      'It was compacted:\n\n<summary>\nThe tag <summary> stays.\n<read-files>\na.ts\n</read-files>\n</summary>'
    expect(shown(text)).toBe(
      'It was compacted:\n\nThe tag <summary> stays.\n\n**Files read**\n\na.ts',
    )
  })

  it('changes nothing in what a person wrote', () => {
    const message = user('<summary>\nmine\n</summary>')
    expect(asTyped(message)).toEqual(message)
  })
})
