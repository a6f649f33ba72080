import type { JsonValue } from '#core/base/json'
import { HttpProblem } from './problems.ts'

/**
 * Untrusted JSON. One pass over the text finds what `JSON.parse` accepts or notices too late:
 * nesting that overflows the stack of later code, too many values, a duplicate name in one object
 * (two parsers would read two different requests), `__proto__`, and numbers that are too long or
 * too large. The result is reliable only for valid JSON, which the parser checks afterwards.
 */
export interface JsonLimits {
  readonly depthMax: number
  /** Members of objects and lists together. */
  readonly valuesMax: number
}

/** No useful number is longer, and converting many digits is slow. */
const NUMBER_LENGTH_MAX = 400

export function parseJson(text: string, limits: JsonLimits): JsonValue {
  const fault = findFault(text, limits)
  if (fault !== undefined) throw new HttpProblem('bad-json', { detail: fault })
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new HttpProblem('bad-json', { detail: 'The text is not JSON.' })
  }
}

function findFault(text: string, { depthMax, valuesMax }: JsonLimits): string | undefined {
  // The names of each open object; null for an open array.
  const open: (Set<string> | null)[] = []
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === BRACE || code === BRACKET) values++
    if (values > valuesMax) return `There are more than ${valuesMax} values.`
    if (code === QUOTE) {
      const end = endOfString(text, at)
      if (end === -1) return 'A string is never closed.'
      const names = open.at(-1)
      if (names && text.charCodeAt(skipBlank(text, end + 1)) === COLON) {
        const name = readName(text.slice(at, end + 1))
        if (name === undefined) return 'A name contains an escape that JSON does not have.'
        if (name === '__proto__') return 'The name __proto__ is not accepted.'
        if (names.has(name)) return 'An object has the same name twice.'
        names.add(name)
      }
      at = end
    } else if (code === BRACE || code === BRACKET) {
      open.push(code === BRACE ? new Set() : null)
      if (open.length > depthMax) return `The nesting is deeper than ${depthMax}.`
    } else if (code === BRACE_END || code === BRACKET_END) open.pop()
    else if (isNumeric(code)) {
      const end = endOfNumber(text, at)
      if (end - at > NUMBER_LENGTH_MAX) return 'A number is too long.'
      if (!Number.isFinite(Number(text.slice(at, end)))) return 'A number is too large.'
      at = end - 1
    }
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return -1
}

/** Names are compared after unescaping. */
function readName(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}

function skipBlank(text: string, start: number): number {
  let at = start
  while (BLANKS.has(text.charCodeAt(at))) at++
  return at
}

function endOfNumber(text: string, start: number): number {
  let at = start
  while (isNumeric(text.charCodeAt(at)) || NUMBER_SIGNS.has(text.charCodeAt(at))) at++
  return at
}

const isNumeric = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2d
const NUMBER_SIGNS = new Set([...'+.eE'].map((sign) => sign.charCodeAt(0)))
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d])
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d
const COLON = 0x3a
