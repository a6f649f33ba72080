import type { UserRule } from './handoff.ts'

/** The user's standing instructions as text, and back. */
const HEADING =
  'Standing instructions in the user’s own words. They hold until a later one supersedes them.'

export function writeRules(rules: readonly UserRule[]): string {
  if (rules.length === 0) return ''
  return [HEADING, ...rules.map(writeRule)].join('\n')
}

function writeRule({ text, number, at, supersededBy }: UserRule): string {
  const when = at === undefined ? '' : ` ${at}`
  const note = supersededBy === undefined ? '' : ` (superseded by #${supersededBy})`
  return `- #${number}${when}${note}: ${text.replaceAll(/\s+/g, ' ').trim()}`
}

const LINE = /^- #(\d{1,9})(?: (\S{4,40}))?(?: \(superseded by #(\d{1,9})\))?: (.*)$/

export function readRules(text: string): readonly UserRule[] {
  return text.split('\n').flatMap((line) => {
    const found = LINE.exec(line)
    if (found === null) return []
    const [, number, at, supersededBy, words = ''] = found
    return [
      {
        text: words,
        number: Number(number),
        ...(at !== undefined && { at }),
        ...(supersededBy !== undefined && { supersededBy: Number(supersededBy) }),
      },
    ]
  })
}
