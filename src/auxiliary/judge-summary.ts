/**
 * Whether a text that came with a normal end is a summary at all. What it says about the
 * conversation cannot be checked here; that it is no refusal, and that the people of the
 * conversation can read it, can.
 */
export type SummaryFault = 'refusal' | 'other-language'

export function findSummaryFault(summary: string, userText: string): SummaryFault | undefined {
  if (isRefusal(summary)) return 'refusal'
  const asked = scriptOf(userText)
  if (asked === undefined) return undefined
  return shareOf(summary, asked) < SHARE_MIN ? 'other-language' : undefined
}

// A refusal is short and has no sections. A handoff may tell of somebody's refusal in the middle.
const REFUSAL_CHARACTERS_MAX = 800

function isRefusal(summary: string): boolean {
  const text = summary.trim()
  if (text.length > REFUSAL_CHARACTERS_MAX || /^#{1,3} /m.test(text)) return false
  return REFUSALS.some((words) => words.test(text))
}

const REFUSALS = [
  /^(?:i'?m |i am |we'?re )?(?:very |really |so )?(?:sorry|afraid|unable)\b/i,
  /^(?:unfortunately,? )?i (?:can'?t|can’t|cannot|won'?t|won’t|will not|must decline|am not able)\b/i,
  /^as an? (?:ai|language model)\b/i,
  /^(?:es tut mir leid|leider kann ich|ich kann (?:dabei|das|diese[rsn]?|dir|ihnen) )/i,
  /^(?:lo siento|no puedo|je suis désolée?|désolée?,|je ne peux pas|mi dispiace|desculpe|não posso)/i,
  /^(?:извините|к сожалению|я не могу|抱歉|对不起|很抱歉|我无法|我不能|申し訳|すみません|죄송)/i,
]

const SCRIPTS = {
  latin: /\p{Script=Latin}/gu,
  cyrillic: /\p{Script=Cyrillic}/gu,
  greek: /\p{Script=Greek}/gu,
  arabic: /\p{Script=Arabic}/gu,
  hebrew: /\p{Script=Hebrew}/gu,
  devanagari: /\p{Script=Devanagari}/gu,
  thai: /\p{Script=Thai}/gu,
  hangul: /\p{Script=Hangul}/gu,
  // Japanese is written in both; a summary of it may hold more of either.
  han: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu,
} as const
type Script = keyof typeof SCRIPTS

const SAMPLE_CHARACTERS_MAX = 20_000
const LETTERS_MIN = 40
// Names, paths and commands are Latin in every language: half is a clear majority of the words.
const MAJORITY = 0.5
const LATIN_MAJORITY = 0.9
const SHARE_MIN = 0.1

/** The script that people write in, if there is enough of it to tell. */
function scriptOf(text: string): Script | undefined {
  const sample = text.slice(-SAMPLE_CHARACTERS_MAX)
  const counts = countScripts(sample)
  const letters = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (letters < LETTERS_MIN) return undefined
  const needed = (script: Script) => letters * (script === 'latin' ? LATIN_MAJORITY : MAJORITY)
  return names().find((script) => counts[script] > needed(script))
}

function shareOf(text: string, script: Script): number {
  const counts = countScripts(text.slice(0, SAMPLE_CHARACTERS_MAX))
  const letters = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return letters < LETTERS_MIN ? 1 : counts[script] / letters
}

function countScripts(text: string): { readonly [script in Script]: number } {
  const entries = names().map((script) => [script, text.match(SCRIPTS[script])?.length ?? 0])
  return Object.fromEntries(entries) as { readonly [script in Script]: number }
}

function names(): readonly Script[] {
  return Object.keys(SCRIPTS) as Script[]
}
