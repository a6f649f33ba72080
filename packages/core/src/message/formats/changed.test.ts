import { describe, expect, it } from 'vitest'
import { assistant, toolCall, toolResult, user } from '../../../../../test/support/builders.ts'
import { RICH } from '../../../../../test/support/documents/rich.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import type { Message, Part } from '../message.ts'
import { CODECS } from './file-formats.ts'
import { geminiFormat } from './gemini/gemini.ts'
import { langchainFormat } from './langchain/langchain.ts'

const MESSAGES = [
  user('Read it.'),
  toolCall('call_1', { path: 'a' }, 'read'),
  toolResult('call_1', 'one', 'read'),
  assistant('It says one.'),
  user('Thanks.'),
]

/** What a compaction or another program may change, with the origin left as it was. */
function changedPart(part: Part): Part {
  switch (part.type) {
    case 'text':
      return { ...part, text: `${part.text} Changed.` }
    case 'tool-call':
      return { ...part, id: 'call_2', name: 'open', input: { path: 'b' } }
    case 'tool-result':
      return { ...part, callId: 'call_2', name: 'open', output: [{ type: 'text', text: 'two' }] }
    default:
      return part
  }
}

function saidIn(messages: readonly Message[]): unknown {
  return messages.map((message) => {
    if (message.role === 'handoff') throw new Error('there is no handoff here')
    const parts = (message.parts as readonly Part[]).map((part) => {
      if (part.type === 'tool-call') return [part.id, part.name, part.input]
      return part.type === 'tool-result' ? [part.callId, part.output.map(textIn)] : textIn(part)
    })
    return [message.role, parts]
  })
}

function textIn(part: Part): string | undefined {
  return part.type === 'text' ? part.text : undefined
}

const codecs: readonly Pick<Codec, 'name' | 'parse' | 'format'>[] = [
  ...CODECS,
  geminiFormat,
  langchainFormat,
] as never

it.each(codecs)(
  'a message read from $name and then changed is written with its change',
  (codec) => {
    const conversation = { format: codec.name, messages: MESSAGES, notes: [] }
    const read = codec.parse(codec.format(conversation))
    expect(saidIn(read.messages)).toEqual(saidIn(MESSAGES))
    const messages = read.messages.map(
      (message) =>
        ('parts' in message
          ? { ...message, parts: (message.parts as readonly Part[]).map(changedPart) }
          : message) as Message,
    )
    const again = codec.parse(codec.format({ ...read, messages }))
    expect(saidIn(again.messages)).toEqual(saidIn(messages))
  },
)

/** Calls and answers as two formats write them, with this id. */
const WITH_ID: Readonly<Record<string, (id: { readonly id?: string }) => JsonValue>> = {
  'openai-chat': (id) => {
    const body = { type: 'function', function: { name: 'read', arguments: '{}' } }
    const answered = 'id' in id ? { tool_call_id: id.id } : {}
    return [
      { role: 'assistant', content: 'Reading.', tool_calls: [{ ...body, ...id }] },
      { role: 'tool', content: 'one', ...answered },
    ]
  },
  langchain: (id) => {
    const call = { name: 'read', args: {}, type: 'tool_call' }
    return [{ type: 'ai', content: 'Reading.', tool_calls: [{ ...call, ...id }] }]
  },
}

it.each(Object.entries(WITH_ID))(
  'an id of %s that is missing or empty stays so until the call has one',
  (name, documentWith) => {
    const codec = codecs.find((each) => each.name === name) as (typeof codecs)[number]
    for (const id of [{}, { id: '' }]) {
      const read = codec.parse(documentWith(id))
      expect(codec.format(read)).toEqual(documentWith(id))
      const text = JSON.stringify(read.messages)
      const named = text.replace('"id":""', '"id":"c1"').replace('"callId":""', '"callId":"c1"')
      const messages = JSON.parse(named) as readonly Message[]
      expect(codec.format({ ...read, messages })).toEqual(documentWith({ id: 'c1' }))
    }
  },
)

/** With `new` for `old` in every text, except in origins and in what only its provider understands. */
function renewed<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('old', 'new') as T
  if (Array.isArray(value)) return value.map(renewed) as T
  if (typeof value !== 'object' || value === null) return value
  if ('type' in value && value.type === 'opaque') return value
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    key === 'origin' || key === 'sealed' ? inner : renewed(inner),
  ])
  return Object.fromEntries(entries) as T
}

describe.each(codecs)('a document of $name', (codec) => {
  const document = RICH[codec.name] ?? null

  it('comes back as it was', () => {
    expect(codec.format(codec.parse(document))).toEqual(document)
  })

  it('is written with its changes, and no others', () => {
    const read = codec.parse(document)
    const written = codec.format({ ...read, messages: renewed(read.messages) })
    expect(written).toEqual(renewed(document))
  })

  it('is written without a part that was taken out, wherever its words stood', () => {
    let count = 0
    const unique = JSON.parse(
      JSON.stringify(document).replaceAll(/old/g, () => `old${count++}_`),
    ) as JsonValue
    const read = codec.parse(unique)
    const left: unknown[] = []
    for (const [at, message] of read.messages.entries()) {
      for (const part of 'parts' in message ? message.parts : []) {
        const parts = (message as { parts: readonly Part[] }).parts.filter((each) => each !== part)
        const messages = read.messages.with(at, { ...message, parts } as Message)
        const written = JSON.stringify(codec.format({ ...read, messages }))
        const { origin: _, ...own } = part
        const words = JSON.stringify(own).match(/old\d+_/g) ?? []
        for (const word of words) if (written.includes(word)) left.push([word, own])
      }
    }
    expect(left).toEqual([])
  })
})
