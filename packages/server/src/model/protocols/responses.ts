import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { render } from '#core/message/dialects/render'
import { openaiResponsesFormat } from '#core/message/formats/openai-responses/openai-responses'
import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { FinishReason, MalformedReason } from '../outcomes/outcome.ts'
import {
  asReply,
  type Collector,
  keptSize,
  type ModelProtocol,
  membersOf,
  PART_SIZE,
} from './protocol.ts'

/** OpenAI's Responses: an answer is a list of items, each of which arrives complete at its end. */
export const responsesProtocol: ModelProtocol = {
  writeMembers({ messages }) {
    return membersOf(render(messages, 'openai-responses'))
  },
  placeholder: (text) =>
    `"input":[{"role":"user","content":[{"type":"input_text","text":"${text}"}]}]`,
  collector: () => new ResponsesCollector(),
}

/** The Codex backend requires a system text, in a field beside the items. */
export const codexProtocol: ModelProtocol = {
  ...responsesProtocol,
  writeMembers({ messages }) {
    const first = messages.findIndex((message) => message.role !== 'system')
    const start = first === -1 ? messages.length : first
    const instructions = messages.slice(0, start).map(textOf).join('\n\n')
    // It would refuse system text further down, so that text keeps its position with the user role.
    const rest = messages
      .slice(start)
      .map(
        (message): Message =>
          message.role === 'system'
            ? { role: 'user', parts: message.parts, synthetic: true }
            : message,
      )
    return membersOf({
      instructions: instructions || 'You are a helpful assistant.',
      ...render(rest, 'openai-responses'),
    })
  },
}

const CALLS = ['function_call', 'custom_tool_call', 'local_shell_call']
const READ = ['message', 'reasoning', ...CALLS]

class ResponsesCollector implements Collector {
  fault: MalformedReason | undefined
  finish: FinishReason | undefined
  size = 0
  readonly #items: JsonObject[] = []
  #open = ''
  #id: JsonValue | undefined

  take(event: JsonValue): JsonValue | undefined {
    if (!isObject(event)) return undefined
    switch (event['type']) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#open += typeof event['delta'] === 'string' ? event['delta'] : ''
        return undefined
      case 'response.output_item.done':
        return this.#close(event['item'])
      case 'response.created':
        this.#checkId(event['response'])
        return undefined
      case 'response.completed':
      case 'response.incomplete':
        this.#checkId(event['response'])
        this.finish = this.#finishOf(event['response'])
        return undefined
      default:
        return undefined
    }
  }

  message(state: { readonly isWhole: boolean }) {
    const open = { type: 'message', role: 'assistant', content: this.#open } as const
    const items = this.#open === '' ? this.#items : [...this.#items, open]
    const { messages } = openaiResponsesFormat.parse(items)
    return asReply(
      messages.find((message) => message.role === 'assistant'),
      state,
    )
  }

  #close(item: JsonValue | undefined): JsonValue | undefined {
    if (!isObject(item)) return undefined
    this.size += PART_SIZE + keptSize(item)
    this.#items.push(item)
    if (item['type'] === 'message') this.#open = ''
    return READ.includes(String(item['type'])) ? undefined : item
  }

  #finishOf(response: JsonValue | undefined): FinishReason {
    const details = isObject(response) ? response['incomplete_details'] : undefined
    const reason = isObject(details) ? details['reason'] : undefined
    if (reason === 'max_output_tokens') return 'length'
    if (reason === 'content_filter') return 'content-filter'
    if (reason !== undefined) return 'other'
    return this.#items.some((item) => CALLS.includes(String(item['type']))) ? 'tool-calls' : 'stop'
  }

  #checkId(response: JsonValue | undefined): void {
    const id = isObject(response) ? response['id'] : undefined
    if (this.#id !== undefined && id !== undefined && id !== this.#id) this.fault = 'mixed-answers'
    this.#id ??= id
  }
}
