import type { Handoff } from '../message/handoff.ts'
import type { Message } from '../message/message.ts'
import type { CountTokens } from './counters.ts'
import { splitIntoPieces } from './pieces.ts'
import {
  cleanSummary,
  handoffPrompt,
  mergePrompt,
  type PromptOptions,
  quoteMessage,
  type SummaryRequest,
} from './prompt.ts'
import { redact } from './redact.ts'

/**
 * Has the head of a conversation summarised by a function handed in. The whole range is read: what
 * does not fit at once is summarised in pieces side by side and joined. The writer may throw; that
 * passes through, and nothing has changed.
 */
export type SummaryWriter = (request: SummaryRequest, signal: AbortSignal) => Promise<SummaryReply>

export interface SummaryReply {
  readonly text: string
  /** Anything but `stop` is an incomplete summary and is refused. */
  readonly finish: 'stop' | 'length' | 'content-filter' | 'error' | 'unknown'
}

/** Side by side, so that a long range takes little longer than one piece. */
const PIECES_AT_ONCE = 4

/** A window too small for its own instructions is given this much all the same: let it answer. */
const ROOM_TOKENS_MIN = 1_000

export interface SummarizeRequest extends PromptOptions {
  readonly head: readonly Message[]
  readonly firstNumber: number
  readonly earlier?: Handoff
  /** What the writer's model takes in one request. */
  readonly windowTokens: number
  readonly countTokens: CountTokens
  readonly write: SummaryWriter
  readonly signal: AbortSignal
  readonly onProgress?: (progress: { stage: 'summary'; done: number; of: number }) => void
}

/** The reply may be incomplete (`finish`): the caller judges it. Rejects as the writer does. */
export async function summarize(request: SummarizeRequest): Promise<SummaryReply> {
  const { head, firstNumber, earlier, windowTokens, countTokens, signal } = request
  const texts = head.map((message, index) => quoteMessage(message, firstNumber + index))
  const earlierSummary = earlier?.summary
  const options: PromptOptions & { earlierSummary?: string } = {
    tokensMax: request.tokensMax,
    ...(request.focus !== undefined && { focus: request.focus }),
    ...(request.instructions !== undefined && { instructions: request.instructions }),
    ...(earlierSummary !== undefined && earlierSummary !== '' && { earlierSummary }),
  }
  const empty = handoffPrompt('', options)
  const overhead = countTokens(empty.system) + countTokens(empty.prompt) + request.tokensMax
  const roomTokens = Math.max(ROOM_TOKENS_MIN, windowTokens - overhead)
  const pieces = splitIntoPieces(texts, { tokensMax: roomTokens, countTokens })

  let done = 0
  const write = async (summaryRequest: SummaryRequest): Promise<SummaryReply> => {
    const reply = await request.write(summaryRequest, signal)
    done++
    const of = Math.max(done, pieces.length > 1 ? pieces.length + 1 : 1)
    request.onProgress?.({ stage: 'summary', done, of })
    return { ...reply, text: redact(cleanSummary(reply.text)) }
  }
  if (pieces.length <= 1) return await write(handoffPrompt(pieces[0] ?? '', options))

  // A quarter of the room each, so that every merge joins at least three and the number falls.
  const { earlierSummary: _, ...pieceOptions } = options
  const pieceTokensMax = Math.min(request.tokensMax, Math.floor(roomTokens / 4))
  let replies = await mapInOrder(pieces, (piece, index) =>
    write(
      handoffPrompt(piece, {
        ...pieceOptions,
        tokensMax: pieceTokensMax,
        piece: { number: index + 1, of: pieces.length },
      }),
    ),
  )
  for (;;) {
    const incomplete = replies.find((reply) => reply.finish !== 'stop' || reply.text === '')
    if (incomplete !== undefined) return incomplete
    const groups = groupWithin(
      replies.map((reply) => reply.text),
      roomTokens,
      countTokens,
    )
    if (groups.length === 1) return await write(mergePrompt(groups[0] ?? [], options))
    replies = await mapInOrder(groups, (group) =>
      write(mergePrompt(group, { ...pieceOptions, tokensMax: pieceTokensMax })),
    )
  }
}

/** Neighbours together while they fit; at least two, also where a writer ignored its limit. */
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
