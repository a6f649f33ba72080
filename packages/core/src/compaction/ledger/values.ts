import { oneLine } from '../../base/line.ts'

/**
 * Numbers with their names: `timeout: 30s`, `retries = 4`, `#1204`. Found from the number backwards,
 * so that a text without numbers costs one pass.
 */
const NUMBER = /(?:[=:] ?|#(?=\d\d))\d[\d.,_]{0,15}(?::\d\d){0,2}(?: ?(?:%|[A-Za-z]{1,3}\b))?/g
const NAME_CHARACTERS_MAX = 40

export function eachValue(text: string, visit: (value: string) => void): void {
  for (const match of text.matchAll(NUMBER)) {
    const before = text.slice(Math.max(0, match.index - NAME_CHARACTERS_MAX), match.index)
    const name = /[A-Za-z][\w.-]*\s?$/.exec(before)?.[0] ?? ''
    // `main.ts:87` is a place in a file.
    if (name.length < 3 || (match[0].startsWith(':') && name.includes('.'))) continue
    visit(oneLine(`${name}${match[0]}`).replace(/[.,]$/, ''))
  }
}
