import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AUDIT_LAWS } from './laws/laws.ts'
import { AUDIT_FIELDS, AUDIT_KINDS, AUDIT_VERSION, FIELDS_OF_EVERY_LINE } from './log/line.ts'

const guide = readFileSync(
  new URL('../../../../docs/guides/session-stability-contract.md', import.meta.url),
  'utf8',
)

/** The rows under a heading of this table, cell by cell. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const lines = guide.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

describe('the guide to the session-stability contract', () => {
  it('lists the fields of a line that the code has', () => {
    expect(rowsOf('Field')).toEqual(
      Object.entries(AUDIT_FIELDS).map(([name, means]) => [`\`${name}\``, means]),
    )
  })

  it('lists the kinds of lines, and the fields that each must have', () => {
    expect(rowsOf('Kind')).toEqual(
      Object.entries(AUDIT_KINDS).map(([kind, { means, needs }]) => [
        `\`${kind}\``,
        means,
        named(needs),
      ]),
    )
    const every = `Every line has ${named(FIELDS_OF_EVERY_LINE).replace(/, (`hash`)$/, ' and $1')}.`
    expect(guide.replaceAll('\n', ' ')).toContain(every)
    expect(guide).toContain(`Version ${AUDIT_VERSION}:`)
  })

  it('lists the laws [S26]', () => {
    expect(rowsOf('Law')).toEqual(
      Object.entries(AUDIT_LAWS).map(([name, { title, contract }]) => [
        `\`${name}\``,
        title,
        contract.join(', '),
      ]),
    )
  })
})
