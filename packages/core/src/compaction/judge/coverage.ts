import { characterClasses } from '../../base/character-classes.ts'
import type { Message } from '../../message/message.ts'
import { eachText } from '../ledger/gather.ts'

/**
 * How much of a conversation a text mentions. The range is cut into stretches; a stretch is
 * mentioned if the text names words that only this stretch uses. A summary mentions most of them,
 * an answer to the newest message hardly more than the last one (measured: `npm run
 * eval:summaries`).
 */
export interface Coverage {
  /** Stretches with enough distinctive words to be recognized. */
  readonly stretches: number
  readonly mentioned: number
  /** Words of single stretches that the text names, and how many such words there are. */
  readonly named: number
  readonly distinctive: number
}

const STRETCHES = 5
const DISTINCTIVE_MIN = 20
const NAMED_MIN = 2

export function coverageOf(text: string, range: readonly Message[]): Coverage {
  const own = new Set<Stem>()
  eachStem(text, (stem) => own.add(stem))
  const { usedIn, counts } = stretchesByStem(range)
  for (const stem of own) {
    const count = counts[usedIn.get(stem) ?? SEVERAL]
    if (count !== undefined) count.named++
  }
  const known = counts.filter(({ all }) => all >= DISTINCTIVE_MIN)
  return {
    stretches: known.length,
    mentioned: known.filter(({ named }) => named >= NAMED_MIN).length,
    named: known.reduce((sum, { named }) => sum + named, 0),
    distinctive: known.reduce((sum, { all }) => sum + all, 0),
  }
}

/** Marks a stem that several stretches use. */
const SEVERAL = -1

/** The stretch of each stem, and how many stems each stretch has to itself. */
function stretchesByStem(range: readonly Message[]) {
  const length = Math.ceil(range.length / STRETCHES)
  const usedIn = new Map<Stem, number>()
  const counts = Array.from({ length: STRETCHES }, () => ({ all: 0, named: 0 }))
  for (const [stretch, count] of counts.entries()) {
    const note = (stem: Stem) => {
      const other = usedIn.get(stem)
      if (other === stretch || other === SEVERAL) return
      if (other === undefined) {
        usedIn.set(stem, stretch)
        count.all++
      } else {
        usedIn.set(stem, SEVERAL)
        const before = counts[other]
        if (before !== undefined) before.all--
      }
    }
    const messages = range.slice(stretch * length, (stretch + 1) * length)
    for (const text of spokenTexts(messages)) eachStem(text, note)
  }
  return { usedIn, counts }
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
const WORD_CHARACTERS_MIN = 4

const DENSE_SCRIPTS = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}'
const DENSE = new RegExp(`[${DENSE_SCRIPTS}]`, 'u')
const DENSE_RUN = new RegExp(`[${DENSE_SCRIPTS}]{2,}|[\\p{L}\\p{N}_]{4,}`, 'gu')
const IS_DENSE = 2
const classOf = characterClasses(/[\p{L}\p{N}_]/u, DENSE)

/** ASCII stems as small integers, others as text: integers are found in a fraction of the time. */
type Stem = string | number

// Digits, letters and the underscore, from 1 on: six of them fit into 32 bits.
const RADIX = 38
const SYMBOLS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 36)
  return code === 95 ? RADIX - 1 : digit + 1 || 0
})

/**
 * Words without their endings, because a summary inflects them as it needs. Scripts without blanks
 * are read in pairs of characters.
 */
function eachStem(text: string, visit: (stem: Stem) => void): void {
  const small = text.toLowerCase()
  let from = 0
  let characters = 0
  let classes = 0
  let stem = 0
  let isAscii = true
  for (let at = 0; at <= small.length; at++) {
    let code = at < small.length ? small.charCodeAt(at) : 0
    let kind = SYMBOLS[code] ?? 0
    if (code > 127) {
      code = small.codePointAt(at) ?? 0
      kind = classOf(code)
      if (characters < STEM_CHARACTERS && kind !== 0) isAscii = false
      classes |= kind
    }
    if (kind !== 0) {
      if (characters === 0) from = at
      if (characters < STEM_CHARACTERS) stem = (Math.imul(stem, RADIX) + kind) | 0
      characters++
      if (code > 0xffff) at++
      continue
    }
    if ((classes & IS_DENSE) !== 0) eachDenseStem(small.slice(from, at), visit)
    else if (characters >= WORD_CHARACTERS_MIN)
      visit(isAscii ? stem : small.slice(from, Math.min(at, from + STEM_CHARACTERS)))
    characters = 0
    classes = 0
    stem = 0
    isAscii = true
  }
}

function eachDenseStem(run: string, visit: (stem: Stem) => void): void {
  for (const [word] of run.matchAll(DENSE_RUN)) {
    if (!DENSE.test(word)) eachStem(word, visit)
    else for (let at = 0; at + 1 < word.length; at++) visit(word.slice(at, at + 2))
  }
}
