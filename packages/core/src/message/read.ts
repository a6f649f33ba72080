import { utf8Length } from '../base/bytes.ts'
import { isObject, type JsonValue } from '../base/json.ts'
import type { Codec, Conversation } from './codec.ts'
import { CODECS, codecOf } from './formats/file-formats.ts'
import type { FormatName } from './formats/names.ts'
import { InputError } from './input-error.ts'
import { parseDocument, parseLines } from './read-lines.ts'

export interface ReadLimits {
  readonly bytesMax?: number
}

/** Half of the maximum length of a string, so that results derived from it still fit. */
const BYTES_MAX = 256 * 1024 * 1024

/**
 * Reads a conversation in any supported format. Throws only `InputError`, for text that is empty,
 * too large, broken, too deeply nested or in no known format.
 */
export function readConversation(
  text: string,
  format: FormatName | 'auto',
  limits: ReadLimits = {},
): Conversation {
  checkSize(text, limits.bytesMax ?? BYTES_MAX)
  // Windows editors add a byte order mark, which JSON does not allow.
  const body = text.startsWith('\ufeff') ? text.slice(1) : text
  if (body.trim() === '') {
    throw new InputError('The input is empty: expected a conversation as JSON or JSON lines.')
  }
  const codecs = format === 'auto' ? CODECS : [codecOf(format)]
  const documents = readDocuments(body, codecs)
  const reasons: string[] = []
  for (const codec of codecs) {
    const document = documents[codec.framing]
    const reason = document === undefined ? wrongFraming(codec) : refusal(codec, document, format)
    if (reason !== undefined || document === undefined) {
      reasons.push(`${codec.name}: ${reason}`)
      continue
    }
    const conversation = codec.parse(document)
    return { ...conversation, notes: [...documents.notes, ...conversation.notes] }
  }
  throw new InputError(noneFits(format, reasons))
}

function checkSize(text: string, bytesMax: number): void {
  // A UTF-16 unit takes at most three bytes, so short texts need no counting.
  if (text.length * 3 <= bytesMax) return
  const bytes = utf8Length(text)
  if (bytes <= bytesMax) return
  throw new InputError(
    `The input has ${bytes} bytes, at most ${bytesMax} are read: split it or raise the limit.`,
  )
}

interface Documents {
  readonly json?: JsonValue
  readonly lines?: JsonValue
  readonly notes: readonly string[]
}

/** The text as one document, as one document per line, or both if it is a single line. */
function readDocuments(text: string, codecs: readonly Codec[]): Documents {
  const takes = (framing: Codec['framing']) => codecs.some((codec) => codec.framing === framing)
  const asLines = (): Documents => {
    const { values, notes } = parseLines(text)
    return { lines: values, notes }
  }
  if (!takes('json')) return asLines()
  if (takes('lines') && looksLikeLines(text)) return asLines()
  const json = parseDocument(text)
  return isObject(json) ? { json, lines: [json], notes: [] } : { json, notes: [] }
}

/** Several lines, and one of the first two is a complete object. */
function looksLikeLines(text: string): boolean {
  const [first, second] = firstLines(text)
  if (first === undefined || second === undefined || !first.startsWith('{')) return false
  return isWhole(first) || (second.startsWith('{') && isWhole(second))
}

function firstLines(text: string): readonly string[] {
  const found: string[] = []
  let start = 0
  while (start < text.length && found.length < 2) {
    const next = text.indexOf('\n', start)
    const end = next === -1 ? text.length : next
    const line = text.slice(start, end).trim()
    if (line !== '') found.push(line)
    start = end + 1
  }
  return found
}

function isWhole(line: string): boolean {
  try {
    return isObject(parseDocument(line))
  } catch {
    return false
  }
}

function refusal(codec: Codec, document: JsonValue, format: FormatName | 'auto') {
  return codec.reject(document) ?? (format === 'auto' ? codec.doubt?.(document) : undefined)
}

function wrongFraming(codec: Codec): string {
  return codec.framing === 'json'
    ? 'expected one JSON document, found JSON lines'
    : 'expected JSON lines, found one JSON document'
}

function noneFits(format: FormatName | 'auto', reasons: readonly string[]): string {
  const list = reasons.map((reason) => `\n  ${reason}`).join('')
  if (format !== 'auto') return `The input is not of the format that was asked for:${list}`
  return `The input is none of the known formats:${list}\nName the format if it was detected wrongly.`
}
