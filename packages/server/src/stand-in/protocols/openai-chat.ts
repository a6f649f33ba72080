import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { openaiChatFormat as codec } from '#core/message/formats/openai-chat/openai-chat'
import { readLimit, readMessages, readModel, readTools } from '../read-body.ts'
import { openaiError } from './openai-error.ts'
import {
  CREATED_AT,
  countInput,
  type Finish,
  type Frame,
  otherReply,
  type Protocol,
  Rejection,
  responseIdOf,
  type StandInReply,
  splitTokens,
} from './protocol.ts'
import { frame, textFrame } from './sse.ts'

/**
 * OpenAI's Chat Completions. Reasoning is sent as `reasoning_content`, which compatible servers
 * have and OpenAI itself does not.
 */
const FINISH: { readonly [finish in Finish]: string } = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  window: 'length',
  'content-filter': 'content_filter',
  refusal: 'stop',
}

export const openaiChatStandIn: Protocol = {
  name: 'openai-chat',

  readAsk(body) {
    const { messages, tools, stream_options: options, reasoning_effort: effort } = body
    return {
      model: readModel(body),
      messages: readMessages(body, { dialect: 'openai-chat', codec, key: 'messages' }),
      tools: readTools(body),
      inputTokens: countInput([messages], [tools, body['response_format']]),
      ...readLimit(body, ['max_completion_tokens', 'max_tokens']),
      wantsStream: body['stream'] === true,
      wantsReasoning: typeof effort === 'string' && effort !== 'none',
      wantsUsage: isObject(options) && options['include_usage'] === true,
    }
  },

  writeWhole(reply) {
    const { answer } = reply
    const isRefused = answer.finish === 'refusal'
    const calls = answer.calls.map((_, index) => callOf(reply, index))
    const message = {
      role: 'assistant',
      content: isRefused || (answer.text === '' && calls.length > 0) ? null : answer.text,
      refusal: isRefused ? answer.text : null,
      annotations: [],
      ...(answer.reasoning !== '' && { reasoning_content: answer.reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    const choice = { index: 0, message, logprobs: null, finish_reason: FINISH[answer.finish] }
    return { ...shell(reply, 'chat.completion'), choices: [choice], usage: usageOf(reply) }
  },

  writeFrames(reply) {
    const { answer, ask } = reply
    const { finish } = answer
    const start = chunkShell(reply)
    const end = chunkShell(otherReply(reply))
    const half = Math.floor(splitTokens(answer.text).length / 2)
    const textKey = finish === 'refusal' ? 'refusal' : 'content'
    const usage = { ...end, choices: [], usage: usageOf(reply) }
    return [
      delta(start, { role: 'assistant', content: '', refusal: null }),
      ...splitTokens(answer.reasoning).map((text) => delta(start, { reasoning_content: text }, 1)),
      ...splitTokens(answer.text).map((text, index) =>
        delta(index < half ? start : end, { [textKey]: text }, 1),
      ),
      ...answer.calls.flatMap((_, index) =>
        callDeltas(reply, index).map((call) => delta(end, call, 1)),
      ),
      chunk(end, { delta: {}, finish_reason: FINISH[finish] }),
      ...(ask.wantsUsage ? [frame(usage)] : []),
      textFrame('[DONE]'),
    ]
  },

  writeError: openaiError,

  writeErrorFrame(rejection) {
    return frame(openaiError(rejection))
  },

  overflow({ inputTokens, tokensMax = 0, windowTokens }) {
    if (inputTokens + tokensMax <= windowTokens) return undefined
    const asked =
      inputTokens > windowTokens
        ? `your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`
        : `you requested ${inputTokens + tokensMax} tokens (${inputTokens} in the messages, ${tokensMax} in the completion). Please reduce the length of the messages or completion.`
    const message = `This model's maximum context length is ${windowTokens} tokens. However, ${asked}`
    return new Rejection(message, { code: 'context_length_exceeded', param: 'messages' })
  },
}

function shell(reply: StandInReply, object: string): JsonObject {
  return {
    id: responseIdOf(reply, 'chatcmpl-'),
    object,
    created: CREATED_AT,
    model: reply.ask.model,
    service_tier: 'default',
    system_fingerprint: 'fp_standin',
  }
}

/** The fields that every chunk repeats, built once because a stream has thousands. */
function chunkShell(reply: StandInReply): JsonObject {
  const usage = reply.ask.wantsUsage ? { usage: null } : {}
  return { ...shell(reply, 'chat.completion.chunk'), ...usage }
}

function chunk(start: JsonObject, choice: JsonObject, tokens = 0): Frame {
  return frame({ ...start, choices: [{ index: 0, ...choice, logprobs: null }] }, { tokens })
}

function delta(start: JsonObject, value: JsonObject, tokens = 0): Frame {
  return chunk(start, { delta: value, finish_reason: null }, tokens)
}

function callOf(
  reply: StandInReply,
  index: number,
  input = reply.answer.calls[index]?.input ?? '',
) {
  const name = reply.answer.calls[index]?.name ?? ''
  return {
    id: responseIdOf(reply, 'call_', index),
    type: 'function',
    function: { name, arguments: input },
  }
}

/** The name first, then the arguments in pieces. */
function callDeltas(reply: StandInReply, index: number): readonly JsonObject[] {
  const pieces = splitTokens(reply.answer.calls[index]?.input ?? '')
  return [
    { tool_calls: [{ index, ...callOf(reply, index, '') }] },
    ...pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ]
}

function usageOf({ usage }: StandInReply): JsonValue {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
