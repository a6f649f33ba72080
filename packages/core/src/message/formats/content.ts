import { isArray, type JsonValue } from '../../base/json.ts'
import type { OpaquePart, Part, TextPart } from '../message.ts'
import type { CodecName } from './names.ts'
import { hasWord, originOf, type Position, sameFamilyOrigin } from './origin.ts'

/**
 * The `content` of a foreign message: usually a string or a list of parts, but real files also have
 * null, absent, empty or other values. The form is recorded as a word in the origin, so that the
 * same form is written again.
 */
export type Spelling = 'string' | 'parts' | 'null' | 'absent' | 'empty' | 'whole'

const SPELLINGS: readonly Spelling[] = ['string', 'parts', 'null', 'absent', 'empty', 'whole']

export function readContent<P>(
  content: JsonValue | undefined,
  position: Position,
  readPart: (value: JsonValue) => P,
): { readonly parts: readonly (P | TextPart | OpaquePart)[]; readonly spelling: Spelling } {
  if (content === undefined) return { parts: [], spelling: 'absent' }
  if (content === null) return { parts: [], spelling: 'null' }
  if (content === '') return { parts: [], spelling: 'empty' }
  if (typeof content === 'string') {
    return { parts: [{ type: 'text', text: content }], spelling: 'string' }
  }
  if (isArray(content)) {
    return { parts: content.map(readPart), spelling: 'parts' }
  }
  return { parts: [opaque('other', content, position)], spelling: 'whole' }
}

/** Undefined means an absent field. Parts that the format cannot express are left out. */
export function writeContent<P extends Part>(
  parts: readonly P[],
  spelling: Spelling,
  format: CodecName,
  writePart: (part: P) => JsonValue | undefined,
): JsonValue | undefined {
  const [first] = parts
  if (first === undefined) return EMPTY[spelling]
  if (parts.length === 1) {
    if (spelling === 'whole' && first.type === 'opaque') return first.value
    if (spelling !== 'parts' && isPlainText(first, format)) return first.text
  }
  return parts.map(writePart).filter((value) => value !== undefined)
}

const EMPTY: { readonly [spelling in Spelling]: JsonValue | undefined } = {
  string: '',
  empty: '',
  parts: [],
  null: null,
  absent: undefined,
  whole: [],
}

function isPlainText(part: Part, format: CodecName): part is TextPart {
  if (part.type !== 'text') return false
  const origin = sameFamilyOrigin(part, format)
  return origin?.fields === undefined && origin?.shape === undefined
}

/** The form in which the content was read; for a new message, the format's usual one. */
export function spellingOf(origin: Parameters<typeof hasWord>[0], usual: Spelling): Spelling {
  return SPELLINGS.find((word) => hasWord(origin, word)) ?? usual
}

export function opaque(
  provider: OpaquePart['provider'],
  value: JsonValue,
  position: Position,
  ...words: readonly string[]
): OpaquePart {
  const origin = originOf(position.format, position.at, undefined, ...words)
  return { type: 'opaque', provider, value, origin }
}

/** A list of parts may contain bare strings, which are read as text. */
export function readBare(value: JsonValue, position: Position): TextPart | OpaquePart {
  if (typeof value !== 'string') return opaque('other', value, position)
  const origin = originOf(position.format, position.at, undefined, 'bare')
  return { type: 'text', text: value, origin }
}

/** The format can express no part of the message, so it is dropped instead of written empty. */
export function isLost(content: JsonValue | undefined, parts: readonly Part[]): boolean {
  return parts.length > 0 && Array.isArray(content) && content.length === 0
}
