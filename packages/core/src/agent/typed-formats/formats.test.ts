import type { ModelMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { assistant, user } from '../../../../../test/support/builders.ts'
import type { Message } from '../../message/message.ts'
import { compactMessages } from '../compact-messages.ts'
import { aiSdk } from './ai-sdk.ts'
import { anthropic } from './anthropic.ts'
import { type AnyFormat, checkItems, internalsOf, splitSystem } from './format.ts'
import { gemini } from './gemini.ts'
import { openaiChat, openaiResponses } from './openai.ts'

const system = (text: string): Message => ({ role: 'system', parts: [{ type: 'text', text }] })
const TALK = [system('Be brief.'), user('One?'), assistant('Two.')]
const TOOL = { name: 'find', description: 'Finds.', schema: { type: 'object' } }

describe('the request of a format', () => {
  it('of Chat Completions has the system text among its messages', () => {
    const { request, family } = internalsOf(openaiChat)
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: 'Two.' },
    ]
    expect(request(TALK, [])).toEqual({ messages })
    const parameters = TOOL.schema
    expect(request(TALK, [TOOL])).toEqual({
      messages,
      tools: [{ type: 'function', function: { name: 'find', description: 'Finds.', parameters } }],
    })
    expect(family).toBe('openai')
  })

  it('of Responses has the system text as instructions', () => {
    const { request, family } = internalsOf(openaiResponses)
    const { instructions, input, tools } = request(TALK, [TOOL]) as {
      [key: string]: unknown[]
    }
    expect([instructions, input?.length]).toEqual(['Be brief.', 2])
    expect(tools).toEqual([
      {
        ...{ type: 'function', name: 'find', description: 'Finds.', strict: false },
        parameters: TOOL.schema,
      },
    ])
    expect(Object.keys(request(TALK.slice(1), []))).toEqual(['input'])
    expect(family).toBe('openai')
  })

  it('of Anthropic has the system text beside its messages', () => {
    const { request, family } = internalsOf(anthropic)
    expect(request(TALK, [TOOL])).toMatchObject({
      ...{ system: 'Be brief.', messages: [{ role: 'user' }, { role: 'assistant' }] },
      tools: [{ name: 'find', description: 'Finds.', input_schema: TOOL.schema }],
    })
    expect(Object.keys(request(TALK.slice(1), []))).toEqual(['messages'])
    expect(family).toBe('claude')
  })

  it('of Gemini has the system text in the config, with the tools', () => {
    const { request, family } = internalsOf(gemini)
    const contents = [
      { role: 'user', parts: [{ text: 'One?' }] },
      { role: 'model', parts: [{ text: 'Two.' }] },
    ]
    const declared = { name: 'find', description: 'Finds.', parametersJsonSchema: TOOL.schema }
    expect(request(TALK, [TOOL])).toEqual({
      contents,
      config: { systemInstruction: 'Be brief.', tools: [{ functionDeclarations: [declared] }] },
    })
    expect(request(TALK.slice(1), [])).toEqual({ contents })
    expect(family).toBe('gemini')
  })

  it('of the AI SDK has the system text beside its messages, and leaves the tools alone', () => {
    const { request, family } = internalsOf(aiSdk)
    const messages = [{ role: 'user' }, { role: 'assistant' }]
    expect(request(TALK, [TOOL])).toMatchObject({ system: 'Be brief.', messages })
    expect(Object.keys(request(TALK, [TOOL]))).toEqual(['system', 'messages'])
    expect(Object.keys(request(TALK.slice(1), []))).toEqual(['messages'])
    expect(family).toBe('generic')
  })
})

describe('the system text at the start', () => {
  it('is joined and removed at the start, and stays in place further down', () => {
    const [one, two, said] = [system('One.'), system('Two.'), user('Hello.')]
    expect(splitSystem([one, two, said, one])).toEqual({
      ...{ system: 'One.\n\nTwo.', rest: [said, one] },
    })
    expect(splitSystem([one, two])).toEqual({ system: 'One.\n\nTwo.', rest: [] })
    expect(splitSystem([said])).toEqual({ system: '', rest: [said] })
  })
})

describe('the messages of a response', () => {
  const said = { role: 'assistant', content: 'Yes.' }
  const tool = (output: object) => ({
    ...{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', output }] },
  })
  const refused = tool({ type: 'error-text', value: 'AI_NoSuchToolError: no such tool' })
  const failed = tool({ type: 'error-text', value: 'The tool failed.' })
  const answered = tool({ type: 'text', value: 'AI_NoSuchToolError in a text' })

  it.each<[string, AnyFormat, unknown, unknown]>([
    ['a completion', openaiChat, { choices: [{ message: said }] }, [said]],
    ['a message', openaiChat, said, [said]],
    ['no choice', openaiChat, { choices: [] }, null],
    [
      'blanks',
      openaiChat,
      { ...said, content: null, refusal: null, tool_calls: [], audio: undefined },
      [{ role: 'assistant', content: null }],
    ],
    ['a response', openaiResponses, { output: [{ type: 'message' }] }, [{ type: 'message' }]],
    ['its items', openaiResponses, [{ type: 'message' }], [{ type: 'message' }]],
    ['no output', openaiResponses, {}, null],
    ['a message of Anthropic', anthropic, { id: 'm', ...said }, [said]],
    ['no role', anthropic, { content: 'Yes.' }, null],
    ['no content', anthropic, { role: 'assistant' }, null],
    [
      'a response of Gemini',
      gemini,
      { candidates: [{ content: { parts: [{ text: 'Yes.' }] } }] },
      [{ role: 'model', parts: [{ text: 'Yes.' }] }],
    ],
    ['no candidate', gemini, { candidates: [] }, null],
    ['no parts', gemini, { a: 1 }, null],
    ['a result of 6', aiSdk, { response: { messages: [said] } }, [said]],
    [
      'a result of 7',
      aiSdk,
      { response: { messages: [said] }, responseMessages: [answered, said] },
      [answered, said],
    ],
    ['a list', aiSdk, [said], [said]],
    ['no messages', aiSdk, {}, null],
    ['no list', aiSdk, { response: { messages: 'none' } }, null],
    [
      'calls that the SDK refused',
      aiSdk,
      [said, refused, failed, answered],
      [said, failed, answered],
    ],
    [
      'a refused call beside one that ran',
      aiSdk,
      [{ role: 'tool', content: [...refused.content, ...failed.content] }],
      [{ role: 'tool', content: [...refused.content, ...failed.content] }],
    ],
  ])('%s', (_, format, reply, items) => {
    expect(internalsOf(format).itemsOf(reply)).toEqual(items)
  })
})

describe('a format', () => {
  it.each([undefined, null, 'openai', {}])('cannot be %s', (given) => {
    const wrong = given as unknown as AnyFormat
    expect(() => internalsOf(wrong)).toThrow(
      expect.objectContaining({ code: 'unknown-format', at: 'format' }),
    )
  })

  it('refuses messages of another format, and names the option', () => {
    const internals = internalsOf(openaiChat)
    const items = [{ role: 'user', content: 'One?' }]
    expect(checkItems(internals, items, 'messages')).toBe(items)
    for (const wrong of [{ role: 'user' }, 'text', [{ speaker: 'user' }]]) {
      expect(() => checkItems(internals, wrong, 'messages')).toThrow(
        expect.objectContaining({ code: 'wrong-format', at: 'messages' }),
      )
    }
    expect(openaiChat.name).toBe('openai-chat')
  })

  it('keeps uncompacted messages of the AI SDK unchanged: bytes, sealed reasoning, images in results', async () => {
    const long: ModelMessage[] = Array.from({ length: 60 }, (_, number) => ({
      role: number % 2 === 0 ? 'user' : 'assistant',
      content: `${number}: ${'The river is wide and slow here. '.repeat(30)}`,
    }))
    const image = { type: 'image', image: new Uint8Array([1, 2]), mediaType: 'image/png' } as const
    const seal = { anthropic: { signature: 'c2ln' } }
    const call = { toolCallId: 'c', toolName: 'look' }
    const media = { type: 'image-data', data: 'AAAA', mediaType: 'image/png' } as const
    const kept: ModelMessage[] = [
      { role: 'user', content: [{ type: 'text', text: 'Look.' }, image] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: seal },
          { type: 'tool-call', ...call, input: {} },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', ...call, output: { type: 'content', value: [media] } }],
      },
    ]
    const result = await compactMessages(aiSdk, [...long, ...kept], { targetTokens: 8_000 })
    expect(result.kind).toBe('compacted')
    expect(result.messages.slice(-3)).toEqual(kept)
  })
})
