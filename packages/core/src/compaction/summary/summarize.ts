import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import type { CountTokens } from '../counters.ts'
import type { SummaryFault } from '../judge/judge-summary.ts'
import type { NumberOf } from '../layout.ts'
import { splitIntoPieces } from '../plan/pieces.ts'
import { redact } from '../redact/redact.ts'
import { cleanSummary } from './clean-summary.ts'
import { type CutOptions, cutSummary } from './cut-summary.ts'
import {
  handoffPrompt,
  mergePrompt,
  type PromptOptions,
  quoteMessage,
  type SummaryRequest,
} from './prompt.ts'
import { type SummaryReply, type SummaryWriter, WriterOverflowError } from './summary-writer.ts'

/** Concurrently, so that a long range takes little longer than one piece. */
const PIECES_AT_ONCE = 4

/** The least window to assume, even if the instructions alone exceed it. */
const SPACE_TOKENS_MIN = 1_000

export interface SummarizeRequest extends PromptOptions {
  readonly head: readonly Message[]
  readonly numberOf: NumberOf
  readonly earlier?: Handoff
  /** The window of the writer's model. */
  readonly windowTokens: number
  readonly countTokens: CountTokens
  readonly write: SummaryWriter
  readonly signal: AbortSignal
  readonly onProgress?: (progress: { stage: 'summary'; done: number; of: number }) => void
}

/**
 * Has the writer summarize the head of a conversation. The whole range is read: if it does not fit
 * at once, it is summarized in parallel pieces, which are then joined. The reply may be incomplete
 * (`finish`): the caller checks it. Rejects as the writer does.
 */
export async function summarize(request: SummarizeRequest): Promise<SummaryReply> {
  const { head, numberOf, earlier, windowTokens, countTokens, signal } = request
  const texts = head.map((message, index) => quoteMessage(message, numberOf(index)))
  const earlierSummary = earlier?.summary
  const options: PromptOptions & { earlierSummary?: string } = {
    tokensMax: request.tokensMax,
    ...(request.focus !== undefined && { focus: request.focus }),
    ...(request.instructions !== undefined && { instructions: request.instructions }),
    ...(earlierSummary !== undefined && earlierSummary !== '' && { earlierSummary }),
  }
  // As part of a longer range, whose note takes space as well.
  const empty = handoffPrompt('', { ...options, piece: { number: 1_000, of: 1_000 } })
  const overhead = countTokens(empty.system) + countTokens(empty.prompt) + request.tokensMax
  const space = new WriterSpace(windowTokens - overhead, overhead)
  const pieces = splitIntoPieces(texts, { tokensMax: space.tokens, countTokens })

  let done = 0
  let known = pieces.length
  const write = async (summaryRequest: SummaryRequest): Promise<SummaryReply> => {
    const reply = await request.write(summaryRequest, signal)
    done++
    const of = Math.max(done, known > 1 ? known + 1 : 1)
    request.onProgress?.({ stage: 'summary', done, of })
    return { ...reply, text: redact(cleanSummary(reply.text)) }
  }
  if (pieces.length <= 1) {
    const reply = await space.offer(() => write(handoffPrompt(pieces[0] ?? '', options)))
    if (reply !== undefined) return reply
  }

  const { earlierSummary: _, ...pieceOptions } = options
  // A quarter of the space each, so that every merge joins at least three and the number falls.
  const limited = () => ({
    ...pieceOptions,
    tokensMax: Math.min(request.tokensMax, Math.floor(space.tokens / 4)),
  })
  const writePiece = async (
    text: string,
    piece: { number: number; of: number },
  ): Promise<readonly SummaryReply[]> => {
    if (countTokens(text) <= space.tokens) {
      const reply = await space.offer(() => write(handoffPrompt(text, { ...limited(), piece })))
      if (reply !== undefined) return [reply]
    }
    const halves = splitIntoPieces([text], { tokensMax: space.tokens, countTokens })
    known += halves.length - 1
    const replies: SummaryReply[] = []
    for (const half of halves) replies.push(...(await writePiece(half, piece)))
    return replies
  }
  const writePieces = async (list: readonly string[]) => {
    const each = (text: string, index: number) =>
      writePiece(text, { number: index + 1, of: list.length })
    return (await mapInOrder(list, each)).flat()
  }
  let replies = await writePieces(pieces)
  for (;;) {
    const incomplete = replies.find((reply) => reply.finish !== 'stop' || reply.text === '')
    if (incomplete !== undefined) return incomplete
    const groups = groupWithin(
      replies.map((reply) => reply.text),
      space.tokens,
      countTokens,
    )
    const [only = []] = groups
    const merge = () =>
      groups.length === 1
        ? write(mergePrompt(only, options))
        : mapInOrder(groups, (group) => write(mergePrompt(group, limited())))
    const merged = await space.offer<SummaryReply | SummaryReply[]>(merge)
    // Too long even in small groups: each is shortened before they are merged again.
    if (merged === undefined) replies = await writePieces(replies.map((reply) => reply.text))
    else if (Array.isArray(merged)) replies = merged
    else return merged
  }
}

/** How much the writer can read at once, as far as known. It only falls. */
class WriterSpace {
  readonly #overhead: number
  #tokens: number

  constructor(tokens: number, overhead: number) {
    this.#tokens = Math.max(SPACE_TOKENS_MIN, tokens)
    this.#overhead = overhead
  }

  get tokens(): number {
    return this.#tokens
  }

  /**
   * The result of `run`; undefined if the input was too long for the writer. Then the limit falls
   * to what the writer reported, or to half. Rejects if a smaller limit is not worthwhile, so that
   * splitting ends.
   */
  async offer<Out>(run: () => Promise<Out>): Promise<Out | undefined> {
    const offered = this.#tokens
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof WriterOverflowError) || offered <= SPACE_TOKENS_MIN) throw error
      const limit = (error.limitTokens ?? Number.POSITIVE_INFINITY) - this.#overhead
      const less = Math.max(SPACE_TOKENS_MIN, Math.floor(limit < offered ? limit : offered / 2))
      this.#tokens = Math.min(this.#tokens, less)
      return undefined
    }
  }
}

/** Groups neighbours that fit together; at least two, even if a writer ignored its limit. */
function groupWithin(texts: readonly string[], tokensMax: number, countTokens: CountTokens) {
  const groups: string[][] = []
  let tokens = 0
  for (const text of texts) {
    const group = groups.at(-1)
    tokens += countTokens(text)
    if (group !== undefined && (group.length < 2 || tokens <= tokensMax)) group.push(text)
    else {
      groups.push([text])
      tokens = countTokens(text)
    }
  }
  return groups
}

/** Results in the order of the values. The first failure stops the rest from being started. */
async function mapInOrder<In, Out>(
  values: readonly In[],
  run: (value: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = []
  const entries = values.entries()
  let hasFailed = false
  const workers = Array.from({ length: PIECES_AT_ONCE }, async () => {
    for (const [index, value] of entries) {
      if (hasFailed) return
      try {
        results[index] = await run(value, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  })
  await Promise.all(workers)
  return results
}

/**
 * Models often write more than requested. Such a summary is not discarded: its writer shortens it
 * once, and if it is still too long it is cut between its points.
 */
export interface Fitting extends CutOptions {
  /** Asks the writer for a shorter version of its own text; may reject. */
  readonly shorten: (text: string) => Promise<SummaryReply>
  readonly signal?: AbortSignal | undefined
}

export interface FittedReply extends SummaryReply {
  readonly isCut?: true
  /** Why a given summary does not read like one. */
  readonly fault?: SummaryFault
}

/** Rejects only when `signal` aborts: a failed request to shorten leaves the text to be cut. */
export async function fitSummary(reply: SummaryReply, fitting: Fitting): Promise<FittedReply> {
  const { tokensMax, countTokens } = fitting
  if (reply.finish !== 'stop' || countTokens(reply.text) <= tokensMax) return reply
  const shorter = await askForLess(reply, fitting)
  const best = shorter ?? reply
  if (countTokens(best.text) <= tokensMax) return best
  return { ...best, text: cutSummary(best.text, fitting), isCut: true }
}

/** "Certainly!" is not a summary; a text this far below its limit was not made by shortening. */
const SHARE_MIN = 0.1

async function askForLess(
  reply: SummaryReply,
  { tokensMax, countTokens, shorten, signal }: Fitting,
): Promise<SummaryReply | undefined> {
  try {
    const shorter = await shorten(reply.text)
    const tokens = countTokens(shorter.text)
    const isUsable = tokens >= tokensMax * SHARE_MIN && tokens < countTokens(reply.text)
    return shorter.finish === 'stop' && isUsable ? { ...reply, ...shorter } : undefined
  } catch {
    signal?.throwIfAborted()
    return undefined
  }
}
