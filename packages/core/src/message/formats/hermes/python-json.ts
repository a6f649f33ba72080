import type { JsonObject, JsonValue } from '../../../base/json.ts'
import { parseOr } from '../tool-input.ts'

/**
 * JSON as Python's `json.dumps` writes and `json.loads` accepts it: spaces after commas and colons,
 * non-ASCII letters escaped by default, and three literals for numbers that JSON lacks.
 */
export type JsonStyle = 'compact' | 'python' | 'python-raw'

const STYLES: readonly JsonStyle[] = ['python', 'compact', 'python-raw']

export interface ReadJson {
  readonly value: JsonValue
  /** The style that reproduces the text exactly; null: none does. */
  readonly style: JsonStyle | null
}

/** Undefined if the text is not JSON, or only a bare string or number. */
export function readPythonJson(text: string): ReadJson | undefined {
  const value = parsePythonJson(text)
  if (value === null) return undefined
  return { value, style: STYLES.find((style) => writeJson(value, style) === text) ?? null }
}

/** Its list or object, without the style; null if it holds neither. */
export function parsePythonJson(text: string): JsonObject | readonly JsonValue[] | null {
  const value = parseOr(text, null) ?? parseOr(wordless(text), null)
  return typeof value === 'object' ? value : null
}

/** With null for each number that JSON lacks; within a string, `NaN` is text. */
function wordless(text: string): string {
  let isText = false
  return text.replace(NUMBER_WORDS, (found) => {
    if (found === '"') isText = !isText
    return isText || found === '"' || found.startsWith('\\') ? found : 'null'
  })
}

/** One token at a time: a pattern for whole strings overflows the stack at 8 million characters. */
const NUMBER_WORDS = /\\.|"|-?Infinity|NaN/gs

export function writeJson(value: JsonValue, style: JsonStyle): string {
  if (style === 'compact') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item, style)).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, item]) => `${writeJson(key, style)}: ${writeJson(item as JsonValue, style)}`,
    )
    return `{${members.join(', ')}}`
  }
  const text = JSON.stringify(value)
  return style === 'python' && typeof value === 'string'
    ? text.replace(BEYOND_ASCII, escaped)
    : text
}

const BEYOND_ASCII = /[\u007f-\uffff]/g

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
