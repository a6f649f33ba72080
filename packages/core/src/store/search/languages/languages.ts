import { FUNCTION_WORDS, IRREGULAR } from './english.ts'
import { stem } from './stem.ts'

/** How a language reduces words to roots. Words are already folded: lower case, no diacritics. */
export interface Language {
  readonly name: string
  /** Words that carry no meaning by themselves, also folded. */
  readonly functionWords: ReadonlySet<string>
  stem(word: string): string
}

export const ENGLISH: Language = {
  name: 'en',
  functionWords: FUNCTION_WORDS,
  stem: (word) => stem(IRREGULAR.get(word) ?? word),
}

export const LANGUAGES: readonly Language[] = [ENGLISH]

const SAMPLE_WORDS = 400

/** The language whose function words are most frequent; English if that is inconclusive. */
export function languageOf(words: readonly string[]): Language {
  const sample = words.slice(0, SAMPLE_WORDS)
  let best = ENGLISH
  let most = 0
  for (const language of LANGUAGES) {
    const count = sample.filter((word) => language.functionWords.has(word)).length
    if (count > most) {
      best = language
      most = count
    }
  }
  return best
}
