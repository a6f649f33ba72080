import { isObject, type JsonValue } from '../../base/json.ts'
import type {
  AssistantMessage,
  ResultPart,
  ToolResultPart,
  UserMessage,
} from '../../message/message.ts'

export const ERASED = '[erased]'

/** This folder writes bodies; erased and imported ones are shown as far as possible. */
export function inputMessage(body: JsonValue, lane: 'user' | 'notification'): UserMessage {
  const inner = isObject(body) && isObject(body['message']) ? body['message'] : null
  const message: UserMessage =
    inner === null ? textMessage(body) : { ...(inner as unknown as UserMessage), role: 'user' }
  return lane === 'notification' ? { ...message, synthetic: true } : message
}

function textMessage(body: JsonValue): UserMessage {
  const text = body === null ? ERASED : typeof body === 'string' ? body : JSON.stringify(body)
  return { role: 'user', parts: [{ type: 'text', text }] }
}

/** An erased reply still makes its calls: a result without its call is refused by providers. */
export function assistantMessage(body: JsonValue, calls: readonly string[]): AssistantMessage {
  if (isObject(body)) return { ...(body as unknown as AssistantMessage), role: 'assistant' }
  const made = calls.map((id) => ({ type: 'tool-call', id, name: 'erased', input: {} }) as const)
  return { role: 'assistant', parts: [{ type: 'text', text: ERASED }, ...made] }
}

export function resultPart(
  body: JsonValue,
  meta: { readonly call: string; readonly outcome: string },
): ToolResultPart {
  const output: readonly ResultPart[] = Array.isArray(body)
    ? (body as unknown as readonly ResultPart[])
    : [{ type: 'text', text: typeof body === 'string' ? body : JSON.stringify(body) }]
  const failed = meta.outcome !== 'ok'
  return {
    type: 'tool-result',
    callId: meta.call,
    output,
    ...(failed && { isError: true }),
  }
}
