import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import type { Counters } from '../counters.ts'
import { writeDigest } from '../digest.ts'
import { judgeSummary } from '../judge/judge-summary.ts'
import { headNumbers } from '../layout.ts'
import { type Budget, handoffTokensOf } from '../plan/budget.ts'
import { ENVELOPE_TOKENS } from '../plan/defaults.ts'
import type { CompactPlan } from '../plan/plan.ts'
import { preserveUserMessages, TITLE_TOKENS } from '../plan/preserve.ts'
import { redact } from '../redact/redact.ts'
import { shortenPrompt } from './prompt.ts'
import {
  type FittedReply,
  fitSummary,
  type SummarizeRequest,
  SummaryFailedError,
  type SummaryReply,
  type SummaryWriter,
  summarize,
} from './summarize.ts'

/** The summary of a compaction: the given one, a writer's, or the digest, which needs no model. */
export interface SummaryWork {
  readonly messages: readonly Message[]
  readonly plan: CompactPlan
  readonly budget: Budget
  readonly counters: Counters
  /** The handoff that the new one replaces. */
  readonly earlier?: Handoff
  /** A given summary, unwrapped and with secrets masked. */
  readonly summary?: string | undefined
  readonly summarize?: SummaryWriter
  readonly focus?: string
  /** Replaces the built-in instructions to the writer. */
  readonly prompt?: string
  readonly signal?: AbortSignal
  readonly onProgress?: SummarizeRequest['onProgress']
}

export interface FittedSummary {
  readonly reply: FittedReply
  readonly by: Handoff['by']
  /** It is longer than its share: the other sections give way to it. */
  readonly isLong: boolean
  /** The budget of all sections, and the part of it that open requests always keep. */
  readonly sectionTokens: number
  readonly openTokens: number
}

/**
 * The request is for slightly less than the limit: writers count in their own tokens, not in ours.
 */
const ASKED_SHARE = 0.8

/** The other sections give up to this share of their space to an overlong summary. */
const GIVEN_SHARE = 0.5

/** Rejects if the writer does. */
export async function writeSummary(given: SummaryWork): Promise<FittedSummary> {
  const { messages, plan, summarize: writer } = given
  const { allotment, cut } = plan
  const work =
    writer === undefined
      ? given
      : { ...given, summarize: judgedWriter(writer, messages.slice(0, cut)) }
  const by = work.summary !== undefined ? 'given' : work.summarize ? 'model' : 'digest'
  const reply = await write(work)
  if (by !== 'model' || work.counters.countTokens(reply.text) <= allotment.summary) {
    const sectionTokens = handoffTokensOf(allotment) - ENVELOPE_TOKENS
    return { reply, by, isLong: false, sectionTokens, openTokens: 0 }
  }
  const { summaryTokens, ...space } = spaceForLong(work)
  return { reply: await shorten(reply, work, summaryTokens), by, isLong: true, ...space }
}

async function write(work: SummaryWork): Promise<SummaryReply> {
  const { messages, plan, budget, counters, earlier, summary, summarize: writer } = work
  const { layout, cut, allotment } = plan
  if (summary !== undefined) return { text: summary, finish: 'stop' }
  const shared = {
    head: messages.slice(layout.headFrom, cut),
    numberOf: headNumbers(layout),
    countTokens: counters.countTokens,
  }
  if (writer === undefined) {
    const text = writeDigest({
      ...shared,
      ...(earlier !== undefined && { previous: earlier }),
      tokensMax: allotment.summary,
    })
    return { text: redact(text), finish: 'stop' }
  }
  return await summarize({
    ...shared,
    ...(earlier !== undefined && { earlier }),
    tokensMax: Math.floor(allotment.summary * ASKED_SHARE),
    windowTokens: budget.settings.summarizerWindowTokens ?? budget.settings.windowTokens,
    write: writer,
    signal: work.signal ?? new AbortController().signal,
    ...(work.focus !== undefined && { focus: work.focus }),
    ...(work.prompt !== undefined && { instructions: work.prompt }),
    ...(work.onProgress !== undefined && { onProgress: work.onProgress }),
  })
}

function spaceForLong({ messages, plan, counters, earlier }: SummaryWork) {
  const { layout, cut, allotment } = plan
  const { countMessage } = counters
  const kept = preserveUserMessages({
    messages,
    plan: { ...plan, allotment: { ...allotment, user: 0 } },
    ...(earlier !== undefined && { earlier }),
    ...counters,
  })
  const openTokens = kept.messages.reduce(
    (sum, { message }) => sum + countMessage(message) + TITLE_TOKENS,
    0,
  )
  // A handoff must be smaller than what it covers.
  const covered = messages
    .slice(layout.fixedTo, cut)
    .reduce((sum, message) => sum + countMessage(message), 0)
  const all = handoffTokensOf(allotment)
  const sectionTokens = Math.min(all, covered - 1) - ENVELOPE_TOKENS
  const others = Math.floor((all - allotment.summary) * (1 - GIVEN_SHARE))
  const most = sectionTokens - openTokens
  const summaryTokens = Math.max(0, Math.min(most, Math.max(allotment.summary, most - others)))
  return { sectionTokens, openTokens, summaryTokens }
}

async function shorten(
  reply: SummaryReply,
  { plan, counters, summarize: writer, focus, signal = new AbortController().signal }: SummaryWork,
  tokensMax: number,
): Promise<FittedReply> {
  const { layout, cut } = plan
  if (writer === undefined) return reply
  return await fitSummary(reply, {
    tokensMax,
    countTokens: counters.countTokens,
    shorten: async (text) => {
      const limit = { tokensMax: Math.floor(tokensMax * ASKED_SHARE), ...(focus && { focus }) }
      return await writer(shortenPrompt(text, limit), signal)
    },
    signal,
    covers: headNumbers(layout)(cut - layout.headFrom - 1),
  })
}

/** How often a writer without its own next try is asked. */
const TRIES_MAX = 2

/**
 * Wraps the writer and checks each reply: one that is not a summary leads to the next try, and to
 * `SummaryFailedError` after the last. Masks secrets. `range` is what the summary covers.
 */
function judgedWriter(write: SummaryWriter, range: readonly Message[]): SummaryWriter {
  return async (request, signal) => {
    const { ask, piece, shortens } = request
    // A piece and a shortened summary are judged by form: they need not mention the whole range.
    const isPiece = piece !== undefined || shortens === true
    let spare: SummaryReply | undefined
    let reply = await write(request, signal)
    for (let tries = 1; ; tries++) {
      const { next, ...bare } = reply
      const { text, fault } = judgeSummary(reply.text, { range, ask, isPiece })
      const read = { ...bare, text: redact(text) }
      // The caller refuses an incomplete reply.
      if (fault === undefined || reply.finish !== 'stop') return read
      // Better in another language than not at all.
      if (fault === 'other-language') spare ??= read
      const failed = new SummaryFailedError(`unusable:${fault}`)
      try {
        if (next !== undefined) reply = await next(fault)
        else if (tries < TRIES_MAX && shortens !== true) reply = await write(request, signal)
        else throw failed
      } catch (error) {
        if (spare === undefined || signal.aborted) throw error
        return spare
      }
    }
  }
}
