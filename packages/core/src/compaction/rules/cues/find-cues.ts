import { COMMON_CUES, EAST_ASIAN_CUES, LATIN, RUSSIAN_CUES } from './lexicons.ts'

/**
 * The words in a sentence that speak for a rule or against it. Each language has a lexicon, one line
 * for each kind of cue: `kind:word,several words,stem*,*ending`. The language is the one whose lexicon
 * knows most words of the sentence.
 */
export interface Cue {
  readonly text: string
  readonly kind: string
  /** It begins a clause, as an order does. */
  readonly isFirst: boolean
}

interface Entry {
  readonly kind: string
  readonly words: readonly string[]
}

/** Entries by the first letters of their first word; endings stand under the asterisk. */
type Lexicon = ReadonlyMap<string, readonly Entry[]>

const KEY_CHARACTERS = 3
const ENDING = '*'

const isDense = (text: string) => /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text)

function lexicon(lines: string): Lexicon {
  const entries = new Map<string, Entry[]>()
  for (const line of lines.trim().split('\n')) {
    const [kind = '', list = ''] = line.split(':')
    for (const phrase of list.split(',')) {
      const words = isDense(phrase) ? [...phrase] : phrase.split(' ')
      const key = keyOf(words[0] ?? '')
      entries.set(key, [...(entries.get(key) ?? []), { kind, words }])
    }
  }
  for (const each of entries.values()) each.sort((a, b) => weightOf(b) - weightOf(a))
  return entries
}

function keyOf(word: string): string {
  return word.startsWith(ENDING) ? ENDING : word.replace(ENDING, '').slice(0, KEY_CHARACTERS)
}

/** The longest entry wins, and of two equally long ones the one without an asterisk. */
function weightOf({ words }: Entry): number {
  const text = words.join(' ')
  return words.length * 100 + text.length * 2 - (text.includes(ENDING) ? 3 : 0)
}

interface Lexicons {
  readonly latin: readonly Lexicon[]
  readonly russian: Lexicon
  readonly eastAsian: Lexicon
}

let made: Lexicons | undefined

/** Made with the first sentence, because a program that starts may be far from its first compaction. */
function lexicons(): Lexicons {
  made ??= {
    latin: LATIN.map((lines) => lexicon(lines + COMMON_CUES)),
    russian: lexicon(RUSSIAN_CUES + COMMON_CUES),
    eastAsian: lexicon(EAST_ASIAN_CUES + COMMON_CUES),
  }
  return made
}

/** The readings of a sentence in the languages that know most of its words; mostly one. */
export function findCues(sentence: string): readonly (readonly Cue[])[] {
  const { latin, russian, eastAsian } = lexicons()
  if (isDense(sentence)) return [read(eastAsian, [...sentence.toLowerCase()]).cues]
  const words = wordsOf(sentence)
  if (/[\u0400-\u04ff]/.test(sentence)) return [read(russian, words).cues]
  const readings = latin.map((each) => read(each, words))
  const most = Math.max(...readings.map(({ known }) => known))
  return readings.filter(({ known }) => known === most).map(({ cues }) => cues)
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

function read(entries: Lexicon, words: readonly string[]): { cues: readonly Cue[]; known: number } {
  const plain = words.map(withoutAccents)
  const cues: Cue[] = []
  let known = 0
  let isFirst = true
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? ''
    const entry = entryAt(entries, at, words, plain) ?? entryAt(entries, at, plain, plain)
    const length = entry?.words.length ?? 1
    const kind = entry?.kind ?? (/^\d/.test(word) ? 'number' : word === ',' ? ',' : '?')
    cues.push({ text: words.slice(at, at + length).join(' '), kind, isFirst })
    if (entry !== undefined) known += length
    isFirst = kind === ',' || (isFirst && kind === 'skip')
    at += length
  }
  return { cues, known }
}

function withoutAccents(word: string): string {
  return word
    .normalize('NFD')
    .replace(/(?<=[a-z])[\u0300-\u036f]+/g, '')
    .normalize('NFC')
}

function entryAt(
  entries: Lexicon,
  at: number,
  words: readonly string[],
  plain: readonly string[],
): Entry | undefined {
  const word = words[at] ?? ''
  const isHere = (entry: Entry) =>
    entry.words.every(
      (wanted, step) =>
        isWord(wanted, words[at + step] ?? '') ||
        (step > 0 && isWord(wanted, plain[at + step] ?? '')),
    )
  for (let length = Math.min(KEY_CHARACTERS, word.length); length > 0; length--) {
    const found = entries.get(word.slice(0, length))?.find(isHere)
    if (found !== undefined) return found
  }
  return entries.get(ENDING)?.find(isHere)
}

function isWord(wanted: string, word: string): boolean {
  if (wanted.endsWith(ENDING)) return word.startsWith(wanted.slice(0, -1))
  return wanted.startsWith(ENDING) ? word.endsWith(wanted.slice(1)) : word === wanted
}
