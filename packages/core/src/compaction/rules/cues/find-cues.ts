import { readHashedSets } from '../hashed-sets.ts'
import { CUE_PHRASES, CUE_WORDS } from './cues.ts'

/**
 * The words in a sentence that speak for a rule or against it. The lexicons of all languages
 * (`bench/rules/lexicons`) are one here: hardly a word means one kind of cue in one language and
 * another kind in another.
 */
export interface Cue {
  readonly text: string
  readonly kind: string
  /** It begins a clause, as an order does. */
  readonly isFirst: boolean
}

type KindOf = (text: string) => string | undefined

let read: { readonly word: KindOf; readonly phrase: KindOf } | undefined

/** Read with the first sentence, because a program that starts may be far from its first compaction. */
function cuesRead() {
  read ??= { word: readHashedSets(CUE_WORDS), phrase: readHashedSets(CUE_PHRASES) }
  return read
}

const isDense = (text: string) => /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text)

export function findCues(sentence: string): readonly Cue[] {
  const joint = isDense(sentence) ? '' : ' '
  const words = joint === '' ? [...sentence.toLowerCase()] : wordsOf(sentence)
  const plain = words.map(withoutAccents)
  const cues: Cue[] = []
  let isFirst = true
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? ''
    const found = cueAt(words, at, joint) ?? cueAt(plain, at, joint)
    const kind = found?.kind ?? (/^\d/.test(word) ? 'number' : word === ',' ? ',' : '?')
    const end = at + (found?.length ?? 1)
    cues.push({ text: words.slice(at, end).join(' '), kind, isFirst })
    isFirst = kind === ',' || (isFirst && kind === 'skip')
    at = end
  }
  return cues
}

/** Words, numbers, signs of money, and a comma wherever a clause ends. */
function wordsOf(sentence: string): readonly string[] {
  const text = sentence
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ё', 'е')
    .replace(/(?<!\p{L})(\p{L}{1,2})['’](?=\p{L})/gu, '$1 ')
    .replace(/['’]/g, '')
    .replace(/\s[-–—]\s|[:;(–—]/g, ' , ')
  return text.match(/[\p{L}\p{N}_]+|[,€$£¥…]/gu) ?? []
}

function withoutAccents(word: string): string {
  return word
    .normalize('NFD')
    .replace(/(?<=[a-z])[\u0300-\u036f]+/g, '')
    .normalize('NFC')
}

const PHRASE_WORDS_MAX = 3
const PHRASE_CHARACTERS_MAX = 6
/** A stem of the lexicons has so many letters. */
export const STEM_LENGTHS: readonly number[] = [7, 6, 5, 4]

/** The longest phrase first; of a word itself, then its stem, then its ending. */
function cueAt(words: readonly string[], at: number, joint: string) {
  const most = joint === '' ? PHRASE_CHARACTERS_MAX : PHRASE_WORDS_MAX
  for (let length = Math.min(most, words.length - at); length > 0; length--) {
    const phrase = words.slice(at, at + length).join(joint)
    const kind = length === 1 ? kindOfWord(phrase) : cuesRead().phrase(phrase)
    const known = kind ?? ENDINGS.find(([, ending]) => ending.test(phrase))?.[0]
    if (known !== undefined) return { kind: known, length }
  }
  return undefined
}

function kindOfWord(word: string): string | undefined {
  const { word: kindOf } = cuesRead()
  let kind = kindOf(word)
  for (const length of STEM_LENGTHS) {
    if (word.length >= length) kind ??= kindOf(`${word.slice(0, length)}*`)
  }
  return kind
}

/** Tenses, and orders that say "do not" by the form of the verb. */
const ENDINGS: readonly (readonly [kind: string, ending: RegExp])[] = [
  ['ed', /^[^ ]*ed$/],
  ['use', /^[^ ]*[ая]й$/],
  ['must', /^be [^ ]*ed$/],
  ['be', /^(?:is|are) [^ ]*ed$/],
  ['maybe', /^(?:must have [^ ]*ed|deve ter [^ ]*ido)$/],
  ['dont', /^stop [^ ]*ing$/],
  [
    'dont',
    /^no (?:(?:(?:me|lo) )?[^ ]*[ea]s|[^ ]*e|se [^ ]*an?)$|^nao (?:(?:me|se) [^ ]*[ea]|[^ ]*[ea]s?)$/,
  ],
  ['dont', /^non (?:(?:mi )?[^ ]*[aei]re|[^ ]*(?:rre|arlo)|si [^ ]*(?:a|ano|e))$/],
  ['dont', /^не [^ ]*(?:и|й|(?:и|й)те|ть(?:ся)?|[еи]м)$/],
  [
    'past',
    /^(?:sono [^ ]*to|[^ ]*(?:[ai]?eron|aron|aba(?:n|mos)?|aste|[óéí]|[aei]ram|ava(?:m|mos|no|mo)?|ou|ei|[аи]л[аио]?|ел[аи]?|ял|л(?:ся|ась|ись)))$/,
  ],
]
