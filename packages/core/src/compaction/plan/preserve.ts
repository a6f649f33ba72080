import { characterClasses } from '../../base/character-classes.ts'
import type { Handoff, OmittedRequests, PreservedMessage } from '../../message/handoff/handoff.ts'
import type { Message, TextPart, UserMessage, UserPart } from '../../message/message.ts'
import { plainText } from '../../message/text.ts'
import type { Counters, CountTokens } from '../counters.ts'
import { headNumbers, isFinalReply } from '../layout.ts'
import { findHostBlocks } from '../own-words/host-blocks.ts'
import { withoutHostBlocks } from '../own-words/pieces.ts'
import { clipUserParts } from './clear.ts'
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

interface PreserveRequest extends Counters {
  readonly messages: readonly Message[]
  readonly plan: CompactPlan
  readonly earlier?: Handoff
}

/** The messages of the head, and those that the earlier handoff kept. */
export function preserveUserMessages(request: PreserveRequest): Preserved {
  const { messages, plan, earlier } = request
  const all = [...candidates(messages, plan, earlier)]
  const chosen = choose(request, all)
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

function choose(request: PreserveRequest, all: readonly PreservedMessage[]): Chosen {
  const { user } = request.plan.allotment
  const whole = preserveWithin(request, all, user)
  if (whole.dropped === 0) return whole
  const distinct = withoutRepeated(all)
  const within = (tokens: number) => preserveWithin(request, distinct, tokens)
  const shares = SHARES.map((share) => within(Math.max(SHARE_TOKENS_MIN, user * share)))
  const best = shares.reduce(
    (least, next) => (next.dropped < least.dropped ? next : least),
    distinct.length === all.length ? whole : within(user),
  )
  const kept = new Set(distinct)
  const repeated = all.filter((each) => !kept.has(each))
  return withRepeated(request, best, repeated)
}

/** Space left over goes to requests that a newer one repeats, newest first. */
function withRepeated(
  { plan, countMessage }: PreserveRequest,
  { messages, dropped }: Chosen,
  repeated: readonly PreservedMessage[],
): Chosen {
  const cost = ({ message }: PreservedMessage) => countMessage(message) + TITLE_TOKENS
  let left = messages.reduce((space, each) => space - cost(each), plan.allotment.user)
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

/** The share of the budget for one message if others would be dropped for it. */
const SHARES = [0.5, 0.25, 0.125]
/** A message that fits into this is never cut for another. */
const SHARE_TOKENS_MIN = 150

function preserveWithin(
  request: PreserveRequest,
  all: readonly PreservedMessage[],
  messageTokensMax: number,
): Chosen {
  const { plan, countTokens, countMessage } = request
  const kept: PreservedMessage[] = []
  let left = plan.allotment.user
  let dropped = 0
  for (const each of all) {
    // Nothing more fits, so older messages are not counted.
    if (left < TITLE_TOKENS && kept.length > 0) {
      dropped++
      continue
    }
    const isNewestOpen = kept.length === 0 && each.state === 'open'
    const whole = withoutHost(each)
    const bare = withoutAttachments(whole)
    const isShort = isNewestOpen || countMessage(bare.message) <= messageTokensMax
    const short = isShort ? bare : truncate(bare, messageTokensMax, countTokens)
    // Where messages give way to each other, no image displaces words.
    const mayAttach = isNewestOpen || messageTokensMax >= plan.allotment.user
    const fitting = [mayAttach ? whole : short, short].find(
      ({ message }) => countMessage(message) + TITLE_TOKENS <= left,
    )
    if (fitting !== undefined) {
      kept.push(fitting)
      left -= countMessage(fitting.message) + TITLE_TOKENS
      continue
    }
    const space = (isNewestOpen ? Math.max(left, OPEN_TOKENS_MIN) : left) - TITLE_TOKENS
    // One message crosses the budget; nothing older than it is kept, so that no gap is hidden.
    left = 0
    if (space < TRUNCATED_TOKENS_MIN) dropped++
    else kept.push(truncate(bare, space, countTokens))
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

/** An image costs as much as many words, and the words carry the request. */
function withoutAttachments(candidate: PreservedMessage): PreservedMessage {
  if (candidate.message.parts.every((part) => part.type === 'text')) return candidate
  const parts = candidate.message.parts.map(
    (part): TextPart =>
      part.type === 'text'
        ? part
        : { type: 'text', text: `[${part.type} of message ${candidate.number} left out]` },
  )
  return { ...candidate, message: { role: 'user', parts }, truncated: true }
}

function truncate(
  candidate: PreservedMessage,
  tokensMax: number,
  countTokens: CountTokens,
): PreservedMessage {
  const { number } = candidate
  const parts = clipUserParts(candidate.message.parts, { tokensMax, countTokens, number })
  return { ...candidate, message: { role: 'user', parts }, truncated: true }
}
