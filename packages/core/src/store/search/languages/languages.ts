import { ENGLISH_WORDS } from './english.ts'
import { FRENCH_WORDS } from './french.ts'
import { GERMAN_WORDS } from './german.ts'
import { ITALIAN_WORDS } from './italian.ts'
import type { Language } from './language.ts'
import { PORTUGUESE_WORDS } from './portuguese.ts'
import { RUSSIAN_WORDS } from './russian.ts'
import { SPANISH_WORDS } from './spanish.ts'

export const LANGUAGES: readonly Language[] = [
  ...[
    ENGLISH_WORDS,
    GERMAN_WORDS,
    FRENCH_WORDS,
    SPANISH_WORDS,
    PORTUGUESE_WORDS,
    ITALIAN_WORDS,
    RUSSIAN_WORDS,
  ],
]

/** The languages of each function word of two letters or more; a single letter is a name in code. */
const OF_WORD = languagesOf(({ functionWords }) =>
  [...functionWords].filter(({ length }) => length > 1),
)
const OF_LETTER = languagesOf(({ letters }) => [...letters])

function languagesOf(
  signsOf: (language: Language) => readonly string[],
): ReadonlyMap<string, readonly Language[]> {
  const found = new Map<string, Language[]>()
  for (const language of LANGUAGES) {
    for (const sign of signsOf(language)) found.set(sign, [...(found.get(sign) ?? []), language])
  }
  return found
}

const SAMPLE_CHARACTERS = 2_000
const SAMPLE_WORDS = 400
/** Prose has three function words in ten; code that happens to hold those of others has fewer. */
const OTHER_SIGNS_SHARE = 0.2
/** "See ya!" is not Spanish. A word that English has, too, counts in part. */
const OTHER_SIGNS_MIN = 2

/**
 * The language of which a text has most signs: function words and letters, each worth less if
 * several languages have it. English if that is inconclusive; of equals, one that is `spoken`.
 */
export function languageOf(
  text: string,
  words: readonly string[],
  spoken: ReadonlySet<string> = new Set(),
): Language {
  const weights = new Map<Language, number>()
  const weigh = (languages: readonly Language[] = []) => {
    for (const each of languages) {
      weights.set(each, (weights.get(each) ?? 0) + 1 / languages.length)
    }
  }
  // Each counts once: a name in a list of paths is repeated, too.
  const sample = new Set(words.slice(0, SAMPLE_WORDS).map((word) => word.toLowerCase()))
  for (const word of sample) weigh(OF_WORD.get(word))
  const letters = text
    .slice(0, SAMPLE_CHARACTERS)
    .toLowerCase()
    .match(/[^\0-\x7f]/g)
  for (const letter of new Set(letters)) weigh(OF_LETTER.get(letter))
  const english = weights.get(ENGLISH_WORDS) ?? 0
  const others = [...weights.values()].reduce((sum, weight) => sum + weight, 0) - english
  if (others < Math.max(OTHER_SIGNS_MIN, OTHER_SIGNS_SHARE * sample.size)) return ENGLISH_WORDS
  let best = ENGLISH_WORDS
  let most = english
  for (const [language, weight] of weights) {
    const isPreferred = best !== ENGLISH_WORDS && spoken.has(language.name)
    if (weight > most || (weight === most && isPreferred)) {
      best = language
      most = weight
    }
  }
  return best
}
