import { describe, expect, it } from 'vitest'
import { ASK, CALLED, replyWith } from '../../../../../../test/support/providers/stand-in-reply.ts'
import { anthropicStandIn } from './anthropic.ts'
import { openaiChatStandIn } from './openai-chat.ts'
import { openaiResponsesStandIn } from './openai-responses.ts'
import { clipTokens, countInput, countTokens, splitTokens, usageOf } from './protocol.ts'

describe('streams of the stand-in', () => {
  it('take their time for words only', () => {
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
    expect(clipTokens('abcdefghi', 2)).toBe('abcdefgh')
  })

  it('are counted over every text of a request, pictures at a flat rate', () => {
    expect(countInput(['abcd', undefined, { a: ['efgh', { b: 'i' }], n: 3 }])).toBe(3)
    expect(countInput(['data:image/png;base64,AAAA'])).toBe(1_000)
    expect(countInput([{ type: 'base64', data: 'AAAA' }, 'abcd'])).toBe(1_001)
  })

  it('are used by every part of an answer', () => {
    const { answer } = replyWith({ ...CALLED, compaction: 'The pier.' })
    expect(usageOf(ASK, answer)).toEqual({
      ...{ inputTokens: 12, outputTokens: 1 + 2 + 3 + 3, reasoningTokens: 1 },
    })
  })
})
