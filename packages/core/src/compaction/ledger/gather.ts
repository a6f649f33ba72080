import type { JsonValue } from '../../base/json.ts'
import type { Message, Part, TextPart } from '../../message/message.ts'
import type { NumberOf } from '../layout.ts'
import { redact, redactPart } from '../redact/redact.ts'
import { eachWord } from './words.ts'

/**
 * Where a word occurred. The assistant is likely to reuse words from its tool arguments; a body is
 * the text of a file in such an argument; a word in an earlier handoff was worth keeping once.
 */
export type WordSource = 'argument' | 'kept' | 'body' | 'said' | 'asked' | 'result'

export interface Sighting {
  readonly word: string
  /** How often the assistant wrote it into an argument. */
  arguments: number
  /** The best source it was seen in. */
  source: WordSource
  /** Number of the message where it was last seen. */
  number: number
}

/** Which of several sources a word is judged by. */
const PROMISE = { argument: 5, kept: 4, body: 3, said: 2, asked: 1, result: 0 } as const

/** One text of the head: bounded, secrets masked. */
export interface HeadText {
  readonly text: string
  readonly source: WordSource
  readonly number: number
}

export function readHead(head: readonly Message[], numberOf: NumberOf): HeadText[] {
  const readings: HeadText[] = []
  for (const [index, message] of head.entries()) {
    eachText(message, (text, source, part) => {
      const isWhole = part !== undefined && text.length <= TEXT_CHARACTERS_MAX
      const clean = isWhole ? redactPart(part) : redact(bounded(text))
      readings.push({ text: clean, source, number: numberOf(index) })
    })
  }
  return readings
}

export function gatherWords(readings: readonly HeadText[]): Map<string, Sighting> {
  const sightings = new Map<string, Sighting>()
  for (const { text, source, number } of readings) {
    eachWord(text, (found) => {
      const word = source === 'argument' ? found : withoutPosition(found)
      const sighting = sightings.get(word)
      if (sighting === undefined) {
        const first = source === 'argument' ? 1 : 0
        sightings.set(word, { word, arguments: first, source, number })
        return
      }
      if (source === 'argument') sighting.arguments++
      if (PROMISE[source] > PROMISE[sighting.source]) sighting.source = source
      sighting.number = number
    })
  }
  return sightings
}

const TEXT_CHARACTERS_MAX = 200_000

/** Both ends of an enormous text: beginnings name things, ends have outcomes. */
export function bounded(text: string, charactersMax = TEXT_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text
  const half = Math.floor(charactersMax / 2)
  return `${text.slice(0, half)}\n${text.slice(-half)}`
}

/** `src/a.ts:12:5`, `src/a.ts:12:code` and `src/a.ts-12-code` of search results all mean the file. */
function withoutPosition(word: string): string {
  if (!word.includes('/')) return word
  const match = /\.[A-Za-z]\w{0,9}[:-]\d/.exec(word)
  if (match === null) return word
  return word.slice(0, match.index + match[0].length - 2)
}

/** An argument longer than this is the body of a file or of a message. */
const ARGUMENT_CHARACTERS_MAX = 600

/** `part` is set for a whole text part, not for an argument inside a call. */
export function eachText(
  message: Message,
  visit: (text: string, source: WordSource, part?: TextPart) => void,
): void {
  if (message.role === 'handoff') {
    visit(message.handoff.summary, 'kept')
    return
  }
  const source = SOURCES[message.role]
  for (const part of message.parts as readonly Part[]) {
    if (part.type === 'text') visit(part.text, source, part)
    else if (part.type === 'tool-call') {
      eachLeaf(part.input, (leaf) => {
        visit(leaf, leaf.length > ARGUMENT_CHARACTERS_MAX ? 'body' : 'argument')
      })
    } else if (part.type === 'tool-result') {
      for (const output of part.output) {
        if (output.type === 'text') visit(output.text, source, output)
      }
    }
  }
}

const SOURCES = { assistant: 'said', user: 'asked', system: 'asked', tool: 'result' } as const

/** The strings of a JSON value in order. Without recursion, so that deep nesting is safe. */
export function eachLeaf(value: JsonValue, visit: (leaf: string) => void): void {
  const waiting: JsonValue[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') visit(next)
    else if (typeof next === 'object' && next !== null) {
      for (const item of Object.values(next).reverse()) waiting.push(item)
    }
  }
}
