import type { JsonValue } from '../base/json.ts'
import { show } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import type { AssistantMessage, UserPart } from '../message/message.ts'
import { type Format, type FormatInternals, internalsOf } from './typed-formats/format.ts'

/** The assistant message in a library's response. */
export function readReply(internals: FormatInternals, reply: unknown): AssistantMessage {
  const items = typeof reply === 'object' && reply !== null ? internals.itemsOf(reply) : null
  if (items === null || isStream(reply)) {
    throw new ThroughlineError(
      'reply-missing',
      isStream(reply)
        ? '"step" returned a stream. Read it to its end, and return the final response.'
        : `"step" returned ${show(reply)}, which has no assistant message. Return the library's response.`,
    )
  }
  const messages = parse(internals, items, 'What "step" returned')
  const parts = messages.flatMap((message) => {
    if (message.role === 'assistant') return message.parts
    throw new ThroughlineError(
      'invalid-message',
      `"step" returned a ${message.role} message. Return one reply of the model: give its library the tools ` +
        'without "execute", because a tool may run only when its call is durable.',
    )
  })
  const [first] = messages
  if (first?.role !== 'assistant') {
    throw new ThroughlineError('reply-missing', '"step" returned no assistant message.')
  }
  return { ...first, parts }
}

function isStream(reply: unknown): boolean {
  return typeof reply === 'object' && reply !== null && Symbol.asyncIterator in reply
}

/** The parts of a question: a text, or one user message of the format. */
export function readQuestion(format: Format, message: unknown): readonly UserPart[] {
  if (typeof message === 'string' && message !== '') return [{ type: 'text', text: message }]
  const internals = internalsOf(format)
  const messages =
    typeof message === 'object' && message !== null
      ? parse(internals, [message], 'The message', 'message')
      : []
  const [only] = messages
  if (messages.length === 1 && only?.role === 'user') return only.parts
  throw new ThroughlineError(
    'invalid-message',
    `Expected a text that is not empty, or one user message in the format ${format.name}, not ` +
      `${only === undefined ? show(message) : `a message of the role "${only.role}"`}.`,
    { at: 'message' },
  )
}

export function parse({ codec }: FormatInternals, items: unknown, what: string, at = 'step') {
  const document = items as JsonValue
  const problem = codec.reject(document)
  if (problem === undefined) return codec.parse(document).messages
  throw new ThroughlineError(
    'wrong-format',
    `${what} is not in the format ${codec.name}: ${problem}.`,
    { at },
  )
}
