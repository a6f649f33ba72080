import type { Message } from '../../message/message.ts'
import { eachText } from '../ledger/gather.ts'

/**
 * How much of a conversation a text mentions. The range is cut into stretches; a stretch is
 * mentioned if the text names words that only this stretch uses. A summary mentions most of them,
 * an answer to the newest message hardly more than the last one (measured: `npm run
 * eval:summaries`).
 */
export interface Coverage {
  /** Stretches with enough distinctive words to be recognised. */
  readonly stretches: number
  readonly mentioned: number
  /** Words of single stretches that the text names, and how many there are. */
  readonly named: number
  readonly distinctive: number
}

const STRETCHES = 5
const DISTINCTIVE_MIN = 20
const NAMED_MIN = 2

export function coverageOf(text: string, range: readonly Message[]): Coverage {
  const own = new Set(stemsOf(text))
  const stretches = stretchesOf(range)
  const seenIn = new Map<string, number>()
  for (const stems of stretches) {
    for (const stem of stems) seenIn.set(stem, (seenIn.get(stem) ?? 0) + 1)
  }
  const counts = stretches.map((stems) => {
    const only = [...stems].filter((stem) => seenIn.get(stem) === 1)
    return { all: only.length, named: only.filter((stem) => own.has(stem)).length }
  })
  const known = counts.filter(({ all }) => all >= DISTINCTIVE_MIN)
  return {
    stretches: known.length,
    mentioned: known.filter(({ named }) => named >= NAMED_MIN).length,
    named: known.reduce((sum, { named }) => sum + named, 0),
    distinctive: known.reduce((sum, { all }) => sum + all, 0),
  }
}

function stretchesOf(range: readonly Message[]): readonly Set<string>[] {
  const length = Math.ceil(range.length / STRETCHES)
  return Array.from({ length: STRETCHES }, (_, index) => {
    const texts = spokenTexts(range.slice(index * length, (index + 1) * length))
    return new Set(texts.flatMap((text) => [...stemsOf(text)]))
  })
}

/**
 * Messages and tool calls, each text bounded. Tool results, which a summary need not repeat, and
 * the system text, which it does not replace, are left out.
 */
export function spokenTexts(range: readonly Message[]): readonly string[] {
  const texts: string[] = []
  for (const message of range) {
    if (message.role === 'system') continue
    eachText(message, (text, source) => {
      if (source !== 'result' && source !== 'body') texts.push(text.slice(0, TEXT_CHARACTERS_MAX))
    })
  }
  return texts
}

const TEXT_CHARACTERS_MAX = 2_000
const STEM_CHARACTERS = 6

/**
 * Words without their endings, because a summary inflects them as it needs. Scripts without blanks
 * are read in pairs of characters.
 */
function* stemsOf(text: string): Generator<string> {
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    if (!DENSE.test(word)) yield word.slice(0, STEM_CHARACTERS)
    else for (let at = 0; at + 1 < word.length; at++) yield word.slice(at, at + 2)
  }
}

const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,}|[\p{L}\p{N}_]{4,}/gu
