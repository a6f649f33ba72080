import { isArray, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Origin } from '../message.ts'
import type { CodecName } from './names.ts'

/**
 * What a codec keeps of a foreign item in order to write it back unchanged: the fields that our
 * model lacks and, as words in `shape`, which of several equivalent forms the source used.
 */
export interface Position {
  readonly format: CodecName
  /** The item's index in the source. */
  readonly at: number
}

type Words = readonly (string | false | undefined)[]

export function originOf(
  format: CodecName,
  at: number,
  fields?: JsonObject,
  ...words: Words
): Origin {
  let shape = ''
  for (const word of words) if (word) shape = shape === '' ? word : `${shape} ${word}`
  // Every message and many parts have an origin, so it is built without intermediate objects.
  if (shape === '') return fields === undefined ? { format, at } : { format, at, fields }
  return fields === undefined ? { format, at, shape } : { format, at, fields, shape }
}

/** For spreading into a part: a part in the format's only form needs no origin. */
export function originOfPart(
  format: CodecName,
  at: number,
  fields?: JsonObject,
  ...words: Words
): { readonly origin?: Origin } {
  const origin = originOf(format, at, fields, ...words)
  return origin.fields === undefined && origin.shape === undefined ? {} : { origin }
}

/** The origin if the value was read from this format. */
export function ownOrigin(value: { readonly origin?: Origin }, format: CodecName) {
  return value.origin?.format === format ? value.origin : undefined
}

// A log uses the same parts as its provider's API; only the surrounding structure differs.
const LANGUAGES: { readonly [name in CodecName]: string } = {
  'openai-chat': 'chat',
  hermes: 'chat',
  'openai-responses': 'responses',
  codex: 'responses',
  anthropic: 'anthropic',
  'claude-code': 'anthropic',
  'ai-sdk': 'ai-sdk',
  pi: 'pi',
  gemini: 'gemini',
  langchain: 'langchain',
}

/** The origin if the part was read from a format with the same parts as this one. */
export function sameFamilyOrigin(value: { readonly origin?: Origin }, format: CodecName) {
  const { origin } = value
  if (origin === undefined || LANGUAGES[origin.format] !== LANGUAGES[format]) return undefined
  return origin
}

export function hasWord(origin: Origin | undefined, word: string): boolean {
  return origin?.shape?.split(' ').includes(word) ?? false
}

/**
 * The object without these keys; undefined if none is left. Built from entries, so that `__proto__`
 * is copied as an ordinary key.
 */
export function without(object: JsonObject, keys: readonly string[]): JsonObject | undefined {
  if (Object.keys(object).every((key) => keys.includes(key))) return undefined
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
}

export function textField(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' ? value : undefined
}

export function numberField(object: JsonObject, key: string): number {
  const value = object[key]
  return typeof value === 'number' ? value : 0
}

export function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return isArray(value) ? value : []
}
