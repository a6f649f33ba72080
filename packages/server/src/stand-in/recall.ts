import { findNames } from './names.ts'
import { type Record, sentencesOf } from './records.ts'

/**
 * Answers questions from the words of the request. It understands nothing: a sentence is an answer
 * if it contains the question's keywords; the newest one wins. English only.
 */
const STOP_WORDS = new Set(
  `a about again an and any anything are as asked at be before call called can could did do does
  earlier exact exactly for from gave give given had has have hold how i in is it its know last me
  mention mentioned my name named now of on or our please recall remember remind said say tell that
  the there this to told us was we were what when where which who whom whose why will with would
  you your`.split(/\s+/),
)

const ASKING =
  /^(?:what|which|who|whom|whose|where|when|why|how|did|do|does|is|are|was|were|can|could|tell me|remind me|recall)\b/i

/** A question may name several files; more than this many are noise. */
const PATHS_MAX = 10

export function isQuestion(sentence: string): boolean {
  return ASKED.test(sentence) || ASKING.test(sentence)
}

/** `opencode run` puts the message in quotation marks. */
const ASKED = /\?["'”’]?$/

export interface RecalledText {
  readonly where: string
  readonly quote: string
}

/** `undefined` means: no record. */
export function recall(question: string, records: readonly Record[]): RecalledText | undefined {
  const words = keywordsOf(question)
  const asksForFile = words.some((word) => word === 'file' || word === 'path')
  if (asksForFile) return recallFiles(words, records)
  if (words.length === 0) return undefined
  const needed = Math.ceil(words.length * 0.75)
  let best: (RecalledText & { matched: number }) | undefined
  for (const { where, text } of newestFirst(records)) {
    for (const sentence of sentencesOf(text).toReversed()) {
      if (isQuestion(sentence) || sentence.includes('no record of')) continue
      const matched = countMatches(words, sentence)
      if (matched < needed || matched <= (best?.matched ?? 0)) continue
      best = { where, quote: sentence, matched }
    }
  }
  return best
}

/** The subject of the question, for people. */
export function subjectOf(question: string): string {
  return wordsOf(question)
    .filter((word) => !STOP_WORDS.has(word))
    .join(' ')
}

// The stand-in's own sentences count least, because they only repeat others.
function newestFirst(records: readonly Record[]): readonly Record[] {
  const reversed = records.toReversed()
  const isOwn = ({ who }: Record) => who === 'assistant'
  return [...reversed.filter((record) => !isOwn(record)), ...reversed.filter(isOwn)]
}

const CHANGING = new Set(['change', 'changed', 'edit', 'edited', 'wrote', 'write', 'written'])
const READING = new Set(['read', 'open', 'opened', 'look', 'looked'])

function recallFiles(
  words: readonly string[],
  records: readonly Record[],
): RecalledText | undefined {
  const others = words.filter(
    (word) => word !== 'file' && word !== 'path' && !CHANGING.has(word) && !READING.has(word),
  )
  const paths = new Set<string>()
  let where: string | undefined
  for (const record of newestFirst(records)) {
    for (const sentence of sentencesOf(record.text)) {
      if (isQuestion(sentence) || countMatches(others, sentence) < others.length) continue
      for (const path of findNames(sentence, 'path')) {
        where ??= record.where
        if (paths.size < PATHS_MAX) paths.add(path)
      }
    }
  }
  return where === undefined ? undefined : { where, quote: [...paths].join(', ') }
}

const JOINED_CHARACTERS_MIN = 5

/** Words match one by one, or joined: `codeword` matches `code word`. */
function countMatches(keywords: readonly string[], sentence: string): number {
  const words = new Set(wordsOf(sentence).map(stem))
  const matched = keywords.filter((word) => words.has(word)).length
  const joined = keywords.join('')
  // `all` is in `call`.
  if (matched === keywords.length || joined.length < JOINED_CHARACTERS_MIN) return matched
  return wordsOf(sentence).join('').includes(joined) ? keywords.length : matched
}

function keywordsOf(text: string): readonly string[] {
  return [
    ...new Set(
      wordsOf(text)
        .filter((word) => !STOP_WORDS.has(word))
        .map(stem),
    ),
  ]
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function stem(word: string): string {
  return word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word
}
