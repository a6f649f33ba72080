import { expect } from 'vitest'
import type { JsonObject } from '../../../packages/core/src/base/json.ts'
import type {
  Answer,
  Ask,
  Frame,
  Protocol,
  StandInReply,
} from '../../../packages/server/src/stand-in/protocols/protocol.ts'

/** Replies of the stand-in, and the events of their streams. */

export const ASK: Ask = {
  ...{ model: 'pier-1', messages: [], tools: [], inputTokens: 12, tokensMax: 50 },
  ...{ wantsStream: true, wantsReasoning: true, wantsUsage: true },
}

export function replyWith(answer: Partial<Answer>, over: Partial<StandInReply> = {}): StandInReply {
  const whole = { reasoning: '', text: '', calls: [], finish: 'stop', ...answer } as const
  const usage = { inputTokens: 12, outputTokens: 7, reasoningTokens: 2 }
  return { id: 'c0ffee', ask: ASK, answer: whole, usage, isMixed: false, ...over }
}

/** Thoughts, words and a call. */
export const CALLED = {
  reasoning: 'Hmm.',
  text: 'I look.',
  finish: 'tool-calls',
  calls: [{ name: 'find', input: '{"a":1}' }],
} as const

export const eventsOf = (protocol: Protocol, reply: StandInReply): unknown[] =>
  protocol.writeFrames(reply).map((frame) => readFrame(frame))

export function readFrame({ text }: Frame): unknown {
  const [, name, data = ''] = /^(?:event: (\S+)\n)?data: (.*)\n\n$/.exec(text) ?? []
  if (data === '[DONE]') return data
  const document = JSON.parse(data) as JsonObject
  if (name !== undefined) expect(document['type']).toBe(name)
  return document
}
