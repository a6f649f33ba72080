import { writeEnvelope } from '../message/handoff/envelope.ts'
import type { AssistantMessage } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import type { Context } from './context/build.ts'
import type { ContextPiece } from './context/piece.ts'

/** The message when a turn ends without an answer: the reason, and what to do. */
export function failureMessage(reason: string): AssistantMessage {
  const text = `${FAILURE_PREFIX} ${reason.slice(0, REASON_MAX)}`
  return { role: 'assistant', parts: [{ type: 'text', text }] }
}

const FAILURE_PREFIX = 'This could not be answered.'
const REASON_MAX = 800

/** About four characters per token, as in all rough estimates. */
export function failureTokens(reason: string): number {
  return Math.ceil((FAILURE_PREFIX.length + Math.min(reason.length, REASON_MAX)) / 4) + 4
}

const PARTS_NAMED = 3
const EXCERPT_MAX = 48

/** For a context that cannot be made smaller: its largest parts, so that a person can act. */
export function tooLarge({ system, handoff, pieces, tokens }: Context, hardTokens: number): string {
  const named: readonly (readonly [name: string, tokens: number])[] = [
    ...system.map(
      (piece) => [`instructions, tools or pin (entry ${piece.number})`, piece.tokens] as const,
    ),
    ...(handoff === null ? [] : [['the record of earlier messages', handoff.tokens] as const]),
    ...pieces.map((piece) => [`entry ${piece.number}, ${shown(piece)}`, piece.tokens] as const),
  ]
  const largest = named
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, PARTS_NAMED)
    .map(([name, size]) => `${name}: ${size.toLocaleString('en')} tokens`)
  return (
    `The model takes less than the ${tokens.toLocaleString('en')} tokens of this conversation (limit ${hardTokens.toLocaleString('en')}), ` +
    `and nothing is left to compact. Largest: ${largest.join('; ')}. ` +
    'Send less at once, shorten pins, system text or tools, or choose a model with a larger window.'
  )
}

function shown({ message }: ContextPiece): string {
  const text = textOf(message.role === 'handoff' ? writeEnvelope(message.handoff) : message)
  const words = text.replace(/\s+/g, ' ').trim()
  const clipped = words.length > EXCERPT_MAX ? `${words.slice(0, EXCERPT_MAX)}…` : words
  return `${message.role} "${clipped}"`
}
