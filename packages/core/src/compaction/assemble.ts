import type { Handoff } from '../message/handoff/handoff.ts'
import type { Message, SystemMessage } from '../message/message.ts'
import type { Counters } from './counters.ts'
import { headNumbers } from './layout.ts'
import { clearMessage } from './plan/clear.ts'
import type { CompactPlan } from './plan/plan.ts'

/**
 * The next context, stable bytes first so that prompt caches survive:
 *
 *   system text · pins · protected first messages · handoff · open requests · tail · incoming request
 *
 * System text and pins are carried over unchanged, including a system message in the middle of the
 * head: a rule does not lapse because it came late.
 */
export function assemble(
  request: TailRequest & {
    /** Absent when clipping the tail was enough. */
    readonly handoff?: Handoff
    readonly pins: readonly SystemMessage[]
  },
): readonly Message[] {
  const { messages, plan, handoff, pins } = request
  const { fixedTo, headFrom } = plan.layout
  const fixed = messages.slice(0, fixedTo)
  const leadTo = fixed.findLastIndex((message) => message.role === 'system') + 1
  return [
    ...fixed.slice(0, leadTo),
    ...pins,
    ...systemMessagesOf(messages, headFrom, plan.cut),
    ...fixed.slice(leadTo),
    ...(handoff === undefined
      ? messages.slice(fixedTo, headFrom)
      : [{ role: 'handoff', handoff } as const, ...openOf(request)]),
    ...clipTail(request),
  ]
}

interface TailRequest extends Counters {
  readonly messages: readonly Message[]
  readonly plan: CompactPlan
}

/** Requests of the head that no turn has answered: covered by the summary, and kept whole. */
export function openOf({ messages, plan }: Pick<TailRequest, 'messages' | 'plan'>) {
  return (plan.open ?? []).flatMap((index) => messages[index] ?? [])
}

/** The tail as it will appear in the context: word for word, except for clipped results. */
export function clipTail(request: TailRequest): readonly Message[] {
  const { messages, plan } = request
  return messages.slice(plan.cut).map((message, index) => clip(message, plan.cut + index, request))
}

/** The system messages of a range; of equal texts only the latest is kept. */
export function systemMessagesOf(
  messages: readonly Message[],
  from: number,
  to: number,
): readonly SystemMessage[] {
  const byText = new Map<string, SystemMessage>()
  for (let index = to - 1; index >= from; index--) {
    const message = messages[index]
    if (message?.role !== 'system') continue
    const text = JSON.stringify(message.parts)
    if (!byText.has(text)) byText.set(text, message)
  }
  return [...byText.values()].reverse()
}

function clip(message: Message, index: number, request: TailRequest): Message {
  const { plan, countTokens, countMessage } = request
  const { clipTokens, incoming, layout } = plan
  if (clipTokens === undefined || index >= incoming) return message
  const isNewestRequest = message.role === 'user' && index === request.messages.length - 1
  if (message.role !== 'tool' && !isNewestRequest) return message
  if (countMessage(message) <= clipTokens) return message
  const number = headNumbers(layout)(index - layout.headFrom)
  const tokensMax = clipTokens - countMessage(withoutBodies(message))
  return clearMessage(message, { tokensMax, countTokens, number })
}

/** The message without its texts: what framing, ids and images of a request cost. */
export function withoutBodies(message: Message): Message {
  if (message.role === 'tool') {
    return { ...message, parts: message.parts.map((part) => ({ ...part, output: [] })) }
  }
  if (message.role !== 'user') return message
  return { ...message, parts: message.parts.filter((part) => part.type !== 'text') }
}
