import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { render } from '#core/message/dialects/render'
import { anthropicFormat as codec } from '#core/message/formats/anthropic/anthropic'
import type { Message } from '#core/message/message'
import type { CallUsage } from '../model.ts'
import {
  asReply,
  type Collector,
  keptSize,
  type ModelProtocol,
  membersOf,
  PART_SIZE,
} from './protocol.ts'

/** Anthropic's Messages: an answer is a list of blocks, each of which arrives in deltas. */
export const anthropicProtocol: ModelProtocol = {
  writeMembers({ messages, cacheKey }) {
    const wire = render(messages, 'anthropic')
    return membersOf(cacheKey === undefined ? wire : withCacheMarks(wire))
  },
  placeholder: (text) =>
    `"messages":[{"role":"user","content":[{"type":"text","text":"${text}"}]}]`,
  headers({ messages }) {
    const betas = new Set(messages.flatMap(betasOf))
    return betas.size === 0 ? {} : { 'anthropic-beta': [...betas].join(',') }
  },
  collector: () => new AnthropicCollector(),
}

/** The provider accepts its own compaction only under the version name with which it was made. */
function betasOf(message: Message): readonly string[] {
  if (message.role !== 'assistant') return []
  return message.parts.flatMap((part) => {
    if (part.type !== 'opaque' || !isObject(part.value)) return []
    if (part.value['type'] !== 'compaction') return []
    const isSigned = typeof part.value['signature'] === 'string'
    return [isSigned ? 'compact-2026-09-04' : 'compact-2026-01-12']
  })
}

const MARK = { type: 'ephemeral' } as const

/**
 * Cache marks at the end of the system text and of the last two messages that are not the model's.
 * The provider searches twenty blocks back from a mark for a cached prefix, so the next step, and a
 * summary of the same conversation, find the prefix of this request. Four marks are allowed.
 */
export function withCacheMarks(wire: JsonObject): JsonObject {
  const messages = [...((wire['messages'] ?? []) as readonly JsonObject[])]
  let marks = 2
  for (let at = messages.length - 1; at >= 0 && marks > 0; at--) {
    const message = messages[at]
    if (message === undefined || message['role'] !== 'user') continue
    messages[at] = { ...message, content: markLast(message['content']) }
    marks--
  }
  const { system } = wire
  return { ...wire, ...(system !== undefined && { system: markLast(system) }), messages }
}

function markLast(content: JsonValue | undefined): JsonValue {
  const blocks: readonly JsonValue[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content)
  const last = blocks.at(-1)
  return isObject(last) ? [...blocks.slice(0, -1), { ...last, cache_control: MARK }] : blocks
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}

const READ = ['text', 'thinking', 'redacted_thinking', 'tool_use']

type Block = { [key: string]: JsonValue }

class AnthropicCollector implements Collector {
  usage: CallUsage | undefined
  size = 0
  readonly #blocks: Block[] = []
  #open: { readonly block: Block; readonly citations: JsonValue[]; input: string } | undefined

  take(event: JsonValue): JsonValue | undefined {
    if (!isObject(event)) return undefined
    switch (event['type']) {
      case 'content_block_start':
        if (isObject(event['content_block'])) {
          this.size += PART_SIZE + keptSize(event['content_block'])
          this.#open = { block: { ...event['content_block'] }, citations: [], input: '' }
        }
        return undefined
      case 'content_block_delta':
        if (isObject(event['delta'])) this.#add(event['delta'])
        return undefined
      case 'content_block_stop':
        return this.#close()
      case 'message_start':
        this.usage = usageOf(event['message'])
        return undefined
      default:
        return undefined
    }
  }

  message(state: { readonly isWhole: boolean }) {
    const open = this.#open?.block
    // Incomplete reasoning has no signature and an incomplete call no input; only partial text is
    // usable.
    const isKept = open !== undefined && open['type'] === 'text' && open['text'] !== ''
    const content = isKept ? [...this.#blocks, open] : this.#blocks
    if (content.length === 0) return null
    const [message] = codec.parse([{ role: 'assistant', content }]).messages
    return asReply(message?.role === 'assistant' ? message : undefined, state)
  }

  #add(delta: JsonObject): void {
    if (this.#open === undefined) return
    const { block } = this.#open
    const { type } = delta
    this.size += keptSize(delta)
    if (type === 'input_json_delta') {
      this.#open.input += typeof delta['partial_json'] === 'string' ? delta['partial_json'] : ''
    } else if (type === 'citations_delta') {
      this.#open.citations.push(delta['citation'] ?? null)
    } else {
      // Text, reasoning, signatures and future fields: string deltas are concatenated.
      for (const key in delta) {
        if (key === 'type') continue
        const before = block[key]
        const value = delta[key] ?? null
        // A compaction arrives as one delta with its final value, as in the provider's own client.
        const isFinal = type === 'compaction_delta'
        const joins = typeof before === 'string' && typeof value === 'string' && !isFinal
        block[key] = joins ? before + value : value
      }
    }
  }

  #close(): JsonValue | undefined {
    if (this.#open === undefined) return undefined
    const { block, citations, input } = this.#open
    this.#open = undefined
    if (citations.length > 0) block['citations'] = citations
    if (input !== '') block['input'] = parseOr(input, input)
    this.#blocks.push(block)
    return READ.includes(String(block['type'])) ? undefined : block
  }
}

/** The input tokens are known before the first word; an interrupted call is billed for them. */
function usageOf(message: JsonValue | undefined): CallUsage | undefined {
  const usage = isObject(message) ? message['usage'] : undefined
  if (!isObject(usage)) return undefined
  const count = (name: string) => (typeof usage[name] === 'number' ? usage[name] : 0)
  const cacheReadTokens = count('cache_read_input_tokens')
  const cacheWriteTokens = count('cache_creation_input_tokens')
  return {
    inputTokens: count('input_tokens') + cacheReadTokens + cacheWriteTokens,
    outputTokens: count('output_tokens'),
    cacheReadTokens,
    cacheWriteTokens,
  }
}

function parseOr(text: string, otherwise: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return otherwise
  }
}
