import type { Conversation } from '#core/message/codec'
import type { Dialect } from '#core/message/dialect'
import { normalize } from '#core/message/dialects/normalize'
import type { FormatName } from '#core/message/formats/names'
import { InputError } from '#core/message/input-error'
import type { Message } from '#core/message/message'
import { readConversation } from '#core/message/read'
import { convertConversation, writeConversation } from '#core/message/write'
import { UsageError } from '../../../host/errors.ts'
import type { CompactFlags } from './options.ts'

/**
 * The rules that a format's provider applies to a request. Other formats work with any provider.
 */
const DIALECT_BY_FORMAT: { readonly [format in FormatName]?: Dialect } = {
  'openai-chat': 'openai-chat',
  hermes: 'openai-chat',
  'openai-responses': 'openai-responses',
  codex: 'openai-responses',
  anthropic: 'anthropic',
  'claude-code': 'anthropic',
}

/** The conversation as a file of that format, with messages that its provider accepts. */
export function writeAs(
  format: FormatName,
  conversation: Conversation,
  messages: readonly Message[],
): string {
  const legal = legalFor(format, messages)
  return writeConversation(convertConversation({ ...conversation, messages: legal }, format))
}

/** The messages as the format's provider accepts them: it may want neighbours of one role joined. */
export function legalFor(format: FormatName, messages: readonly Message[]): readonly Message[] {
  const dialect = DIALECT_BY_FORMAT[format]
  return dialect === undefined ? messages : normalize(messages, dialect)
}

/** The conversation in a file; a refusal names the file. */
export function readFrom(file: string, text: string, format: CompactFlags['format']): Conversation {
  try {
    return readConversation(text, format)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const name = file === '-' ? 'standard input' : file
    throw new UsageError(`${name}: ${error.message}`, { cause: error })
  }
}
