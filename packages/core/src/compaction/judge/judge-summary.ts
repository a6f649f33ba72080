import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import { cleanSummary } from '../summary/clean-summary.ts'
import { type Coverage, coverageOf, spokenTexts } from './coverage.ts'
import { isOtherLanguage, SAMPLE_CHARACTERS_MAX } from './language.ts'
import { countWords, readSpeech, type Speech, withoutInventedTurns } from './speech.ts'

/**
 * Whether a text that ended normally is a summary at all. Models often continue the conversation
 * instead: they answer, advise, ask, call a tool. Correctness cannot be checked here. These
 * properties can: it speaks about the conversation and not to the user, it mentions most stretches
 * of it, and its length is in proportion.
 */
export type SummaryFault =
  | 'refusal'
  | 'tool-call'
  | 'prompt-echo'
  | 'repetition'
  | 'too-short'
  | 'continuation'
  | 'omits-history'
  | 'other-language'

export interface SummaryContext {
  /** The messages that the summary covers; empty if unknown. */
  readonly range: readonly Message[]
  /** The instructions that the writer was given. */
  readonly ask?: string
  /** Only a piece of the range was read, so the rest need not be mentioned. */
  readonly isPiece?: boolean
}

export interface SummaryVerdict {
  /** The text without the turns that its writer made up below it. */
  readonly text: string
  readonly fault?: SummaryFault
}

export function judgeSummary(text: string, context: SummaryContext): SummaryVerdict {
  const clean = cleanSummary(text)
  const own = withoutInventedTurns(clean)
  const fault = findFault(own, { ...context, playedOn: own.length < clean.length })
  return { text: own, ...(fault !== undefined && { fault }) }
}

function findFault(
  text: string,
  context: SummaryContext & { readonly playedOn: boolean },
): SummaryFault | undefined {
  const { range, ask = '', isPiece = false, playedOn } = context
  const speech = readSpeech(text)
  const headings = headingsAsked(ask)
  const isStructured = headings.some((heading) => speech.headings.includes(heading))
  if (isRefusal(text)) return 'refusal'
  if (isToolCall(text)) return 'tool-call'
  const shingles = shinglesOf(text)
  if (isEchoOf(ask, shingles)) return 'prompt-echo'
  if (isRepetition(shingles)) return 'repetition'
  const coverage = isPiece ? undefined : coverageOf(text, range)
  if (!isStructured) {
    if (continues(speech, coverage) || (playedOn && speech.reports === 0)) return 'continuation'
    const isFree = headings.length > 0
    if (isFree && coverage !== undefined && isPartial(speech, coverage)) return 'omits-history'
  }
  if (isTooShort(text, range)) return 'too-short'
  if (coverage !== undefined && omitsHistory(coverage, isStructured)) return 'omits-history'
  return isOtherLanguage(text, userTextOf(range)) ? 'other-language' : undefined
}

/** The user's newest text, up to the sample size. */
function userTextOf(range: readonly Message[]): string {
  const texts: string[] = []
  let characters = 0
  for (let at = range.length - 1; at >= 0 && characters < SAMPLE_CHARACTERS_MAX; at--) {
    const message = range[at]
    if (message?.role !== 'user' || message.synthetic === true) continue
    const text = textOf(message)
    characters += text.length
    texts.push(text)
  }
  return texts.reverse().join('\n')
}

function headingsAsked(ask: string): readonly string[] {
  return [...ask.matchAll(/^#{1,4} (.{2,100})$/gm)].map(([, title = '']) =>
    title.trim().toLowerCase(),
  )
}

const ADDRESSES_MIN = 3

/** Speaks to the user more than about them. A text that covers the whole range may do so. */
function continues(speech: Speech, coverage: Coverage | undefined): boolean {
  const { reports, addresses, opensAsReply, closesAsReply, startsMidway, announces } = speech
  if (opensAsReply && closesAsReply && reports <= 2 * addresses) return true
  if (announces > reports) return true
  if (coverage !== undefined && mentionsAll(coverage)) return false
  if ((opensAsReply || closesAsReply || startsMidway) && addresses >= Math.max(1, reports)) {
    return true
  }
  return addresses >= ADDRESSES_MIN && addresses > 2 * reports
}

const STRETCHES_MIN = 4
const NAMED_PER_STRETCH = 4

function mentionsAll({ stretches, mentioned, named }: Coverage): boolean {
  return (
    stretches >= STRETCHES_MIN && mentioned === stretches && named >= stretches * NAMED_PER_STRETCH
  )
}

/** Every recorded summary mentions at least four of five stretches and 36 of their words. */
function omitsHistory(coverage: Coverage, isStructured: boolean): boolean {
  const { stretches, mentioned, named, distinctive } = coverage
  if (stretches < STRETCHES_MIN) return false
  // With the requested headings, a summary may dwell on the newest part.
  if (isStructured) return mentioned === 0
  return mentioned < stretches / 2 || named < Math.min(12, distinctive / 80)
}

const REPORTS_MIN = 3

/** Without any requested heading, a text must show in another way that it covers the range. */
function isPartial({ reports }: Speech, { stretches, mentioned, named }: Coverage): boolean {
  if (stretches < STRETCHES_MIN || reports >= REPORTS_MIN) return false
  return mentioned < stretches - 1 || named < stretches * NAMED_PER_STRETCH
}

const WORDS_MIN = 40
const RANGE_WORDS_PER_WORD = 150

/** A summary has at least one word per 150 of the conversation, up to forty. */
function isTooShort(text: string, range: readonly Message[]): boolean {
  const words = countWords(text)
  if (words >= WORDS_MIN) return false
  const characters = spokenTexts(range).reduce((sum, spoken) => sum + spoken.length, 0)
  const read = characters / CHARACTERS_PER_WORD
  return words < Math.floor(Math.min(WORDS_MIN, read / RANGE_WORDS_PER_WORD))
}

const CHARACTERS_PER_WORD = 6

// A refusal is short and has no sections. A handoff may mention a refusal in the middle.
const REFUSAL_CHARACTERS_MAX = 800

function isRefusal(text: string): boolean {
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

const CALLS = [
  /<(?:tool_call|tool_use|function_calls?|function=|invoke |antml:|\|tool)[^\n]{0,200}/i,
  /^\s*(?:```(?:json|tool_code|tool_call)?\s*)?[[{]\s*"(?:name|tool|tool_name|function|tool_calls|recipient_name)"\s*:/i,
  /^\s*\[(?:call|tool_call|tool) [\w.:-]{1,80}[\s\]]/i,
  /^\s*(?:to=)?functions\.[\w.]{1,80}\b/,
]
const PROSE_WORDS_MIN = 40

/** Mainly a tool call, with little text. */
function isToolCall(text: string): boolean {
  const at = CALLS.map((call) => call.exec(text)?.index ?? -1).filter((index) => index >= 0)
  return at.length > 0 && countWords(text.slice(0, Math.min(...at))) < PROSE_WORDS_MIN
}

const SHINGLE_WORDS = 6
const SHINGLES_MIN = 30
const REPEATED_SHARE = 0.5
const ECHO_SHARE = 0.3

/** More than half of the text repeats the conversation word for word. */
function isRepetition(shingles: readonly string[]): boolean {
  if (shingles.length < SHINGLES_MIN) return false
  return new Set(shingles).size < shingles.length * (1 - REPEATED_SHARE)
}

/** A large part of the text repeats the instructions. */
function isEchoOf(ask: string, shingles: readonly string[]): boolean {
  const asked = new Set(shinglesOf(ask))
  if (asked.size === 0 || shingles.length === 0) return false
  return shingles.filter((each) => asked.has(each)).length > shingles.length * ECHO_SHARE
}

const SHINGLE_CHARACTERS_MAX = 60_000

function shinglesOf(text: string): readonly string[] {
  const words =
    text
      .slice(0, SHINGLE_CHARACTERS_MAX)
      .toLowerCase()
      .match(/\p{Script=Han}|\p{Script=Hiragana}|[\p{L}\p{N}_]+/gu) ?? []
  const joined = words.join(' ')
  const shingles: string[] = []
  let from = 0
  let to = words.slice(0, SHINGLE_WORDS - 1).join(' ').length
  for (const [at, last] of words.slice(SHINGLE_WORDS - 1).entries()) {
    to += 1 + last.length
    shingles.push(joined.slice(from, to))
    from += 1 + (words[at]?.length ?? 0)
  }
  return shingles
}
