import { splitsCharacter } from '../../base/line.ts'
import type { Message, ResultPart, ToolResultPart, UserPart } from '../../message/message.ts'
import type { CountTokens } from '../counters.ts'
import { shortener } from '../own-words/pieces.ts'

/**
 * Clearing: reduces large bodies to their two ends and a note that says where the whole is. Cheaper
 * than a compaction, and the only way out if the newest step alone is too large.
 *
 * Keeps about two thirds from the beginning and a third from the end, with `note` in between.
 */
export function clipText(
  text: string,
  options: { tokensMax: number; countTokens: CountTokens; note: (characters: number) => string },
): string {
  const { tokensMax, countTokens, note } = options
  const tokens = countTokens(text)
  if (tokens <= tokensMax) return text
  const textTokens = tokensMax - countTokens(note(text.length))
  let characters = Math.max(0, Math.floor((text.length * textTokens) / tokens))
  for (;;) {
    const headTo = Math.ceil((characters * 2) / 3)
    const tailFrom = text.length - Math.floor(characters / 3)
    const head = text.slice(0, splitsCharacter(text, headTo) ? headTo - 1 : headTo)
    const tail = text.slice(splitsCharacter(text, tailFrom) ? tailFrom + 1 : tailFrom)
    const clipped = `${head}\n${note(text.length - head.length - tail.length)}\n${tail}`
    // Density varies inside a text, so the first guess can be too long; each try is a tenth shorter.
    if (characters === 0 || countTokens(clipped) <= tokensMax) return clipped.trim()
    characters = Math.floor(characters * 0.9)
  }
}

/** A tool result above `tokensMax` becomes a stub that names its original. */
function clearResult(
  part: ToolResultPart,
  options: { tokensMax: number; countTokens: CountTokens; number: number },
): ToolResultPart {
  const { tokensMax, countTokens, number } = options
  const texts = part.output.map((output) => (output.type === 'text' ? output.text : ''))
  const whole = texts.filter((text) => text !== '').join('\n')
  const others = part.output.filter((output) => output.type !== 'text')
  const of = part.name === undefined ? 'this result' : `the result of ${part.name}`
  const text = clipText(whole, {
    tokensMax,
    countTokens,
    note: (characters) =>
      `[cleared: ${characters} characters of ${of}; the original is message ${number} of the transcript]`,
  })
  if (text === whole && others.length === 0) return part
  const dropped =
    others.length === 0 ? '' : `\n[cleared: ${others.map((other) => NAMES[other.type]).join(', ')}]`
  const { origin: _, ...rest } = part
  return { ...rest, output: [{ type: 'text', text: text + dropped }], cleared: true }
}

const NAMES: Readonly<Record<ResultPart['type'], string>> = {
  text: 'text',
  image: 'an image',
  file: 'a file',
  opaque: 'a provider item',
}

/** Clips the results of a tool message, or the text of a request, to `tokensMax` in total. */
export function clearMessage(
  message: Message,
  options: { tokensMax: number; countTokens: CountTokens; number: number },
): Message {
  if (message.role === 'tool') {
    const tokensMax = Math.floor(options.tokensMax / Math.max(1, message.parts.length))
    return {
      ...message,
      parts: message.parts.map((part) => clearResult(part, { ...options, tokensMax })),
    }
  }
  if (message.role === 'user') {
    return { ...message, parts: measureWords(message.parts, options).clip(options.tokensMax) }
  }
  return message
}

/** The parts of a request, measured once however often they are cut. */
export interface MeasuredWords {
  /** The tokens of its short sentences, which are the last to be cut. */
  readonly leastTokens: () => number
  /**
   * Host blocks are cut first, then pasted bulk, then long sentences; the short ones are clipped in
   * the middle only if they alone are too long. Images stay, since they cannot be shortened.
   */
  readonly clip: (tokensMax: number) => UserPart[]
}

export function measureWords(
  parts: readonly UserPart[],
  { countTokens, number }: { countTokens: CountTokens; number: number },
): MeasuredWords {
  const note = (characters: number) =>
    `[… ${characters} characters of message ${number} left out …]`
  const texts = parts.map((part) => (part.type === 'text' ? part.text : ''))
  const measure = once(() => {
    const shorteners = texts.map((text) => shortener(text, note))
    const shortest = shorteners.map((shorten) => shorten(0))
    return { shorteners, shortest, least: shortest.map(countTokens) }
  })
  const sizes = once(() => texts.map(countTokens))

  const clip = (tokensMax: number) => {
    if (sum(sizes()) <= tokensMax) return [...parts]
    const { shorteners, shortest, least } = measure()
    let left = tokensMax
    let later = sum(least)
    return parts.map((part, at) => {
      const [tokens = 0, leastTokens = 0, short = ''] = [sizes()[at], least[at], shortest[at]]
      if (part.type !== 'text') return part
      // A paste in one part leaves space for the words in the next.
      later -= leastTokens
      const most = Math.max(0, left - later)
      if (tokens <= most) {
        left -= tokens
        return part
      }
      const share = (most - leastTokens) / (tokens - leastTokens)
      let more = (part.text.length - short.length) * share
      let text = ''
      // Density varies inside a text, so the first guess can be too long.
      do {
        text = (more > MORE_MIN && shorteners[at]?.(short.length + more)) || short
        more *= 0.8
      } while (text !== short && countTokens(text) > most)
      text = clipText(text, { tokensMax: most, countTokens, note })
      left -= countTokens(text)
      return { type: 'text', text } as const
    })
  }
  return { leastTokens: () => sum(measure().least), clip }
}

/** In characters; both ends of less are useless. */
const MORE_MIN = 20

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
