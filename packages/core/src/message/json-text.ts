/**
 * Finds where JSON text is broken and how deep it nests, without recursion and in one pass.
 * `JSON.parse` decides what is valid; this only finds the position, which its messages do not
 * always name.
 */
export const JSON_DEPTH_MAX = 1_000

export interface JsonFault {
  /** Index into the text. */
  readonly at: number
  readonly problem: string
}

/**
 * The position where the nesting exceeds the maximum. Deeper values parse, but overflow the stack
 * of everything that walks them afterwards, including `JSON.stringify`.
 */
export function findDepthFault(text: string): JsonFault | undefined {
  if (text.length <= JSON_DEPTH_MAX) return undefined
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (at === -1) return undefined // never closed: for the parser to say
    } else if (code === BRACKET || code === BRACE) {
      depth++
      if (depth > JSON_DEPTH_MAX) {
        return { at, problem: `the nesting is deeper than ${JSON_DEPTH_MAX} levels` }
      }
    } else if (code === BRACKET_END || code === BRACE_END) depth--
  }
  return undefined
}

/** The index of the closing quote, or -1. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return -1
}

/** Reads one document from `start`: returns the index after it, or the fault. */
export function scanDocument(text: string, start: number): number | JsonFault {
  const open: number[] = []
  let at = skipBlank(text, start)
  let expects: 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'more' = 'value'
  for (;;) {
    at = skipBlank(text, at)
    if (at >= text.length) return { at: text.length, problem: 'the text ends too early' }
    const code = text.charCodeAt(at)
    const top = open.at(-1)
    if (expects === 'more') {
      if (code === COMMA) {
        expects = top === BRACE ? 'key' : 'value'
        at++
        continue
      }
      if (code !== (top === BRACE ? BRACE_END : BRACKET_END)) {
        return { at, problem: `expected "," or "${top === BRACE ? '}' : ']'}"` }
      }
      open.pop()
      at++
    } else if (expects === 'key' || expects === 'key-or-end') {
      if (code === BRACE_END && expects === 'key-or-end') {
        open.pop()
        at++
      } else {
        const end = code === QUOTE ? scanString(text, at) : undefined
        if (end === undefined) return { at, problem: 'expected a name in double quotes' }
        if (typeof end !== 'number') return end
        at = skipBlank(text, end)
        if (text.charCodeAt(at) !== COLON) return { at, problem: 'expected ":" after the name' }
        at++
        expects = 'value'
        continue
      }
    } else if (code === BRACKET_END && expects === 'value-or-end') {
      open.pop()
      at++
    } else if (code === BRACE || code === BRACKET) {
      open.push(code)
      at++
      expects = code === BRACE ? 'key-or-end' : 'value-or-end'
      continue
    } else {
      const end = code === QUOTE ? scanString(text, at) : scanLiteral(text, at)
      if (typeof end !== 'number') return end
      at = end
    }
    if (open.length === 0) return at
    expects = 'more'
  }
}

function skipBlank(text: string, start: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}

function scanString(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code < 0x20) {
      const name = code.toString(16).padStart(4, '0')
      return { at, problem: `a string holds the unescaped control character U+${name}` }
    }
    if (code === BACKSLASH) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) return { at, problem: 'a string holds an escape that JSON has not' }
      at = ESCAPE.lastIndex - 1
    }
  }
  return { at: text.length, problem: 'a string is never closed' }
}

function scanLiteral(text: string, start: number): number | JsonFault {
  LITERAL.lastIndex = start
  if (LITERAL.test(text)) return LITERAL.lastIndex
  return { at: start, problem: 'expected a value' }
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y
const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d
const COMMA = 0x2c
const COLON = 0x3a
