import { expect, it } from 'vitest'
import type { Conversation } from './codec.ts'
import { convertConversation } from './write.ts'

it('converts messages, model and notes, and leaves out other parts of the document', () => {
  const conversation: Conversation = {
    format: 'anthropic',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }],
    model: 'claude',
    wrapper: { key: 'messages', fields: { max_tokens: 7 } },
    notes: [],
  }
  const { format: _format, wrapper: _wrapper, ...kept } = conversation
  expect(convertConversation(conversation, 'openai-chat')).toEqual({
    ...kept,
    format: 'openai-chat',
  })
  expect(convertConversation(conversation, 'anthropic')).toBe(conversation)
  const { model: _model, ...nameless } = conversation
  expect(convertConversation(nameless, 'openai-chat')).not.toHaveProperty('model')
})
