import { hash } from 'node:crypto'
import { isObject, type JsonObject } from '#core/base/json'
import { makeAnswer, type Script } from './answer.ts'
import { findFailure, findPace } from './commands.ts'
import type { Fault } from './faults.ts'
import type { JournalEntry } from './journal.ts'
import { anthropicStandIn, readPrompt } from './protocols/anthropic.ts'
import { EMBEDDING_PATHS, respondToEmbed } from './protocols/embeddings.ts'
import { openaiChatStandIn } from './protocols/openai-chat.ts'
import { openaiResponsesStandIn, writeCompaction } from './protocols/openai-responses.ts'
import {
  type Answer,
  type Ask,
  CREATED_AT,
  type Frame,
  type Protocol,
  Rejection,
  type StandInReply,
  usageOf,
} from './protocols/protocol.ts'
import type { PlayedResponse } from './sending/play.ts'
import { spoil } from './spoil.ts'
import { summarizeAll } from './summary.ts'

/** From a request to its answer: the endpoint, the text, the headers. */
export interface StandInEndpoint {
  readonly kind: 'model' | 'compact' | 'count-tokens' | 'embed' | 'models' | 'unknown'
  readonly protocol: Protocol
}

export interface RespondOptions {
  readonly script?: Script
  readonly windowTokens?: number | ((model: string) => number | undefined)
  readonly models?: readonly string[]
}

// Matched by the end of the path: base URLs differ (`/v1`, `/backend-api/codex`, none).
const ENDPOINTS: readonly (readonly [string, string, StandInEndpoint])[] = [
  ['POST', '/chat/completions', { kind: 'model', protocol: openaiChatStandIn }],
  ['POST', '/responses', { kind: 'model', protocol: openaiResponsesStandIn }],
  ['POST', '/responses/compact', { kind: 'compact', protocol: openaiResponsesStandIn }],
  ['POST', '/messages', { kind: 'model', protocol: anthropicStandIn }],
  ['POST', '/messages/count_tokens', { kind: 'count-tokens', protocol: anthropicStandIn }],
  ...EMBEDDING_PATHS.map(
    (end) => ['POST', end, { kind: 'embed', protocol: openaiChatStandIn }] as const,
  ),
]

export function findEndpoint({ method, path, headers }: JournalEntry): StandInEndpoint {
  const protocol = headers['anthropic-version'] === undefined ? openaiChatStandIn : anthropicStandIn
  if (method === 'GET' && path.endsWith('/models')) return { kind: 'models', protocol }
  const found = ENDPOINTS.find(([verb, end]) => verb === method && path.endsWith(end))
  return found?.[2] ?? { kind: 'unknown', protocol }
}

/** Throws `Rejection`. */
export function respond(
  endpoint: StandInEndpoint,
  entry: JournalEntry,
  options: RespondOptions,
): PlayedResponse {
  const { fault } = entry
  const { protocol } = endpoint
  if (fault?.kind === 'status') throw statusRejection(fault)
  if (fault?.kind === 'html') return page(entry)
  if (endpoint.kind === 'models') return document(entry, listModels(protocol, options))
  if (endpoint.kind === 'unknown') {
    throw new Rejection(`Invalid URL (${entry.method} ${entry.path})`, { status: 404 })
  }
  const body = readObject(entry)
  if (endpoint.kind === 'embed') return document(entry, respondToEmbed(entry.path, body))
  if (endpoint.kind === 'count-tokens') {
    const { inputTokens } = readPrompt(body)
    return document(entry, { input_tokens: inputTokens }, { inputTokens })
  }
  const ask = protocol.readAsk(body)
  refuseOverflow(protocol, ask, fault, options)
  const code = findFailure(ask.messages)
  if (code !== undefined) throw statusRejection({ code })
  const model = fault?.kind === 'other-request' ? 'another-model' : ask.model
  const answer = withCompaction(spoil(makeAnswer(ask, options.script), fault, ask), ask)
  const reply = replyOf(entry, { ...ask, model }, answer)
  const { inputTokens, outputTokens } = reply.usage
  if (endpoint.kind === 'compact') {
    const summary = summarizeAll(ask.messages)
    return document(entry, writeCompaction(reply, { body, summary }), { inputTokens })
  }
  if (!ask.wantsStream) {
    return document(entry, protocol.writeWhole(reply), { inputTokens, tokens: outputTokens })
  }
  const frames = withStreamError(protocol, protocol.writeFrames(reply), { fault, ask })
  const type = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
  const pace = findPace(ask.messages)
  return {
    ...{ status: 200, headers: { ...type, ...identityOf(entry) }, frames, inputTokens },
    ...(pace !== undefined && { outputTokensPerSecond: pace }),
  }
}

function withCompaction(answer: Answer, { wantsCompaction, messages }: Ask): Answer {
  if (wantsCompaction === undefined) return answer
  const compaction = answer.compaction ?? summarizeAll(messages)
  if (wantsCompaction === 'first') return { ...answer, compaction }
  return { reasoning: '', text: '', calls: [], finish: 'stop', compaction }
}

export function respondWithError(
  { protocol }: StandInEndpoint,
  rejection: Rejection,
  entry: JournalEntry,
): PlayedResponse {
  const { fault } = entry
  const play = document(entry, protocol.writeError(rejection), { status: rejection.status })
  if (fault?.kind !== 'status' || fault.retryAfter === undefined) return play
  return { ...play, headers: { ...play.headers, 'retry-after': fault.retryAfter } }
}

function readObject({ body, bodyText }: JournalEntry): JsonObject {
  if (isObject(body)) return body
  if (bodyText === '') throw new Rejection('The request has no body.')
  throw new Rejection('We could not parse the JSON body of your request.')
}

function refuseOverflow(
  protocol: Protocol,
  ask: Ask,
  fault: Fault | undefined,
  { windowTokens }: RespondOptions,
): void {
  const { inputTokens, tokensMax, model } = ask
  const found = typeof windowTokens === 'function' ? windowTokens(model) : windowTokens
  const window = fault?.kind === 'context-overflow' ? inputTokens - 1 : found
  if (window === undefined) return
  const rejection = protocol.overflow({ inputTokens, tokensMax, windowTokens: window })
  if (rejection !== undefined) throw rejection
}

function replyOf(entry: JournalEntry, ask: Ask, answer: Answer): StandInReply {
  const isMixed = entry.fault?.kind === 'other-request'
  const id = hash('sha256', `${entry.bodyText}${isMixed ? ' of another' : ''}`, 'hex').slice(0, 24)
  return { id, ask, answer, usage: usageOf(ask, answer), isMixed }
}

function withStreamError(
  protocol: Protocol,
  frames: readonly Frame[],
  { fault, ask }: { fault: Fault | undefined; ask: Ask },
): readonly Frame[] {
  if (fault?.kind !== 'stream-error') return frames
  const overflow = protocol.overflow({ ...ask, windowTokens: ask.inputTokens - 1 })
  const overload = new Rejection('The stand-in plays an overloaded provider.', { status: 529 })
  const rejection = fault.what === 'overflow' ? (overflow ?? overload) : overload
  const begun = frames.slice(0, Math.floor(frames.length * fault.after))
  return [...begun, protocol.writeErrorFrame(rejection, begun.length)]
}

function statusRejection({ code }: Pick<Fault, 'code'>): Rejection {
  return new Rejection(`The stand-in plays status ${code}.`, { status: code })
}

function document(
  entry: JournalEntry,
  value: JsonObject,
  { status = 200, inputTokens = 0, tokens = 0 } = {},
): PlayedResponse {
  const headers = { 'content-type': 'application/json', ...identityOf(entry) }
  return { status, headers, frames: [{ text: JSON.stringify(value), tokens }], inputTokens }
}

function page(entry: JournalEntry): PlayedResponse {
  const text = '<!doctype html>\n<title>Sign in</title>\n<p>Please sign in to continue.</p>\n'
  const headers = { 'content-type': 'text/html; charset=utf-8', ...identityOf(entry) }
  return { status: 200, headers, frames: [{ text, tokens: 0 }], inputTokens: 0 }
}

/** The request that this answers: our number for it, and the client's own id. */
function identityOf({ number, headers, fault }: JournalEntry): { readonly [name: string]: string } {
  const isOther = fault?.kind === 'other-request'
  const own = headers['x-client-request-id']
  const requestId = `req_standin_${isOther ? 'another' : number}`
  return {
    'x-request-id': requestId,
    'request-id': requestId,
    'x-stand-in': 'This answer comes from a stand-in, not from a model.',
    ...(own !== undefined && { 'x-client-request-id': isOther ? 'another' : own }),
  }
}

function listModels(protocol: Protocol, { models = ['stand-in'] }: RespondOptions): JsonObject {
  if (protocol.name !== 'anthropic') {
    const data = models.map((id) => ({
      id,
      object: 'model',
      created: CREATED_AT,
      owned_by: 'stand-in',
    }))
    return { object: 'list', data }
  }
  const created_at = new Date(CREATED_AT * 1_000).toISOString()
  const data = models.map((id) => ({ type: 'model', id, display_name: id, created_at }))
  return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null }
}
