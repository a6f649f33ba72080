import { findCues } from './cues/find-cues.ts'
import { readHashedSets } from './hashed-sets.ts'
import { WEIGHTS } from './weights.ts'

/**
 * How much in a sentence speaks for a standing instruction: the sum of the weights of its features. A
 * sum above zero is a rule. `npm run eval:rules:fit` computes the weights from lists of messages; they
 * are whole numbers of tenths.
 */
export interface Weighed {
  readonly sum: number
  /** The features that count, the weightiest first. */
  readonly reasons: readonly Reason[]
}

export interface Reason {
  readonly feature: string
  readonly weight: number
}

export function weigh(sentence: string): Weighed {
  const reasons = [...featuresOf(sentence)].flatMap((feature) => {
    const weight = weightOf(feature)
    return weight === undefined ? [] : [{ feature, weight: Number(weight) }]
  })
  const against = CODE.test(sentence) ? CODE_WEIGHT : 0
  return {
    sum: reasons.reduce((sum, { weight }) => sum + weight, against),
    reasons: reasons.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight)),
  }
}

/** Signs of program text, a heading or a log. A rule may name a command or a path, but must be put plainly. */
const CODE =
  /^\s*…|^\w\) |#\d|[a-z][A-Z][a-z]+[A-Z]|[@.]\/?\w+\/|\d-\d+ |[={}<>|[\]\\]|\w\(|\s--?\w|^[#$.]|\*\*|\w\.\w+:|\/\w+\/|\/\/|:$/
const CODE_WEIGHT = -8

/**
 * Words and pairs of neighbouring words, with `^` where they begin the sentence; kinds of cues (`@kind`,
 * `@^kind` for one that begins a clause), and pairs of kinds, which also know words that no list of
 * messages has.
 */
export function featuresOf(sentence: string): ReadonlySet<string> {
  const features = new Set(['@any'])
  const words = wordsOf(sentence)
  for (const [at, word] of words.entries()) {
    features.add(word).add(`${word} ${words[at + 1] ?? '$'}`)
    if (isDense(word)) features.add(words.slice(at, at + 3).join(' '))
  }
  for (const length of [1, 2, 3]) features.add(`^${words.slice(0, length).join(' ')}`)
  const cues = findCues(sentence)
  const kinds = [...new Set(cues.map(({ kind }) => kind))].toSorted()
  for (const { kind, isFirst } of cues) if (isFirst) features.add(`@^${kind}`)
  for (const [at, kind] of kinds.entries()) {
    features.add(`@${kind}`)
    for (const other of kinds.slice(at + 1)) features.add(`@${kind}+${other}`)
  }
  return features
}

/** In unspaced scripts each character counts as a word; all numbers are one. */
function wordsOf(sentence: string): readonly string[] {
  const words = sentence.toLowerCase().replaceAll('’', "'").match(WORD) ?? []
  return words.map((word) => (/^\p{N}/u.test(word) ? '0' : word))
}

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}']+|\p{N}+|[,.:!…€$£]/gu
const isDense = (word: string) =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)

let read: ((feature: string) => string | undefined) | undefined

/** Read with the first sentence, because a program that starts may be far from its first compaction. */
function weightOf(feature: string): string | undefined {
  read ??= readHashedSets(WEIGHTS)
  return read(feature)
}
