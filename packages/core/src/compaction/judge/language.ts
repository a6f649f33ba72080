import { characterClasses } from '../../base/character-classes.ts'

/** Whether two texts are in the same language, judged by their scripts and function words. */
const SCRIPTS = {
  latin: /\p{Script=Latin}/u,
  cyrillic: /\p{Script=Cyrillic}/u,
  greek: /\p{Script=Greek}/u,
  arabic: /\p{Script=Arabic}/u,
  hebrew: /\p{Script=Hebrew}/u,
  devanagari: /\p{Script=Devanagari}/u,
  thai: /\p{Script=Thai}/u,
  hangul: /\p{Script=Hangul}/u,
  // Japanese uses both scripts; its summary may have more of either.
  han: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
} as const
type Script = keyof typeof SCRIPTS
const NAMES = Object.keys(SCRIPTS) as Script[]
const scriptsOf = characterClasses(...Object.values(SCRIPTS))

/** Sampled: the end of the request and the beginning of the summary. */
export const SAMPLE_CHARACTERS_MAX = 20_000
const LETTERS_MIN = 40
// Names, paths and commands are Latin in every language: half is a clear majority of the words.
const MAJORITY = 0.5
const LATIN_MAJORITY = 0.9
const SHARE_MIN = 0.1

/** True only if both languages are clear: a doubtful case counts as the same. */
export function isOtherLanguage(summary: string, userText: string): boolean {
  const asked = scriptOf(userText)
  if (asked === undefined) return false
  if (shareOf(summary, asked) < SHARE_MIN) return true
  if (asked !== 'latin') return false
  const wanted = latinLanguageOf(userText.slice(-SAMPLE_CHARACTERS_MAX))
  const written = latinLanguageOf(summary.slice(0, SAMPLE_CHARACTERS_MAX))
  return wanted !== undefined && written !== undefined && wanted !== written
}

/** The script of a text, if there is enough text. */
function scriptOf(text: string): Script | undefined {
  const sample = text.slice(-SAMPLE_CHARACTERS_MAX)
  const counts = countScripts(sample)
  const letters = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (letters < LETTERS_MIN) return undefined
  const needed = (script: Script) => letters * (script === 'latin' ? LATIN_MAJORITY : MAJORITY)
  return NAMES.find((script) => counts[script] > needed(script))
}

function shareOf(text: string, script: Script): number {
  const counts = countScripts(text.slice(0, SAMPLE_CHARACTERS_MAX))
  const letters = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return letters < LETTERS_MIN ? 1 : counts[script] / letters
}

function countScripts(text: string): { readonly [script in Script]: number } {
  const counts = NAMES.map(() => 0)
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0
    if (code > 0xffff) at++
    // No character has two scripts.
    const script = 31 - Math.clz32(scriptsOf(code))
    if (script >= 0) counts[script] = (counts[script] ?? 0) + 1
  }
  const entries = NAMES.map((script, index) => [script, counts[index]])
  return Object.fromEntries(entries) as { readonly [script in Script]: number }
}

/** Small words that no other language of the list uses. */
const SMALL_WORDS = new Map(
  Object.entries({
    en: 'the and of that with this was are it have from be by or which when',
    de: 'der das und ist nicht mit ein eine ich auch wird für werden bitte auf dem zu wurde',
    fr: 'les et est pas pour dans une avec sur des nous ce qui aux ont été',
    es: 'el los las y del está pero también hay por sus fue más',
    pt: 'não os uma com um são mas também ao em pelo foi à',
    it: 'il che di è sono gli della per nel anche questo stato più',
    nl: 'het een van niet dat op zijn voor ook naar deze werd',
    pl: 'się nie jest że na do jak oraz przez był',
    sv: 'och att är inte det som för på till',
    tr: 've bir bu için ile olarak değil',
  }).flatMap(([language, words]) => words.split(' ').map((word) => [word, language] as const)),
)
const SMALL_WORDS_MIN = 12
const LEAD = 3

function latinLanguageOf(text: string): string | undefined {
  const counts = new Map<string, number>()
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const language = SMALL_WORDS.get(word)
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  const [first, second] = [...counts].sort((a, b) => b[1] - a[1])
  if (first === undefined || first[1] < SMALL_WORDS_MIN) return undefined
  return first[1] >= LEAD * (second?.[1] ?? 0) ? first[0] : undefined
}
