import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { openaiResponsesFormat as codec } from '#core/message/formats/openai-responses/openai-responses'
import { listOf, readLimit, readMessages, readModel, readTools } from '../read-body.ts'
import { seal } from '../seal.ts'
import { codeOf, openaiError } from './openai-error.ts'
import {
  type Ask,
  CREATED_AT,
  countInput,
  countTokens,
  type Finish,
  type Frame,
  otherReply,
  type Protocol,
  Rejection,
  responseIdOf,
  type StandInReply,
} from './protocol.ts'
import { itemFrames, outputOf } from './responses-output.ts'
import { frame } from './sse.ts'

/**
 * OpenAI's Responses. The stand-in stores nothing: it refuses a request that refers to an earlier
 * response or item instead of including it, as the provider does with `store: false`.
 */
export const openaiResponsesStandIn: Protocol = {
  name: 'openai-responses',

  readAsk(body) {
    const { input, tools, instructions, reasoning } = body
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)
    refuseReferences(body, items)
    const effort = isObject(reasoning) ? (reasoning['effort'] ?? 'medium') : 'none'
    return {
      model: readModel(body),
      messages: readMessages(
        { ...body, input: items },
        { dialect: 'openai-responses', codec, key: 'input' },
      ),
      ...offeredIn(body, items),
      inputTokens: countInput([instructions, items], [tools, body['text']]),
      ...readLimit(body, ['max_output_tokens']),
      wantsStream: body['stream'] === true,
      wantsReasoning: effort !== 'none',
      wantsUsage: true,
      ...readCompaction(body, items),
    }
  },

  writeWhole(reply) {
    return closedResponse(reply)
  },

  writeFrames(reply) {
    const frames: Frame[] = []
    const add = (type: string, data: JsonObject, tokens = 0) => {
      const sequence_number = frames.length
      frames.push(frame({ type, sequence_number, ...data }, { event: type, tokens }))
    }
    const open = { ...shell(reply), status: 'in_progress', output: [], usage: null }
    add('response.created', { response: open })
    add('response.in_progress', { response: open })
    for (const [index, item] of outputOf(reply).entries()) itemFrames(item, index, add)
    const closed = closedResponse(otherReply(reply))
    add(`response.${String(closed['status'])}`, { response: closed })
    return frames
  },

  writeError: openaiError,

  writeErrorFrame({ code, status, message, param }, sequence_number) {
    const data = { type: 'error', code: code ?? codeOf(status), message, param, sequence_number }
    return frame(data, { event: 'error' })
  },

  overflow({ inputTokens, windowTokens }) {
    if (inputTokens <= windowTokens) return undefined
    return new Rejection(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      { code: 'context_length_exceeded', param: 'input' },
    )
  },
}

/** Codex sends the tools of its newest models in groups, as an item before the conversation. */
function offeredIn(
  body: JsonObject,
  items: readonly JsonValue[],
): Pick<Ask, 'tools' | 'textTools'> {
  const added = items.filter(isObject).filter(({ type }) => type === 'additional_tools')
  const grouped = added.flatMap((item) => listOf(item['tools'])).filter(isObject)
  const single = grouped.flatMap((tool) =>
    tool['type'] === 'namespace' ? listOf(tool['tools']).filter(isObject) : [tool],
  )
  const all = [...listOf(body['tools']).filter(isObject), ...single]
  return {
    tools: readTools({ tools: all }),
    textTools: readTools({ tools: all.filter(({ type }) => type === 'custom') }),
  }
}

/**
 * A compaction that starts at a given size precedes the answer; one that the last item requests, as
 * Codex does, is the whole answer.
 */
function readCompaction(
  { context_management: management }: JsonObject,
  items: readonly JsonValue[],
): Pick<Ask, 'wantsCompaction'> {
  const last = items.at(-1)
  if (isObject(last) && last['type'] === 'compaction_trigger') return { wantsCompaction: 'alone' }
  const settings = listOf(management).filter(isObject)
  const setting = settings.find(({ type }) => type === 'compaction')
  const isDue = setting !== undefined && countInput(items) > Number(setting['compact_threshold'])
  return isDue ? { wantsCompaction: 'first' } : {}
}

/** The compact endpoint: every user message, then one item that replaces all the rest. */
export function writeCompaction(
  reply: StandInReply,
  { body, summary }: { body: JsonObject; summary: string },
): JsonObject {
  const { input } = body
  const items: readonly JsonValue[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)
  const kept = items.filter((item) => isObject(item) && item['role'] === 'user')
  const compaction = {
    id: responseIdOf(reply, 'cmp_'),
    type: 'compaction',
    encrypted_content: seal(summary),
  }
  const outputTokens = countTokens(summary)
  const usage = { ...reply.usage, outputTokens, reasoningTokens: 0 }
  return {
    id: responseIdOf(reply, 'resp_'),
    object: 'response.compaction',
    created_at: CREATED_AT,
    output: [...kept.map((item, index) => userItem(reply, item, index)), compaction],
    usage: usageOf({ ...reply, usage }),
  }
}

function userItem(reply: StandInReply, item: JsonValue, index: number): JsonValue {
  if (!isObject(item)) return item
  const { content } = item
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
  const id = responseIdOf(reply, 'msg_', index)
  return { id, ...item, type: 'message', status: 'completed', content: parts ?? [] }
}

function refuseReferences(body: JsonObject, items: readonly JsonValue[]): void {
  const previous = body['previous_response_id']
  if (typeof previous === 'string') {
    throw new Rejection(`Previous response with id '${previous}' not found.`, {
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    })
  }
  const reference = items.find((item) => isObject(item) && item['type'] === 'item_reference')
  if (reference !== undefined) {
    const id = isObject(reference) ? String(reference['id']) : ''
    throw new Rejection(`Item with id '${id}' not found: the stand-in stores nothing.`, {
      status: 404,
      param: 'input',
    })
  }
}

function shell(reply: StandInReply): JsonObject {
  const { ask } = reply
  return {
    id: responseIdOf(reply, 'resp_'),
    object: 'response',
    created_at: CREATED_AT,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: ask.tokensMax ?? null,
    metadata: {},
    model: ask.model,
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
  }
}

const INCOMPLETE: ReadonlyMap<Finish, string> = new Map([
  ['length', 'max_output_tokens'],
  ['window', 'max_output_tokens'],
  ['content-filter', 'content_filter'],
])

function closedResponse(reply: StandInReply): JsonObject {
  const { finish } = reply.answer
  const cut = INCOMPLETE.get(finish)
  return {
    ...shell(reply),
    status: cut === undefined ? 'completed' : 'incomplete',
    incomplete_details: cut === undefined ? null : { reason: cut },
    output: outputOf(reply),
    usage: usageOf(reply),
  }
}

function usageOf({ usage }: StandInReply): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  }
}
