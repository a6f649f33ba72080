import type { SessionId } from '../../base/ids.ts'
import { isObject, type JsonValue } from '../../base/json.ts'
import type { StoreChange } from '../rules/ruling.ts'
import type { Entry } from '../tables/rows.ts'
import { ENGLISH_WORDS } from './languages/english.ts'
import type { Language } from './languages/language.ts'
import { LANGUAGES, languageOf } from './languages/languages.ts'
import { stem } from './languages/stem.ts'
import { cutPassages } from './passages.ts'

/**
 * Turns text into roots, for the index and for questions alike: folded to lower case without
 * diacritics, reduced to the root of the language and, in scripts without spaces, cut into pairs of
 * characters. A question is only a list of such roots, so no user text can be invalid syntax.
 */
/** A letter of a script that is written without spaces. */
export const UNSPACED = '[[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}]&&\\p{L}]'
const WORD = new RegExp(`${UNSPACED}+|[[\\p{L}\\p{N}]--${UNSPACED}]+`, 'gv')
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, 'v')
/** Letters that are also written as two, and that Unicode does not take apart. */
const LIGATURES: Record<string, string> = { ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE' }
const WORD_LENGTH_MAX = 64
const QUESTION_LENGTH_MAX = 10_000
const QUESTION_WORDS_MAX = 32
/** How much of an entry is indexed; a search does not find the rest. */
const TEXT_LENGTH_MAX = 200_000
/** Prefix of a part of a compound name: "compactMessages" has "-compact" and "-messages". */
export const PART = '-'

export function isUnspaced(run: string): boolean {
  return STARTS_UNSPACED.test(run)
}

/** Words as written, without punctuation; case still separates the parts of a name. */
export function wordsIn(text: string): string[] {
  const folded = text
    .slice(0, TEXT_LENGTH_MAX)
    .toWellFormed()
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[ßẞæÆœŒ]/g, (letter) => LIGATURES[letter] ?? letter)
  const words: string[] = []
  for (const run of folded.match(WORD) ?? []) {
    // One at a time: a long text has more pairs than a call can take arguments.
    if (isUnspaced(run)) for (const pair of pairs(run)) words.push(pair)
    else words.push(run.slice(0, WORD_LENGTH_MAX))
  }
  return words
}

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length === 1) return [run]
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** The parts of a name in camel case; none for other words. */
export function partsOf(word: string): readonly string[] {
  const parts = word.split(HUMP)
  return parts.length === 1 ? [] : parts.map((part) => part.toLowerCase())
}

// A text repeats most of its words: caching roots makes indexing five times faster.
const roots = new Map<Language, Map<string, string>>()
const ROOTS_MAX = 20_000

export function rootOf(word: string, language: Language): string {
  let known = roots.get(language)
  if (known === undefined || known.size >= ROOTS_MAX) {
    known = new Map()
    roots.set(language, known)
  }
  const root = known.get(word) ?? language.stem(word)
  known.set(word, root)
  return root
}

/** The words of a text as English roots, in order. */
export function wordsOf(text: string): string[] {
  return wordsIn(text).map((word) => stem(word.toLowerCase()))
}

/** The index data of one passage. */
export interface Passage {
  readonly roots: ReadonlySet<string>
  /** Words, and distinct roots that are not function words; between 1 and 255 each. */
  readonly words: number
  readonly distinct: number
}

export interface Indexed {
  readonly language: Language
  readonly passages: readonly Passage[]
}

/** The passages of an entry, as indexed. */
export function passagesOf(entry: Pick<Entry, 'kind' | 'body'>): Indexed {
  if (!isSearched(entry) || entry.body === null) return { language: ENGLISH_WORDS, passages: [] }
  const text = searchedText(entry)
  const words = cutPassages(text).map(wordsIn)
  const language = languageOf(text, words.flat())
  return { language, passages: words.map((each) => passageOf(each, language)) }
}

function passageOf(words: readonly string[], language: Language): Passage {
  const found = new Set<string>()
  let content = 0
  let functions = 0
  for (const word of words) {
    const lower = word.toLowerCase()
    const root = rootOf(lower, language)
    const isFunction = language.functionWords.has(lower)
    if (!isFunction) content++
    else if (!found.has(root)) functions++
    found.add(root)
    for (const part of partsOf(word)) found.add(PART + rootOf(part, language))
  }
  const parts = [...found].filter((root) => root.startsWith(PART)).length
  const distinct = found.size - functions - parts
  return { roots: found, words: clamped(content), distinct: clamped(distinct) }
}

function clamped(count: number): number {
  return Math.min(255, Math.max(1, count))
}

/** A word of a question: its roots in each language, best first. */
export interface QuestionWord {
  readonly word: string
  readonly roots: readonly string[]
  readonly parts: readonly string[]
}

/**
 * The words to look for, without function words unless there are no others. `spoken`: the languages
 * of the searched text, in which the same word may have another root.
 */
export function questionOf(text: string, spoken: ReadonlySet<string>): readonly QuestionWord[] {
  const words = wordsIn(text.slice(0, QUESTION_LENGTH_MAX))
  const own = languageOf(text, words, spoken)
  const others = LANGUAGES.filter((each) => each !== own && spoken.has(each.name))
  const content = words.filter((word) => !own.functionWords.has(word.toLowerCase()))
  const found = new Map<string, QuestionWord>()
  for (const word of content.length > 0 ? content : words) {
    const lower = word.toLowerCase()
    const alternatives = [own, ...others].map((language) => rootOf(lower, language))
    const [first = lower] = alternatives
    if (found.has(first)) continue
    const parts = partsOf(word).map((part) => rootOf(part, own))
    found.set(first, { word: lower, roots: [...new Set(alternatives)], parts })
    if (found.size === QUESTION_WORDS_MAX) break
  }
  return [...found.values()]
}

export const SEARCHED_KINDS = ['input', 'assistant', 'result'] as const

export function isSearched(entry: Pick<Entry, 'kind'>): boolean {
  return (SEARCHED_KINDS as readonly string[]).includes(entry.kind)
}

/** The last entry of each session that a search must find, if entries are added. */
export function lastSearched({
  entries = [],
}: Pick<StoreChange, 'entries'>): ReadonlyMap<SessionId, number> {
  const searched = entries.filter(({ entry }) => isSearched(entry))
  return new Map(searched.map(({ sessionId, entry }) => [sessionId, entry.number]))
}

/** The text of an entry: every string of its body, except data for machines. */
export function searchedText(entry: Pick<Entry, 'body'>): string {
  if (entry.body === null) return ''
  const found: string[] = []
  let length = 0
  const walk = (value: JsonValue, isModel: boolean): void => {
    if (length > TEXT_LENGTH_MAX) return
    if (typeof value === 'string') {
      found.push(value)
      length += value.length
    } else if (Array.isArray(value)) {
      for (const item of value) walk(item, isModel)
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        // Call arguments are free-form: there `id` or `type` may be content.
        if (!isModel || !MACHINE.has(name)) walk(item, isModel && name !== 'input')
      }
    }
  }
  walk(parsed(entry.body), true)
  return found.join('\n').slice(0, TEXT_LENGTH_MAX)
}

/** `verify` reports a damaged body; the search uses its readable part. */
function parsed(body: string): JsonValue {
  try {
    return JSON.parse(body) as JsonValue
  } catch {
    return body
  }
}

/** Fields of the message model without words: types, ids, base64, sealed provider items. */
const MACHINE = new Set([
  'role',
  'type',
  'data',
  'mediaType',
  'sealed',
  'origin',
  'kind',
  'at',
  'id',
  'callId',
  'model',
  'usage',
  'provider',
  'inputText',
])
