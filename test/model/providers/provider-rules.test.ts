import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../../packages/core/src/message/dialect.ts'
import { render } from '../../../packages/core/src/message/dialects/render.ts'
import type { HandoffMessage, Message, Part } from '../../../packages/core/src/message/message.ts'
import { conversation, messageList } from '../../support/generators.ts'
import {
  judgeAnthropic,
  judgeChat,
  judgeGoogle,
  judgeResponses,
  judgeStrict,
} from '../../support/providers/provider-judge.ts'

const JUDGES: { readonly [dialect in Dialect]: (wire: ReturnType<typeof render>) => void } = {
  anthropic: judgeAnthropic,
  'openai-chat': judgeChat,
  'openai-responses': judgeResponses,
  gemini: judgeGoogle,
  strict: judgeStrict,
}

/** Items that only a provider understands are its own to judge. */
function known(messages: readonly Message[]): readonly Message[] {
  return messages.map((message): Message => {
    if (message.role !== 'handoff') return withKnownParts(message)
    const { handoff } = message
    const preserved = handoff.preserved.map((each) => ({
      ...each,
      message: withKnownParts(each.message),
    }))
    return { ...message, handoff: { ...handoff, preserved } }
  })
}

function withKnownParts<M extends Exclude<Message, HandoffMessage>>(message: M): M {
  const parts = (message.parts as readonly Part[]).flatMap((part): readonly Part[] => {
    if (!isKnown(part)) return []
    return part.type === 'tool-result' ? [{ ...part, output: part.output.filter(isKnown) }] : [part]
  })
  return { ...message, parts } as M
}

/** An id means something only to the provider that gave it. */
function isKnown(part: Part): boolean {
  if (part.type === 'image' || part.type === 'file') return part.source.kind !== 'id'
  return part.type === 'reasoning' ? part.sealed === undefined : part.type !== 'opaque'
}

const CALL = { type: 'tool-call', id: 'a', name: 'bash', input: {} } as const

describe.each(Object.entries(JUDGES))('what %s is sent', (dialect, judge) => {
  it('follows the provider’s documentation for any messages', () => {
    const messages = fc.oneof(conversation(), messageList()).map(known)
    fc.assert(
      fc.property(messages, (list) => judge(render(list, dialect as Dialect))),
      { numRuns: 400 },
    )
  })

  it('is refused by the judge if a call has no result, or a message is empty', () => {
    const wire = render(
      [
        { role: 'user', parts: [{ type: 'text', text: 'Look.' }] },
        { role: 'assistant', parts: [CALL] },
        {
          role: 'tool',
          parts: [{ type: 'tool-result', callId: 'a', output: [{ type: 'text', text: 'x' }] }],
        },
      ],
      dialect as Dialect,
    )
    expect(() => judge(wire)).not.toThrow()
    const [[key, items]] = Object.entries(wire) as [[string, unknown[]]]
    expect(() => judge({ [key]: [] })).toThrow()
    if (dialect === 'strict') return
    expect(() => judge({ [key]: items.slice(0, -1) } as never)).toThrow()
    expect(() => judge({ [key]: items.slice(-1) } as never)).toThrow()
  })
})
