import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Handoff } from '../../packages/core/src/message/handoff/handoff.ts'
import type {
  AssistantMessage,
  HandoffMessage,
  ImagePart,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from '../../packages/core/src/message/message.ts'

/** Short builders for conversations, so that a case fits on one screen. */
export function system(text: string): SystemMessage {
  return { role: 'system', parts: [{ type: 'text', text }] }
}

export function user(text: string): UserMessage {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

export function notice(text: string): UserMessage {
  return { ...user(text), synthetic: true }
}

export function assistant(text: string): AssistantMessage {
  return { role: 'assistant', parts: [{ type: 'text', text }] }
}

export function toolCall(id: string, input: JsonValue = {}, name = 'bash'): AssistantMessage {
  return { role: 'assistant', parts: [{ type: 'tool-call', id, name, input }] }
}

export function toolResult(id: string, text: string, name = 'bash'): ToolMessage {
  return {
    role: 'tool',
    parts: [{ type: 'tool-result', callId: id, name, output: [{ type: 'text', text }] }],
  }
}

export const image: ImagePart = {
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
}

export function handoffOf(values: Partial<Handoff> = {}): Handoff {
  return {
    version: 1,
    by: 'digest',
    covers: 10,
    kept: 0,
    compactions: 1,
    preserved: [],
    tasks: [],
    files: [],
    ledger: [],
    summary: 'Work went on.',
    ...values,
  }
}

export function handoff(values: Partial<Handoff> = {}): HandoffMessage {
  return { role: 'handoff', handoff: handoffOf(values) }
}

/** A conversation of `turns` turns: a request, a call with its result, a reply. */
export function turns(count: number, words = 40): (UserMessage | AssistantMessage | ToolMessage)[] {
  const filler = 'lorem ipsum dolor sit amet '.repeat(Math.ceil(words / 5)).trim()
  return Array.from({ length: count }, (_, turn) => [
    user(`request ${turn}: ${filler}`),
    toolCall(`call-${turn}`, { command: `run step-${turn}` }),
    toolResult(`call-${turn}`, `output ${turn}: ${filler}`),
    assistant(`reply ${turn}: ${filler}`),
  ]).flat()
}
