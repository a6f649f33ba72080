import { describe, expect, it } from 'vitest'
import { ASK, CALLED, replyWith } from '../../../../../test/support/providers/stand-in-reply.ts'
import { anthropicStandIn } from './anthropic.ts'
import { openaiChatStandIn } from './openai-chat.ts'
import { openaiResponsesStandIn } from './openai-responses.ts'
import { clipTokens, countInput, countTokens, splitTokens, usageOf } from './protocol.ts'

describe('streams of the stand-in', () => {
  it('are paced for text only', () => {
    const tokens = openaiChatStandIn.writeFrames(replyWith(CALLED)).map((frame) => frame.tokens)
    expect(tokens).toEqual([0, 1, 1, 1, 1, 1, 1, 0, 0, 0])
    const events = anthropicStandIn.writeFrames(replyWith({ text: 'Yes.' }))
    expect(events.map((frame) => frame.tokens)).toEqual([0, 0, 0, 1, 0, 0, 0])
    const responses = openaiResponsesStandIn.writeFrames(replyWith({ text: 'Yes.' }))
    expect(responses.map((frame) => frame.tokens)).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0])
  })
})

describe('tokens of the stand-in', () => {
  it('are four characters, and part no character', () => {
    expect(['', 'a', 'abcd', 'abcde'].map(countTokens)).toEqual([0, 1, 1, 2])
    expect(splitTokens('abcdefghi')).toEqual(['abcd', 'efgh', 'i'])
    expect(splitTokens('abc🙂def')).toEqual(['abc🙂', 'def'])
    expect(splitTokens('abcd🙂')).toEqual(['abcd', '🙂'])
    // The first and the last character of two code units.
    for (const character of ['\u{10000}', '\u{10ffff}'])
      expect(splitTokens(`abc${character}def`)).toEqual([`abc${character}`, 'def'])
    expect(clipTokens('abcdefghi', 2)).toBe('abcdefgh')
  })

  it('are counted over every text of a request, pictures at a flat rate', () => {
    expect(countInput(['abcd', undefined, { a: ['efgh', { b: 'i' }], n: 3 }])).toBe(3)
    expect(countInput(['data:image/png;base64,AAAA'])).toBe(1_000)
    expect(countInput([{ type: 'base64', data: 'AAAA' }, 'abcd'])).toBe(1_001)
  })

  it('are counted over tools as JSON, with their names and those of arguments', () => {
    const tool = { name: 'read', input_schema: { properties: { path: { minLength: 1 } } } }
    expect(countInput([], [tool, undefined])).toBe(Math.ceil(JSON.stringify(tool).length / 4))
    const call = { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a', lines: 100 } }
    expect(countInput([call])).toBe(Math.ceil('read{"path":"a","lines":100}'.length / 4))
  })

  it.each([
    [anthropicStandIn, { max_tokens: 9, output_config: { format: { schema: 'of the answer' } } }],
    [openaiChatStandIn, { response_format: { schema: 'of the answer' } }],
    [openaiResponsesStandIn, { text: { format: { schema: 'of the answer' } } }],
  ])('include tools and the schema of an answer in each protocol', (protocol, wanted) => {
    const said = [{ role: 'user', content: 'Hi' }]
    const base = { model: 'm', messages: said, input: said, max_tokens: 9 }
    const schema = { type: 'object', properties: { a_name_of_some_length: { type: 'string' } } }
    const tools = [
      protocol.name === 'openai-chat'
        ? { type: 'function', function: { name: 'read', parameters: schema } }
        : { type: 'function', name: 'read', parameters: schema, input_schema: schema },
    ]
    const count = (more: object) => protocol.readAsk({ ...base, ...more }).inputTokens
    const length = JSON.stringify(tools).length
    expect(Math.abs(count({ tools }) - count({}) - length / 4)).toBeLessThan(1)
    expect(count(wanted)).toBeGreaterThan(count({}))
  })

  it('are used by every part of an answer', () => {
    const { answer } = replyWith({ ...CALLED, compaction: 'The pier.' })
    expect(usageOf(ASK, answer)).toEqual({
      ...{ inputTokens: 12, outputTokens: 1 + 2 + 3 + 3, reasoningTokens: 1 },
    })
  })
})
