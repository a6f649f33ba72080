import { MARK } from './secret.ts'

/**
 * Where a value ends. Passwords contain characters that end a value elsewhere: `&` in a query, `;`
 * in a connection string, a bracket in code, a quote in a sentence. So no such character ends a
 * value by itself: the text after it decides. In doubt the value continues, because half a password
 * is still a leak.
 *
 * Linear: every function reads a bounded number of characters from its start.
 */
export const VALUE_CHARACTERS_MAX = 4_096

/** A run without any sign that could end the value. */
const PLAIN = /[^\s"'`,;|&<>(){}[\]\\]{1,4096}/y
/** A field that follows: `&user=`, `;Server=`, `, "port":`. */
const NEXT_FIELD = /\s?["']?[A-Za-z_][\w.-]{0,40}["']?\]?[=:]/y
/** Text that may follow a sign that ends a value. */
const BEHIND_END = /[\s"'`,;:.)\]}>|&<\\]/

/** A value continues for at most this many characters after the first such sign; longer keys have none. */
const MIXED_CHARACTERS_MAX = 128

/**
 * A literal without quotes; calls, index accesses and templates are expressions. In a query `&` always
 * ends the value.
 */
export function bareValue(text: string, from: number, isQuery = false): string | undefined {
  let to = plainTo(text, from, VALUE_CHARACTERS_MAX)
  if (isExpression(text, from, to)) return undefined
  const limit = to + MIXED_CHARACTERS_MAX
  while (to < limit) {
    const length = lengthWithin(text, to, isQuery)
    if (length === 0) break
    to = plainTo(text, to + length, limit - to)
  }
  const value = text.slice(from, to).replace(/[.:!?]+$/, '')
  return value === '' ? undefined : value
}

function plainTo(text: string, from: number, charactersMax: number): number {
  PLAIN.lastIndex = from
  return PLAIN.test(text) ? Math.min(PLAIN.lastIndex, from + charactersMax) : from
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const CALLED_CHARACTERS_MAX = 200

/** A name, then a bracket that is nested or closed on the same line: a call or an index. */
function isExpression(text: string, from: number, at: number): boolean {
  const closing = CLOSING[text.charAt(at)]
  if (closing === undefined) return false
  if (at === from) return true
  const [line = ''] = text.slice(at + 1, at + CALLED_CHARACTERS_MAX).split('\n', 1)
  const opensMore = /^(?:\s|[([{"'`]|$)/.test(line)
  return (opensMore || line.includes(closing)) && /^[\w$.?!:>-]*$/.test(text.slice(from, at))
}

/** How many characters the sign at `at` adds to a value; 0 if it ends the value. */
function lengthWithin(text: string, at: number, isQuery: boolean): number {
  const sign = text.charAt(at)
  const next = text.charAt(at + 1)
  if (/\s/.test(sign)) return 0
  // An escaped line break or quote ends it; an escaped shell character is part of it.
  if (sign === '\\') return /[&;|<>()$!#*?[\]{} ]/.test(next) ? 2 : 0
  if (next === '' || BEHIND_END.test(next) || text.startsWith(MARK, at)) return 0
  if (sign === '<') return /[/!A-Za-z]/.test(next) ? 0 : 1
  if (sign === '&' && isQuery) return 0
  if (',;&'.includes(sign)) {
    NEXT_FIELD.lastIndex = at + 1
    if (NEXT_FIELD.test(text)) return 0
  }
  return 1
}

export function openingQuote(text: string, at: number): string {
  const prefixed = /[$bfru]/i.test(text.charAt(at)) && /["']/.test(text.charAt(at + 1))
  let to = prefixed ? at + 1 : at
  while (to < at + 4 && text.charAt(to) === '\\') to++
  const character = text.charAt(to)
  return character === '"' || character === "'" || character === '`' ? text.slice(at, to + 1) : ''
}

/** Up to the closing quote; if the text was cut before it, up to the end of the word. */
export function quotedValue(text: string, from: number, opened: string): string | undefined {
  const rest = text.slice(from, from + VALUE_CHARACTERS_MAX)
  const end = closingQuote(rest, opened)
  if (end === -1) return bareValue(text, from)
  return end === 0 ? undefined : rest.slice(0, end)
}

/** On the same line; -1 if there is none. */
function closingQuote(rest: string, opened: string): number {
  const quote = opened.at(-1) ?? ''
  const isEscaped = opened.includes('\\')
  for (let index = 0; index < rest.length; index++) {
    const character = rest[index]
    if (character === '\n' || character === '\r') return -1
    if (isEscaped ? rest.startsWith(opened, index) : character === quote) {
      const again = isEscaped || index === 0 ? undefined : AGAIN.exec(rest.slice(index, index + 5))
      if (again?.[0][0] !== quote) return index
      index += again[0].length - 1
    } else if (character === '\\' && !isEscaped) index++
  }
  return -1
}

/** A quote inside quotes: doubled in SQL, closed and reopened in shells. */
const AGAIN = /^'(?:'|\\'')(?=\w)/
