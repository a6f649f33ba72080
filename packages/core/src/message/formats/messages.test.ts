import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversation, messageList } from '../../../../../test/support/generators.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import type { Message, Part } from '../message.ts'
import { readConversation } from '../read.ts'
import { writeConversation } from '../write.ts'
import { writeUrl } from './blob.ts'
import { FORMAT_NAMES, type FormatName } from './names.ts'
import { plain } from './openai-responses/items.ts'

const write = (format: FormatName, messages: readonly Message[]) =>
  writeConversation({ format, messages, notes: [] })

describe.each(FORMAT_NAMES)('messages written as %s', (format) => {
  it('have the same content when read again, as far as the format can express it', () => {
    fc.assert(
      fc.property(conversation(), (messages) => {
        const again = readConversation(write(format, messages), format)
        expect(sayable(again.messages, format)).toEqual(sayable(messages, format))
      }),
      { numRuns: tries(150) },
    )
  })

  it('are written the same after they are read again, for any content', () => {
    fc.assert(
      fc.property(messageList({ maxLength: 6 }), (list) => {
        const messages = list.filter((message) => !imitatesItems(message))
        const text = write(format, messages)
        fc.pre(text !== '') // the format could express nothing, and a log without lines is not a log
        const once = readConversation(text, format)
        const twice = readConversation(writeConversation(once), format)
        expect(twice.messages).toEqual(once.messages)
      }),
      { numRuns: tries(250) },
    )
  })
})

/** A handoff that preserves a user message with an opaque item, which no format can express. */
function imitatesItems(message: Message): boolean {
  if (message.role !== 'handoff') return false
  const parts = message.handoff.preserved.flatMap((kept) => kept.message.parts)
  return parts.some((part) => part.type === 'opaque')
}

/** The messages without everything that the format cannot express. */
function sayable(messages: readonly Message[], format: FormatName): readonly unknown[] {
  const said: { role: string; said: unknown[] }[] = []
  for (const message of messages) {
    const { parts: whole } = plain(message, format)
    const parts = whole.flatMap((part) => sayablePart(part, format))
    const last = said.at(-1)
    // Formats differ in whether adjacent messages of one role are merged.
    if (last?.role === message.role && message.role !== 'user') last.said.push(...parts)
    else if (parts.length > 0) said.push({ role: message.role, said: parts })
  }
  return said
}

const SEALED_BY: { readonly [format in FormatName]?: readonly string[] } = {
  anthropic: ['anthropic'],
  'claude-code': ['anthropic'],
  'openai-responses': ['openai'],
  codex: ['openai'],
  'ai-sdk': ['anthropic', 'openai'],
  pi: ['anthropic', 'openai'],
}
const OPEN_THOUGHTS: readonly FormatName[] = ['openai-chat', 'hermes', 'ai-sdk', 'pi']
const NAMES_RESULTS: readonly FormatName[] = ['openai-chat', 'hermes', 'ai-sdk', 'pi']
const MARKS_ERRORS: readonly FormatName[] = ['anthropic', 'claude-code', 'ai-sdk', 'pi']

function sayablePart(part: Part, format: FormatName): unknown[] {
  switch (part.type) {
    case 'text':
      return /^\[(?:image|file)/.test(part.text) ? [] : [part.text]
    case 'image':
    case 'file': {
      const url = writeUrl(part.source)
      const isKnown = format === 'pi' ? part.source.kind === 'base64' : url !== undefined
      return isKnown ? [`${part.type} ${url}`] : []
    }
    case 'reasoning': {
      if (part.sealed === undefined) return OPEN_THOUGHTS.includes(format) ? [part.text] : []
      return SEALED_BY[format]?.includes(part.sealed.provider) ? [sealOf(part.sealed.value)] : []
    }
    case 'tool-call':
      return [{ call: part.id, name: part.name, input: part.input }]
    case 'tool-result':
      return [
        {
          result: part.callId,
          output: part.output.flatMap((inner) => sayablePart(inner, format)),
          ...(NAMES_RESULTS.includes(format) && { name: part.name }),
          ...(MARKS_ERRORS.includes(format) && { isError: part.isError }),
        },
      ]
    case 'opaque':
      return [part.value]
  }
}

/** The SDK keeps the signature and the text, and nothing else of the item. */
function sealOf(value: unknown): unknown {
  const { signature, encrypted_content } = value as { [key: string]: unknown }
  return signature ?? encrypted_content
}
