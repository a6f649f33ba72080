import { hash } from 'node:crypto'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { Message } from '#core/message/message'

/**
 * What the three wire protocols have in common. A protocol reads a request into an `Ask`; the
 * stand-in turns it into an `Answer` without knowing the protocol; the protocol writes the answer
 * as one document or as the frames of an event stream.
 */
export type ProtocolName = 'openai-chat' | 'openai-responses' | 'anthropic'

export interface Protocol {
  readonly name: ProtocolName
  /** Throws `Rejection` for a request that the provider would refuse. */
  readAsk(body: JsonObject): Ask
  writeWhole(reply: StandInReply): JsonObject
  writeFrames(reply: StandInReply): readonly Frame[]
  writeError(rejection: Rejection): JsonObject
  /** An error inside a stream, after this many frames. */
  writeErrorFrame(rejection: Rejection, behind: number): Frame
  overflow(sizes: Sizes): Rejection | undefined
}

export interface Ask {
  readonly model: string
  readonly messages: readonly Message[]
  /** The names of the tools in the request. */
  readonly tools: readonly string[]
  /** Those of them whose input is text instead of JSON. */
  readonly textTools?: readonly string[]
  readonly inputTokens: number
  readonly tokensMax?: number
  readonly wantsStream: boolean
  readonly wantsReasoning: boolean
  /** Chat only: whether a stream ends with a chunk that reports the usage. */
  readonly wantsUsage: boolean
  /** The provider's own compaction: alone, or before the answer. */
  readonly wantsCompaction?: 'alone' | 'first'
}

export type Finish = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'refusal' | 'window'

export interface StandInCall {
  readonly name: string
  /** The arguments as JSON text, sent unchanged even if broken; for a text tool its text. */
  readonly input: string
}

export interface Answer {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly StandInCall[]
  readonly finish: Finish
  /** The compacted conversation, if the request asked for one. */
  readonly compaction?: string
}

export interface StandInReply {
  /** Hex, derived from the request: the same request gets the same ids. */
  readonly id: string
  readonly ask: Ask
  readonly answer: Answer
  readonly usage: StandInUsage
  /** The second half carries the id of another answer, if the protocol has ids. */
  readonly isMixed: boolean
}

export interface StandInUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
}

export interface Frame {
  readonly text: string
  /** Tokens that the emulated model takes time for. */
  readonly tokens: number
}

export interface Sizes {
  readonly inputTokens: number
  readonly tokensMax?: number | undefined
  readonly windowTokens: number
}

/** A request that the provider refuses; each protocol wraps it in its own envelope. */
export class Rejection extends Error {
  override readonly name = 'Rejection'
  readonly status: number
  readonly code: string | null
  readonly param: string | null

  constructor(
    message: string,
    facts: { status?: number; code?: string | null; param?: string | null } = {},
  ) {
    super(message)
    this.status = facts.status ?? 400
    this.code = facts.code ?? null
    this.param = facts.param ?? null
  }
}

// The first second of 2026, because answers must not depend on the clock.
export const CREATED_AT = 1_767_225_600

/** Deliberately an estimate: the stand-in has no tokenizer, and its figures are not exact. */
const CHARACTERS_PER_TOKEN = 4

/** Providers bill an image by its dimensions, not by the length of its base64. */
const PICTURE_TOKENS = 1_000

export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

/** Splits the text into pieces of one token each, never inside a character. */
export function splitTokens(text: string): readonly string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + CHARACTERS_PER_TOKEN, text.length)
    const code = text.charCodeAt(end - 1)
    if (code >= 0xd800 && code <= 0xdbff && end < text.length) end++
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

/** The longest prefix of the text with at most this many tokens. */
export function clipTokens(text: string, tokensMax: number): string {
  return text.slice(0, tokensMax * CHARACTERS_PER_TOKEN).toWellFormed()
}

/**
 * The tokens of a request: every string in the messages, images at a flat rate. A model reads tools,
 * the schema of an answer and the arguments of calls as JSON, with the names in them.
 */
export function countInput(
  values: readonly (JsonValue | undefined)[],
  definitions: readonly (JsonValue | undefined)[] = [],
): number {
  let characters = definitions.reduce<number>((sum, value) => sum + jsonLength(value), 0)
  let pictures = 0
  const stack = [...values]
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value === 'string') {
      if (value.startsWith('data:')) pictures++
      else characters += value.length
    } else if (Array.isArray(value) || isObject(value)) {
      if (isObject(value) && value['type'] === 'base64') pictures++
      else if (isObject(value) && value['type'] === 'tool_use') {
        characters += String(value['name']).length + jsonLength(value['input'])
      } else for (const item of Object.values(value)) stack.push(item)
    }
  }
  return Math.ceil(characters / CHARACTERS_PER_TOKEN) + pictures * PICTURE_TOKENS
}

function jsonLength(value: JsonValue | undefined): number {
  return value === undefined ? 0 : JSON.stringify(value).length
}

export function usageOf(ask: Ask, answer: Answer): StandInUsage {
  const reasoningTokens = countTokens(answer.reasoning)
  const calls = answer.calls.reduce((sum, { name, input }) => sum + countTokens(name + input), 0)
  const compaction = countTokens(answer.compaction ?? '')
  const outputTokens = reasoningTokens + countTokens(answer.text) + calls + compaction
  return { inputTokens: ask.inputTokens, outputTokens, reasoningTokens }
}

/** An id for a part of the reply: stable, and unique within a growing conversation. */
export function responseIdOf(reply: StandInReply, prefix: string, index = 0): string {
  return `${prefix}${hash('sha256', `${reply.id} ${prefix} ${index}`, 'hex').slice(0, 24)}`
}

/** The reply whose ids the later part carries; for a mixed one, another reply. */
export function otherReply(reply: StandInReply): StandInReply {
  return reply.isMixed ? { ...reply, id: `another than ${reply.id}` } : reply
}
