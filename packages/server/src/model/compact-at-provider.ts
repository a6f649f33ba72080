import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { render } from '#core/message/dialects/render'
import { openaiResponsesFormat } from '#core/message/formats/openai-responses/openai-responses'
import type { Message } from '#core/message/message'
import { Exchange } from './calls/exchange.ts'
import type { CallOptions, CallUsage } from './model.ts'
import { judgeCall } from './outcomes/judge.ts'
import type { Outcome } from './outcomes/outcome.ts'
import type { ModelDependencies } from './provider-model.ts'
import { withoutPrivateAddresses } from './routes/addresses.ts'
import type { ModelRoute, ProviderName } from './routes/route.ts'

/**
 * OpenAI's own compaction: an endpoint beside the model's takes the conversation and returns a
 * shorter one, whose middle is an item that only the provider can read. It is usable only in a
 * conversation with that provider and cannot become the text of a handoff. One attempt, no stream.
 */
export interface ProviderCompaction {
  readonly outcome: Outcome
  /** The replacement of the conversation; undefined unless the outcome is `finished`. */
  readonly messages?: readonly Message[]
  readonly usage?: CallUsage
}

function canCompact({ provider }: Pick<ModelRoute, 'provider'>): boolean {
  return COMPACTING.includes(provider)
}

const COMPACTING: readonly ProviderName[] = ['openai-responses', 'codex']

// The response repeats the user's messages, including images.
const ANSWER_BYTES_MAX = 32 * 1024 * 1024

/** Never rejects. */
export async function compactAtProvider(
  route: ModelRoute,
  { messages, instructions }: { messages: readonly Message[]; instructions?: string },
  { deps, ...options }: CallOptions & { readonly deps: ModelDependencies },
): Promise<ProviderCompaction> {
  if (!canCompact(route)) return { outcome: { kind: 'malformed', what: 'not-sent' } }
  const { credentials, pool, clock } = deps
  const credential = await credentials.read(route.credential).catch(() => undefined)
  if (credential === undefined) return { outcome: { kind: 'refused', refusal: 'no-credential' } }
  const line = { route: route.name, purpose: options.purpose }
  const exchange = new Exchange({
    ...options,
    baseUrl: route.baseUrl,
    clock,
    loan: (origin) => pool.loan({ origin, ...line }),
    prepare: (body) => body,
    documentBytesMax: ANSWER_BYTES_MAX,
  })
  const body = {
    model: route.model,
    ...(instructions !== undefined && { instructions }),
    ...render(withoutPrivateAddresses(messages), 'openai-responses'),
  }
  const answer = exchange.fetch(`${route.baseUrl.replace(/\/$/, '')}/responses/compact`, {
    method: 'POST',
    headers: {
      ...route.headers,
      ...(credential !== '' && { authorization: `Bearer ${credential}` }),
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  // The exchange rejects because a JSON document is not an event stream; its record has the body.
  answer.catch(() => {})
  await exchange.over
  const { text = '', ...wire } = exchange.record
  const { status, isComplete } = wire
  const made = status === 200 && isComplete === true ? readCompaction(text) : undefined
  if (made !== undefined) return { outcome: { kind: 'finished', finish: 'stop' }, ...made }
  // The reason for the interruption is more useful than half a document.
  const isCut = status === 200 && wire.error !== undefined
  return { outcome: judgeCall({ wire: isCut ? wire : exchange.record, nowMs: clock.now() }) }
}

function readCompaction(text: string): Omit<ProviderCompaction, 'outcome'> | undefined {
  let answer: JsonValue
  try {
    answer = JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
  if (!isObject(answer) || !isArray(answer['output'])) return undefined
  const items = answer['output']
  // Without the item, the response holds only the uncompacted part.
  if (!items.some((item) => isObject(item) && item['type'] === 'compaction')) return undefined
  const usage = isObject(answer['usage']) ? usageOf(answer['usage']) : undefined
  const { messages } = openaiResponsesFormat.parse(items)
  return { messages, ...(usage !== undefined && { usage }) }
}

function usageOf(usage: JsonObject): CallUsage {
  const count = (from: JsonObject, name: string) => {
    const value = from[name]
    return typeof value === 'number' ? value : 0
  }
  const { input_tokens_details: details } = usage
  return {
    inputTokens: count(usage, 'input_tokens'),
    outputTokens: count(usage, 'output_tokens'),
    ...(isObject(details) && { cacheReadTokens: count(details, 'cached_tokens') }),
  }
}
