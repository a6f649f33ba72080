import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { JsonValue } from '../../base/json.ts'
import { openMemoryStore } from '../../store/memory/open.ts'
import { openAgent } from '../agent.ts'
import { compactMessages } from '../compact-messages.ts'
import { tool } from '../tool.ts'
import { internalsOf } from './format.ts'
import { langchain } from './langchain.ts'

const { codec } = internalsOf(langchain)

/** As a store or another process has them: no instances any more. */
const throughJson = (messages: readonly BaseMessage[]) => {
  const document = messages as unknown as JsonValue
  const conversation = codec.parse(document)
  return codec.format(JSON.parse(JSON.stringify(conversation))) as unknown as BaseMessage[]
}

const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
const call = { id: 'c1', name: 'look', args: { at: ['sky'] }, type: 'tool_call' as const }
const KINDS: readonly (readonly [string, BaseMessage])[] = [
  ['a human message', new HumanMessage({ content: 'Hi.', id: 'h1', name: 'Ana' })],
  ['empty content', new AIMessage('')],
  ['a system message', new SystemMessage('Be brief.')],
  ['system text in blocks', new SystemMessage({ content: [{ type: 'text', text: 'Be brief.' }] })],
  [
    'a reply with usage',
    new AIMessage({ content: 'Yes.', usage_metadata: usage as never, id: 'a1' }),
  ],
  ['a call', new AIMessage({ content: 'I look.', tool_calls: [call] })],
  [
    'a call that no parser took',
    new AIMessage({ content: '', invalid_tool_calls: [{ id: 'c', name: 'look', args: '{' }] }),
  ],
  [
    "blocks of one provider, with a seal and the provider's own call",
    new AIMessage({
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'text', text: 'I look.', cache_control: { type: 'ephemeral' } },
        { type: 'tool_use', id: 'c1', name: 'look', input: { at: ['sky'] } },
      ],
      tool_calls: [call],
      response_metadata: { model: 'm', stop_reason: 'tool_use' },
    }),
  ],
  ['a result', new ToolMessage({ tool_call_id: 'c1', name: 'look', content: 'Blue.' })],
  ['a failed result', new ToolMessage({ tool_call_id: 'c1', content: 'No.', status: 'error' })],
  [
    'a result with an artifact and an image',
    new ToolMessage({
      ...{ tool_call_id: 'c1', artifact: { rows: [1, 2] } },
      content: [
        { type: 'text', text: 'The sky:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      ],
    }),
  ],
  [
    'media in every form',
    new HumanMessage({
      content: [
        { type: 'image_url', image_url: 'https://a.example/b.png' },
        { type: 'image', source_type: 'base64', mime_type: 'image/png', data: 'AAAA' },
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        { type: 'image', url: 'https://a.example/b.png', mimeType: 'image/png' },
        { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
        { type: 'file', fileId: 'file-1' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
    }),
  ],
  ['a message of another role', new ChatMessage({ content: 'Well.', role: 'critic' })],
  ['a function message', new FunctionMessage({ content: '4', name: 'add' })],
]

describe('the format of LangChain', () => {
  it.each(KINDS)(
    'gives %s back: the same instance, and an equal one from JSON',
    (_what, message) => {
      const document = [message] as unknown as JsonValue
      expect(codec.reject(document)).toBeUndefined()
      expect((codec.format(codec.parse(document)) as unknown[])[0]).toBe(message)
      const [again] = throughJson([message])
      expect(again).toEqual(message)
      expect(again?.constructor).toBe(message.constructor)
    },
  )

  it('returns a chunk of a stream unchanged', () => {
    const chunk = new AIMessageChunk({ content: 'Hi.', tool_call_chunks: [] })
    expect((codec.format(codec.parse([chunk] as never)) as unknown[])[0]).toBe(chunk)
  })

  it.each([
    [{ role: 'user', content: 'Hi.' }, /item 0 has a role and is no message/],
    [{ type: 'remove', id: 'h1' }, /item 0 has the type "remove", known are human, ai/],
    ['Hi.', /item 0 is not an object/],
  ])('refuses %j', async (wrong, message) => {
    const given = [wrong] as unknown as BaseMessage[]
    await expect(compactMessages(langchain, given, { contextWindow: 4_000 })).rejects.toMatchObject(
      {
        ...{ code: 'wrong-format', message: expect.stringMatching(message) },
      },
    )
  })

  it('is compacted to messages of LangChain, with the kept ones unchanged', async () => {
    const long = Array.from({ length: 60 }, (_, n) => {
      const text = `${n}: ${'The river is wide and slow here. '.repeat(30)}`
      return n % 2 === 0 ? new HumanMessage(text) : new AIMessage(text)
    })
    const kept = [
      new HumanMessage('What do you see?'),
      ...KINDS.filter(([what]) => /^blocks|artifact/.test(what)).map(([, message]) => message),
      new AIMessage('A blue sky.'),
      new HumanMessage('And now?'),
    ]
    const history = [new SystemMessage('Be brief.'), ...long, ...kept]
    const result = await compactMessages(langchain, history, { targetTokens: 9_000 })
    expectTypeOf(result.messages).toEqualTypeOf<BaseMessage[]>()
    expect(result).toMatchObject({ kind: 'compacted', by: 'digest' })
    expect(result.messages[0]).toBe(history[0])
    expect(
      result.messages.every(
        (message) => HumanMessage.isInstance(message) || history.includes(message),
      ),
    ).toBe(true)
    expect(result.messages.slice(-kept.length).map((message, n) => message === kept[n])).toEqual(
      kept.map(() => true),
    )
    const again = await compactMessages(langchain, result.messages, { targetTokens: 9_000 })
    expect(again.kind).toBe('unchanged')
    expect(again.messages).toBe(result.messages)
  })

  it('gives an agent requests of instances, with calls and their results', async () => {
    const store = openMemoryStore()
    const requests: BaseMessage[][] = []
    await using agent = await openAgent({
      ...{ store, name: 'mine', format: langchain, contextWindow: 32_000 },
      tools: {
        weather: tool({
          description: 'The weather in a town.',
          input: z.object({ town: z.string() }),
          execute: ({ town }) => `rain in ${town}`,
        }),
      },
      step({ request }) {
        requests.push(request.messages)
        expect(request.tools?.[0]?.function.name).toBe('weather')
        if (ToolMessage.isInstance(request.messages.at(-1))) return new AIMessage('It rains.')
        const weather = { id: 'w1', name: 'weather', args: { town: 'Bergen' } }
        return new AIMessage({ content: '', tool_calls: [weather], usage_metadata: usage as never })
      },
    })
    expect(await agent.session('ana').ask('Does it rain?')).toMatchObject({ text: 'It rains.' })
    const [asked, called, answered] = requests[1] ?? []
    expect([asked?.constructor, asked?.text]).toEqual([HumanMessage, 'Does it rain?'])
    expect(called).toMatchObject({ tool_calls: [{ id: 'w1', args: { town: 'Bergen' } }] })
    expect([answered?.constructor, answered?.text]).toEqual([ToolMessage, 'rain in Bergen'])
    expect(answered).toMatchObject({ tool_call_id: 'w1' })
    await agent.close()
    await store.close()
  })
})
