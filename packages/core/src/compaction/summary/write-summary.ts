import type { Message } from '../../message/message.ts'
import { judgeSummary } from '../judge/judge-summary.ts'
import { headNumbers } from '../layout.ts'
import { handoffTokensOf } from '../plan/budget.ts'
import { ENVELOPE_TOKENS } from '../plan/defaults.ts'
import { preserveUserMessages, TITLE_TOKENS } from '../plan/preserve.ts'
import { redact } from '../redact/redact.ts'
import { cleanSummary } from './clean-summary.ts'
import { fitting, type SummaryWork, type WriteSummary } from './digest-summary.ts'
import { shortenPrompt } from './prompt.ts'
import { type FittedReply, fitSummary, summarize } from './summarize.ts'
import { SummaryFailedError, type SummaryReply, type SummaryWriter } from './summary-writer.ts'

/**
 * The request is for slightly less than the limit: writers count in their own tokens, not in ours.
 */
const ASKED_SHARE = 0.8

/** The other sections give up to this share of their space to an overlong summary. */
const GIVEN_SHARE = 0.5

/**
 * Has the writer summarize, judges each of its answers, and has what is too long shortened. Rejects if
 * the writer does.
 */
export function askWriter(writer: SummaryWriter): WriteSummary {
  return async (work) => {
    const { messages, plan, counters } = work
    const write = judgedWriter(writer, messages.slice(0, plan.cut))
    const reply = await askForAll(work, write)
    if (counters.countTokens(reply.text) <= plan.allotment.summary)
      return fitting(plan, reply, 'model')
    const { summaryTokens, ...space } = spaceForLong(work)
    const shorter = await shorten(reply, work, write, summaryTokens)
    return { reply: shorter, by: 'model', isLong: true, ...space }
  }
}

/** A given summary as it is used: unwrapped, and with secrets masked. */
export function readGiven(text: string): string {
  return redact(cleanSummary(text))
}

/** A summary written elsewhere. It is used unchanged; `fault` says whether it reads like one. */
export function takeGiven(text: string): WriteSummary {
  return async ({ messages, plan }) => {
    const { fault } = judgeSummary(text, { range: messages.slice(0, plan.cut) })
    const reply = { text, finish: 'stop', ...(fault !== undefined && { fault }) } as const
    return fitting(plan, reply, 'given')
  }
}

async function askForAll(work: SummaryWork, write: SummaryWriter): Promise<SummaryReply> {
  const { messages, plan, budget, counters, earlier } = work
  const { layout, cut, allotment } = plan
  return await summarize({
    head: messages.slice(layout.headFrom, cut),
    numberOf: headNumbers(layout),
    countTokens: counters.countTokens,
    ...(earlier !== undefined && { earlier }),
    tokensMax: Math.floor(allotment.summary * ASKED_SHARE),
    windowTokens: budget.settings.summarizerWindowTokens ?? budget.settings.windowTokens,
    write,
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
  { plan, counters, focus, signal = new AbortController().signal }: SummaryWork,
  write: SummaryWriter,
  tokensMax: number,
): Promise<FittedReply> {
  const { layout, cut } = plan
  return await fitSummary(reply, {
    tokensMax,
    countTokens: counters.countTokens,
    shorten: async (text) => {
      const limit = { tokensMax: Math.floor(tokensMax * ASKED_SHARE), ...(focus && { focus }) }
      return await write(shortenPrompt(text, limit), signal)
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
