import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { anthropicFormat as codec } from '#core/message/formats/anthropic/anthropic'
import { listOf, readLimit, readMessages, readModel, readTools } from '../read-body.ts'
import { seal } from '../seal.ts'
import {
  type Ask,
  countInput,
  type Finish,
  type Frame,
  type Protocol,
  Rejection,
  responseIdOf,
  type StandInReply,
  splitTokens,
} from './protocol.ts'
import { frame } from './sse.ts'

/** Anthropic's Messages. */
const FINISH: { readonly [finish in Finish]: string } = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  window: 'model_context_window_exceeded',
  // The provider reports content that its filter stopped as a refusal.
  'content-filter': 'refusal',
  refusal: 'refusal',
}

const ERROR_TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [529, 'overloaded_error'],
])

export const anthropicStandIn: Protocol = {
  name: 'anthropic',

  readAsk(body) {
    const limit = readLimit(body, ['max_tokens'])
    if (limit.tokensMax === undefined) {
      throw new Rejection('max_tokens: Field required', { param: 'max_tokens' })
    }
    const ask = readPrompt(body)
    return { ...ask, ...limit, ...readCompaction(body, ask.inputTokens) }
  },

  writeWhole(reply) {
    const content = blocksOf(reply).map(({ whole }) => whole)
    return { ...shell(reply), content, ...endOf(reply), usage: usageOf(reply) }
  },

  writeFrames(reply) {
    const empty = { stop_reason: null, stop_sequence: null, stop_details: null }
    const usage = { ...usageOf(reply), output_tokens: 1 }
    const output = { output_tokens: reply.usage.outputTokens }
    return [
      event('message_start', { message: { ...shell(reply), content: [], ...empty, usage } }),
      event('ping', {}),
      ...blocksOf(reply).flatMap(({ start, deltas }, index) => [
        event('content_block_start', { index, content_block: start }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta }, 1)),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', { delta: endOf(reply), usage: { ...usageOf(reply), ...output } }),
      event('message_stop', {}),
    ]
  },

  writeError({ status, message }) {
    const fallback = status >= 500 ? 'api_error' : 'invalid_request_error'
    return { type: 'error', error: { type: ERROR_TYPES.get(status) ?? fallback, message } }
  },

  writeErrorFrame(rejection) {
    return frame(anthropicStandIn.writeError(rejection), { event: 'error' })
  },

  overflow({ inputTokens, tokensMax = 0, windowTokens }) {
    if (inputTokens > windowTokens) {
      return new Rejection(`prompt is too long: ${inputTokens} tokens > ${windowTokens} maximum`)
    }
    if (inputTokens + tokensMax <= windowTokens) return undefined
    return new Rejection(
      `input length and \`max_tokens\` exceed context limit: ${inputTokens} + ${tokensMax} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`,
    )
  },
}

/** On request, or as a context edit that starts at a given size and may end the answer. */
function readCompaction(body: JsonObject, inputTokens: number): Pick<Ask, 'wantsCompaction'> {
  const { compaction, context_management: management } = body
  if (isObject(compaction) && compaction['type'] === 'summarize')
    return { wantsCompaction: 'alone' }
  const edits = isObject(management) ? listOf(management['edits']).filter(isObject) : []
  const edit = edits.find(({ type }) => type === 'compact_20260112')
  if (edit === undefined) return {}
  const trigger = isObject(edit['trigger']) ? Number(edit['trigger']['value']) : 150_000
  if (inputTokens <= trigger) return {}
  return { wantsCompaction: edit['pause_after_compaction'] === true ? 'alone' : 'first' }
}

/** Also for token counting, whose request has no limit on its answer. */
export function readPrompt(body: JsonObject) {
  const { thinking, system, messages, tools, output_config: output } = body
  const thinks = isObject(thinking) ? thinking['type'] : undefined
  return {
    model: readModel(body),
    messages: readMessages(body, { dialect: 'anthropic', codec, key: 'messages' }),
    tools: readTools(body),
    inputTokens: countInput([system, messages], [tools, formatIn(output)]),
    wantsStream: body['stream'] === true,
    wantsReasoning: thinks === 'enabled' || thinks === 'adaptive',
    wantsUsage: true,
  }
}

function formatIn(output: JsonValue | undefined): JsonValue | undefined {
  return isObject(output) ? output['format'] : undefined
}

function event(type: string, data: JsonObject, tokens = 0): Frame {
  return frame({ type, ...data }, { event: type, tokens })
}

function shell(reply: StandInReply): JsonObject {
  return {
    id: responseIdOf(reply, 'msg_'),
    type: 'message',
    role: 'assistant',
    model: reply.ask.model,
  }
}

function endOf({ answer }: StandInReply): JsonObject {
  const isRefused = FINISH[answer.finish] === 'refusal'
  const isPaused = answer.compaction !== undefined && answer.text === ''
  const details = { type: 'refusal', category: null, explanation: 'The stand-in plays a refusal.' }
  return {
    stop_reason: isPaused ? 'compaction' : FINISH[answer.finish],
    stop_sequence: null,
    stop_details: isRefused ? details : null,
  }
}

interface Block {
  readonly whole: JsonObject
  readonly start: JsonObject
  readonly deltas: readonly JsonObject[]
}

function blocksOf(reply: StandInReply): readonly Block[] {
  const { reasoning, text, calls, compaction } = reply.answer
  const blocks: Block[] = []
  if (compaction !== undefined) {
    const signature = seal(compaction)
    blocks.push({
      whole: { type: 'compaction', content: compaction, encrypted_content: null, signature },
      start: { type: 'compaction', content: '', encrypted_content: null, signature },
      // In one piece, as the provider sends it: its own client takes the last delta for the whole.
      deltas: [{ type: 'compaction_delta', content: compaction, encrypted_content: null }],
    })
  }
  if (reasoning !== '') {
    const signature = seal(reasoning)
    blocks.push({
      whole: { type: 'thinking', thinking: reasoning, signature },
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...splitTokens(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    })
  }
  if (text !== '') {
    blocks.push({
      whole: { type: 'text', text, citations: null },
      start: { type: 'text', text: '', citations: null },
      deltas: splitTokens(text).map((piece) => ({ type: 'text_delta', text: piece })),
    })
  }
  for (const [index, { name, input }] of calls.entries()) {
    const call = { type: 'tool_use', id: responseIdOf(reply, 'toolu_', index), name }
    const caller = { type: 'direct' }
    blocks.push({
      whole: { ...call, input: inputOf(input), caller },
      start: { ...call, input: {}, caller },
      deltas: ['', ...splitTokens(input)].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      })),
    })
  }
  return blocks
}

/** Only a stream can carry broken arguments; a document contains them as a value. */
function inputOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function usageOf({ usage }: StandInReply): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use: null,
    service_tier: 'standard',
  }
}
