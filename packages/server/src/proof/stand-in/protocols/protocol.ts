import { hash } from 'node:crypto'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { Message } from '#core/message/message'

/**
 * What the three wire protocols have in common. A protocol reads a request into an `Ask`; the
 * stand-in makes an `Answer` of it without knowing which protocol it was; the protocol writes the
 * answer back as one document or as the frames of an event stream.
 */
export type ProtocolName = 'openai-chat' | 'openai-responses' | 'anthropic'

export interface Protocol {
  readonly name: ProtocolName
  /** Throws `Rejection` for what the provider would refuse. */
  readAsk(body: JsonObject): Ask
  writeWhole(reply: StandInReply): JsonObject
  writeFrames(reply: StandInReply): readonly Frame[]
  writeError(rejection: Rejection): JsonObject
  /** An error within a stream, behind so many frames. */
  writeErrorFrame(rejection: Rejection, behind: number): Frame
  overflow(sizes: Sizes): Rejection | undefined
}

export interface Ask {
  readonly model: string
  readonly messages: readonly Message[]
  /** The names of the tools on offer. */
  readonly tools: readonly string[]
  readonly inputTokens: number
  readonly tokensMax?: number
  readonly wantsStream: boolean
  readonly wantsReasoning: boolean
  /** Chat only: a stream ends with a chunk that says what was used. */
  readonly wantsUsage: boolean
  /** The provider's own compaction: alone, or in front of the answer. */
  readonly wantsCompaction?: 'alone' | 'first'
}

export type Finish = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'refusal' | 'window'

export interface StandInCall {
  readonly name: string
  /** The arguments as JSON text; they are sent as they stand here, broken ones too. */
  readonly input: string
}

export interface Answer {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly StandInCall[]
  readonly finish: Finish
  /** What the conversation was compacted into, where the request asked for that. */
  readonly compaction?: string
}

export interface StandInReply {
  /** Hex, made from the request: the same request is answered under the same ids. */
  readonly id: string
  readonly ask: Ask
  readonly answer: Answer
  readonly usage: StandInUsage
  /** The second half carries the id of another answer, where the protocol has ids. */
  readonly isMixed: boolean
}

export interface StandInUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
}

export interface Frame {
  readonly text: string
  /** What the emulated model needs time for. */
  readonly tokens: number
}

export interface Sizes {
  readonly inputTokens: number
  readonly tokensMax?: number | undefined
  readonly windowTokens: number
}

/** A request that the provider refuses, before each protocol gives it its envelope. */
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

// The first second of 2026: answers do not depend on the clock.
export const CREATED_AT = 1_767_225_600

/** An estimate on purpose: the stand-in has no tokenizer, and nobody should rely on its figures. */
const CHARACTERS_PER_TOKEN = 4

/** A picture is billed by its size on screen, not by the letters of its base64. */
const PICTURE_TOKENS = 1_000

export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

/** Pieces of one token each that together are the text; no character is parted. */
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

/** The longest start of the text that is at most so many tokens. */
export function clipTokens(text: string, tokensMax: number): string {
  return text.slice(0, tokensMax * CHARACTERS_PER_TOKEN).toWellFormed()
}

/** What the request's words come to: every string in the values, pictures at a flat rate. */
export function countInput(values: readonly (JsonValue | undefined)[]): number {
  let characters = 0
  let pictures = 0
  const stack = [...values]
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value === 'string') {
      if (value.startsWith('data:')) pictures++
      else characters += value.length
    } else if (Array.isArray(value) || isObject(value)) {
      if (isObject(value) && value['type'] === 'base64') pictures++
      else for (const item of Object.values(value)) stack.push(item)
    }
  }
  return Math.ceil(characters / CHARACTERS_PER_TOKEN) + pictures * PICTURE_TOKENS
}

export function usageOf(ask: Ask, answer: Answer): StandInUsage {
  const reasoningTokens = countTokens(answer.reasoning)
  const calls = answer.calls.reduce((sum, { name, input }) => sum + countTokens(name + input), 0)
  const compaction = countTokens(answer.compaction ?? '')
  const outputTokens = reasoningTokens + countTokens(answer.text) + calls + compaction
  return { inputTokens: ask.inputTokens, outputTokens, reasoningTokens }
}

/** An id of a part of the reply: stable, and never met twice in a growing conversation. */
export function responseIdOf(reply: StandInReply, prefix: string, index = 0): string {
  return `${prefix}${hash('sha256', `${reply.id} ${prefix} ${index}`, 'hex').slice(0, 24)}`
}

/** Whose ids the later part of a reply carries: for a mixed one, those of another. */
export function otherReply(reply: StandInReply): StandInReply {
  return reply.isMixed ? { ...reply, id: `another than ${reply.id}` } : reply
}
