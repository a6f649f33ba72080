import { characterClasses } from '../../base/character-classes.ts'
import type { Handoff, OmittedRequests, PreservedMessage } from '../../message/handoff/handoff.ts'
import type { Message, TextPart, UserMessage, UserPart } from '../../message/message.ts'
import { plainText } from '../../message/text.ts'
import type { Counters } from '../counters.ts'
import { headNumbers, isFinalReply } from '../layout.ts'
import { findHostBlocks } from '../own-words/host-blocks.ts'
import { isPlan, withoutHostBlocks } from '../own-words/pieces.ts'
import { type MeasuredWords, measureWords, once } from './clear.ts'
import type { CompactPlan } from './plan.ts'

/**
 * The user's own words, kept beside the summary. Host blocks are left out. Newest first within the
 * budget; the one that crosses it is cut. A request that a newer one repeats except for its figures
 * gives way first, then a long message, its pasted bulk first, so that neither routine requests nor
 * one paste displace unique ones. Each says whether it was answered, so that no finished request is
 * done again and the open one is not forgotten.
 */
export interface Preserved {
  /** Oldest first. */
  readonly messages: readonly PreservedMessage[]
  readonly dropped: number
  /** Those of this and of earlier compactions, so that the model sees that they exist. */
  readonly omitted?: OmittedRequests
}

/** A covered open request is kept with at least this much, whatever the budget. */
const OPEN_TOKENS_MIN = 200

/** Fewer tokens of a long message are useless. */
const TRUNCATED_TOKENS_MIN = 40

/** The line that names the message. */
export const TITLE_TOKENS = 12

export interface PreserveRequest extends Counters {
  readonly messages: readonly Message[]
  readonly plan: CompactPlan
  readonly earlier?: Handoff
}

/** The messages of the head, and those that the earlier handoff kept. */
export function preserveUserMessages(request: PreserveRequest): Preserved {
  return preserver(request)(request.plan.allotment.user)
}

/** Reads and measures the messages once, however many sizes are tried. */
export function preserver(request: PreserveRequest): (userTokens: number) => Preserved {
  const { messages, plan, earlier, countMessage } = request
  const all = [...candidates(messages, plan, earlier)]
  const measure = measuring(request)
  const distinct = once(() => withoutRepeated(all))
  return (userTokens) =>
    withOmitted(choose({ userTokens, all, distinct, measure, countMessage }), all, earlier)
}

function withOmitted(
  chosen: Chosen,
  all: readonly PreservedMessage[],
  earlier: Handoff | undefined,
): Preserved {
  if (chosen.dropped === 0 && earlier?.omitted === undefined) return chosen
  const quoted = new Set(chosen.messages.map(({ number }) => number))
  const dropped = all.map(({ number }) => number).filter((number) => !quoted.has(number))
  const { from, to, count } = earlier?.omitted ?? {
    from: Number.POSITIVE_INFINITY,
    to: 0,
    count: 0,
  }
  const omitted = {
    from: Math.min(from, ...dropped.slice(-1)),
    to: Math.max(to, ...dropped.slice(0, 1)),
    count: count + dropped.length,
  }
  return { ...chosen, omitted }
}

/** The note about omitted requests takes about this much. */
export const OMITTED_TOKENS = 20

type Chosen = Omit<Preserved, 'omitted'>

interface Choice extends Pick<Counters, 'countMessage'> {
  readonly userTokens: number
  readonly all: readonly PreservedMessage[]
  /** Without requests that a newer one repeats. */
  readonly distinct: () => readonly PreservedMessage[]
  readonly measure: (candidate: PreservedMessage) => Measured
}

interface Measured {
  /** Without host blocks. */
  readonly whole: PreservedMessage
  readonly wholeTokens: number
  /** Without attachments too. */
  readonly bare: PreservedMessage
  readonly bareTokens: number
  readonly words: MeasuredWords
}

/** Measures each message once, when it is first needed: most of a long conversation never is. */
function measuring({ countMessage }: Counters): Choice['measure'] {
  const known = new Map<PreservedMessage, Measured>()
  const countTokens = (text: string) =>
    countMessage({ role: 'user', parts: [{ type: 'text', text }] })
  return (candidate) => {
    const before = known.get(candidate)
    if (before !== undefined) return before
    const whole = withoutHost(candidate)
    const bare = withoutAttachments(whole)
    const { number, message } = bare
    const bareTokens = countMessage(message)
    const wholeTokens = whole === bare ? bareTokens : countMessage(whole.message)
    const words = measureWords(message.parts, { countTokens, number })
    const measured = { whole, wholeTokens, bare, bareTokens, words }
    known.set(candidate, measured)
    return measured
  }
}

function choose(request: Choice): Chosen {
  const { userTokens, all } = request
  const whole = preserveWithin(request, all, () => userTokens)
  if (isEnough(whole)) return whole
  const distinct = request.distinct()
  const uncut =
    distinct.length < all.length ? preserveWithin(request, distinct, () => userTokens) : whole
  const best = isEnough(uncut)
    ? uncut
    : preserveWithin(request, distinct, limitsFor(request, distinct))
  const kept = new Set(distinct)
  const repeated = all.filter((each) => !kept.has(each))
  return withRepeated(request, best, repeated)
}

/** All are kept and none is cut, unless that keeps an image. */
function isEnough({ messages, dropped }: Chosen): boolean {
  if (dropped > 0) return false
  const hasImage = messages.some(({ message }) => message.parts.some(isAttachment))
  return hasImage || !messages.some(({ truncated }) => truncated)
}

/**
 * The tokens that the short sentences of all messages take, counted until they exceed `tokensMax`,
 * which a long conversation soon does. Plans of a program count up to `planTokensMax`.
 */
export function countShortWords(
  request: PreserveRequest,
  tokensMax: number,
  planTokensMax: number,
): number {
  const measure = measuring(request)
  let own = 0
  let plans = 0
  for (const each of candidates(request.messages, request.plan, request.earlier)) {
    const measured = measure(each)
    const tokens = leastOf(measured) + TITLE_TOKENS
    if (isPlan(plainText(measured.bare.message.parts))) plans += tokens
    else own += tokens
    if (own > tokensMax) break
  }
  return Math.max(own, Math.min(own + plans, planTokensMax))
}

/**
 * How much each message may take so that most of them are kept: the same for all, except that short
 * sentences come before long ones and before what was pasted, wherever they are.
 */
function limitsFor(
  { userTokens, measure }: Choice,
  all: readonly PreservedMessage[],
): (candidate: PreservedMessage) => number {
  const sizes = new Map<PreservedMessage, { readonly whole: number; readonly least: number }>()
  let left = userTokens
  for (const each of all) {
    const least = leastOf(measure(each))
    left -= Math.min(least, MESSAGE_TOKENS_MIN) + TITLE_TOKENS
    if (left < 0) break
    sizes.set(each, { whole: measure(each).bareTokens, least })
  }
  const space = Math.floor(userTokens) - sizes.size * TITLE_TOKENS
  const list = [...sizes.values()]
  const isTight = list.reduce((sum, { least }) => sum + least, 0) > space
  const limitAt = (level: number, least: number) =>
    isTight ? Math.min(least, level) : Math.max(least, level)
  const taken = (level: number) =>
    list.reduce((sum, { whole, least }) => sum + Math.min(whole, limitAt(level, least)), 0)
  let [level, tooMuch] = [MESSAGE_TOKENS_MIN, space + 1]
  while (level + 1 < tooMuch) {
    const middle = Math.floor((level + tooMuch) / 2)
    if (taken(middle) <= space) level = middle
    else tooMuch = middle
  }
  return (each) => Math.max(MESSAGE_TOKENS_MIN, limitAt(level, sizes.get(each)?.least ?? 0))
}

/** A message that fits into this is never cut for another. */
const MESSAGE_TOKENS_MIN = 150

/** The size of a message with nothing but its short sentences. */
function leastOf({ bareTokens, words }: Measured): number {
  if (bareTokens <= MESSAGE_TOKENS_MIN) return bareTokens
  return Math.min(bareTokens, Math.max(MESSAGE_TOKENS_MIN, words.leastTokens()))
}

/** Space left over goes to requests that a newer one repeats, newest first. */
function withRepeated(
  { userTokens, countMessage }: Choice,
  { messages, dropped }: Chosen,
  repeated: readonly PreservedMessage[],
): Chosen {
  const cost = ({ message }: PreservedMessage) => countMessage(message) + TITLE_TOKENS
  let left = messages.reduce((space, each) => space - cost(each), userTokens)
  const added: PreservedMessage[] = []
  for (const each of repeated.map(withoutHost)) {
    if (cost(each) > left) break
    left -= cost(each)
    added.push(each)
  }
  const kept = [...messages, ...added].sort((a, b) => a.number - b.number)
  return { messages: kept, dropped: dropped + repeated.length - added.length }
}

/** Newest first, without answered requests that a newer one repeats except for figures. */
function withoutRepeated(all: readonly PreservedMessage[]): readonly PreservedMessage[] {
  const texts = all.map(({ message }) => plainText(message.parts))
  const sketches = texts.map(sketchOf)
  const alike = Map.groupBy(sketches, (sketch) => sketch)
  const said = new Set<string>()
  return all.filter(({ state }, at) => {
    // Most requests resemble no other one.
    if (alike.get(sketches[at] ?? '')?.length === 1) return true
    const text = (texts[at] ?? '')
      .replaceAll(/\p{N}+/gu, '#')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const isRepeated = said.has(text)
    said.add(text)
    return !isRepeated || state === 'open' || text === ''
  })
}

const isFigureOrBlank = characterClasses(/[\p{N}\s]/u)

const SKETCH_CHARACTERS = 40

/** Equal for texts that differ only in figures and white space; others rarely collide. */
function sketchOf(text: string): string {
  let sketch = ''
  for (const character of text) {
    if (isFigureOrBlank(character.codePointAt(0) ?? 0) === 0) sketch += character
    if (sketch.length >= SKETCH_CHARACTERS) break
  }
  return sketch
}

function preserveWithin(
  { userTokens, measure, countMessage }: Choice,
  all: readonly PreservedMessage[],
  limitOf: (candidate: PreservedMessage) => number,
): Chosen {
  const kept: PreservedMessage[] = []
  let left = userTokens
  let dropped = 0
  for (const each of all) {
    // Nothing more fits, so older messages are not counted.
    if (left < TITLE_TOKENS && kept.length > 0) {
      dropped++
      continue
    }
    const isNewestOpen = kept.length === 0 && each.state === 'open'
    const measured = measure(each)
    const { whole, wholeTokens, bare, bareTokens } = measured
    const limit = limitOf(each)
    const isShort = isNewestOpen || bareTokens <= limit
    const short = isShort ? bare : truncate(measured, limit)
    const shortTokens = isShort ? bareTokens : countMessage(short.message)
    // Where messages give way to each other, no image displaces words.
    const mayAttach = isNewestOpen || limit >= userTokens
    const isWhole = mayAttach && wholeTokens + TITLE_TOKENS <= left
    const tokens = (isWhole ? wholeTokens : shortTokens) + TITLE_TOKENS
    if (tokens <= left) {
      kept.push(isWhole ? whole : short)
      left -= tokens
      continue
    }
    const space = (isNewestOpen ? Math.max(left, OPEN_TOKENS_MIN) : left) - TITLE_TOKENS
    // One message crosses the budget; nothing older than it is kept, so that no gap is hidden.
    left = 0
    if (space < TRUNCATED_TOKENS_MIN) dropped++
    else kept.push(truncate(measured, space))
  }
  return { messages: kept.reverse(), dropped }
}

function withoutHost(candidate: PreservedMessage): PreservedMessage {
  const { parts } = candidate.message
  const isHosted = parts.some(
    (part) => part.type === 'text' && findHostBlocks(part.text).length > 0,
  )
  if (!isHosted) return candidate
  const own = parts.flatMap((part): UserPart[] => {
    if (part.type !== 'text') return [part]
    const text = withoutHostBlocks(part.text)
    return text === '' ? [] : [{ type: 'text', text }]
  })
  return { ...candidate, message: { ...candidate.message, parts: own } }
}

function* candidates(
  messages: readonly Message[],
  plan: CompactPlan,
  earlier: Handoff | undefined,
): Generator<PreservedMessage> {
  const { headFrom } = plan.layout
  const numberOf = headNumbers(plan.layout)
  const answeredBefore = lastReply(messages, headFrom)
  for (let index = plan.cut - 1; index >= headFrom; index--) {
    const message = messages[index]
    if (message === undefined || !isAsk(message)) continue
    // It stays in the context as a message.
    if (plan.open?.includes(index) === true) continue
    const state = index < answeredBefore ? 'answered' : 'open'
    yield { message, number: numberOf(index - headFrom), state }
  }
  for (const preserved of earlier?.preserved.toReversed() ?? []) {
    yield answeredBefore >= headFrom ? { ...preserved, state: 'answered' } : preserved
  }
}

/**
 * The position of the newest final reply, -1 if there is none. Requests before it are answered by
 * the reply that ended their turn, even if several shared that turn.
 */
function lastReply(messages: readonly Message[], from: number): number {
  for (let index = messages.length - 1; index >= from; index--) {
    const message = messages[index]
    // Some programs write the words before a call as a message of their own.
    const isLast = messages[index + 1]?.role !== 'assistant'
    if (message !== undefined && isLast && isFinalReply(message)) return index
  }
  return -1
}

export function isAsk(message: Message): message is UserMessage {
  return (
    message.role === 'user' &&
    message.synthetic !== true &&
    message.parts.some((part) => part.type !== 'text' || withoutHostBlocks(part.text).trim() !== '')
  )
}

function isAttachment(part: UserPart): boolean {
  return part.type !== 'text'
}

/** An image costs as much as many words, and the words carry the request. */
function withoutAttachments(candidate: PreservedMessage): PreservedMessage {
  if (!candidate.message.parts.some(isAttachment)) return candidate
  const parts = candidate.message.parts.map(
    (part): TextPart =>
      part.type === 'text'
        ? part
        : { type: 'text', text: `[${part.type} of message ${candidate.number} left out]` },
  )
  return { ...candidate, message: { role: 'user', parts }, truncated: true }
}

function truncate({ bare, words }: Measured, tokensMax: number): PreservedMessage {
  return { ...bare, message: { role: 'user', parts: words.clip(tokensMax) }, truncated: true }
}
