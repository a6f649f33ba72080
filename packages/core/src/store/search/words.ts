import { isObject, type JsonValue } from '../../base/json.ts'
import type { Entry } from '../rows.ts'
import { stem } from './stem.ts'

/**
 * From texts to words, for the index and for the question alike: folded to small letters without
 * marks, stemmed, and where a script has no blanks cut into pairs of characters. A question is
 * therefore only ever a list of such words, and no text of a user can be bad syntax.
 */
const UNSPACED = '[[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}]&&\\p{L}]'
const WORD = new RegExp(`${UNSPACED}+|[[\\p{L}\\p{N}]--${UNSPACED}]+`, 'gv')
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, 'v')
const WORD_LENGTH_MAX = 64
const QUESTION_WORDS_MAX = 32
/** Of one entry this much is indexed; the rest is found by reading, not by searching. */
const TEXT_LENGTH_MAX = 200_000

export function wordsOf(text: string): string[] {
  const folded = text
    .slice(0, TEXT_LENGTH_MAX)
    .toWellFormed()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  const words: string[] = []
  for (const run of folded.match(WORD) ?? []) {
    // One by one: a long text without blanks has more pairs than a call takes arguments.
    if (STARTS_UNSPACED.test(run)) for (const pair of pairs(run)) words.push(pair)
    else words.push(rootOf(run.slice(0, WORD_LENGTH_MAX)))
  }
  return words
}

// A text has far more words than different words: remembering roots makes indexing five times faster.
const roots = new Map<string, string>()
const ROOTS_MAX = 20_000

function rootOf(word: string): string {
  const known = roots.get(word)
  if (known !== undefined) return known
  if (roots.size >= ROOTS_MAX) roots.clear()
  const root = stem(word)
  roots.set(word, root)
  return root
}

export function questionWords(text: string): string[] {
  return [...new Set(wordsOf(text.slice(0, 10_000)))].slice(0, QUESTION_WORDS_MAX)
}

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length === 1) return [run]
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

export const SEARCHED_KINDS = ['input', 'assistant', 'result'] as const

export function isSearched(entry: Pick<Entry, 'kind'>): boolean {
  return (SEARCHED_KINDS as readonly string[]).includes(entry.kind)
}

/** What was said in an entry: every string of its body, except data that only machines read. */
export function textOf(entry: Pick<Entry, 'body'>): string {
  if (entry.body === null) return ''
  const found: string[] = []
  let length = 0
  const walk = (value: JsonValue): void => {
    if (length > TEXT_LENGTH_MAX) return
    if (typeof value === 'string') {
      found.push(value)
      length += value.length
    } else if (Array.isArray(value)) {
      for (const item of value) walk(item)
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) if (!MACHINE.has(name)) walk(item)
    }
  }
  walk(parsed(entry.body))
  return found.join('\n')
}

/** A damaged body is for `verify` to find; the search goes on with what it says. */
function parsed(body: string): JsonValue {
  try {
    return JSON.parse(body) as JsonValue
  } catch {
    return body
  }
}

/** Fields of the message model that hold no words: types, ids, base64, sealed provider items. */
const MACHINE = new Set([
  'role',
  'type',
  'data',
  'mediaType',
  'sealed',
  'origin',
  'kind',
  'at',
  'callId',
  'usage',
  'provider',
])
