import type { Handoff } from '../../message/handoff/handoff.ts'
import { writeLedger } from '../../message/handoff/ledger-text.ts'
import { textOf } from '../../message/text.ts'

/**
 * Whether a handoff repeats something of a text: a phrase of a few words, or an exact value such as
 * a path, a name in code or a number with its unit. Single words are not enough: a handoff contains
 * most common ones. A paraphrase is not recognized.
 */
export function repetitionsIn(handoff: Handoff): (text: string) => boolean {
  const words = wordsIn(textsOf(handoff).join('\n\n'))
  const phrases = new Set(phrasesOf(words))
  const values = new Set(words.filter(isExactValue))
  const all = ` ${words.join(' ')} `
  return (text) => {
    const own = wordsIn(text)
    if (own.length < PHRASE_WORDS) {
      const whole = own.join(' ')
      return whole.length >= SHORT_CHARACTERS_MIN && all.includes(` ${whole} `)
    }
    return own.some((word) => values.has(word)) || phrasesOf(own).some((each) => phrases.has(each))
  }
}

const PHRASE_WORDS = 5
/** A shorter text, such as "yes, go on", occurs in many places by chance. */
const SHORT_CHARACTERS_MIN = 12
const VALUE_CHARACTERS_MIN = 6
const WORD = /[\p{L}\p{N}][\p{L}\p{N}_./:@#-]*/gu

function textsOf({ preserved, rules, tasks, files, ledger, summary }: Handoff): readonly string[] {
  return [
    ...preserved.map(({ message }) => textOf(message)),
    ...(rules ?? []).map(({ text }) => text),
    ...tasks.map(({ text }) => text),
    ...files.map(({ path }) => path),
    writeLedger(ledger),
    summary,
  ]
}

function wordsIn(text: string): readonly string[] {
  return (text.match(WORD) ?? []).map((word) => word.replace(/[./:-]+$/, '').toLowerCase())
}

function phrasesOf(words: readonly string[]): readonly string[] {
  return words.slice(PHRASE_WORDS - 1).map((_, at) => words.slice(at, at + PHRASE_WORDS).join(' '))
}

/** Digits or punctuation inside a word, which do not recur by chance. */
function isExactValue(word: string): boolean {
  return word.length >= VALUE_CHARACTERS_MIN && /\p{L}/u.test(word) && /[\d_./:@#]/.test(word)
}
