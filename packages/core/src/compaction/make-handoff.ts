import type { FileRecord, Handoff, LedgerEntry, Task } from '../message/handoff.ts'
import type { Message, SystemMessage } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import { clipTail, openOf } from './assemble.ts'
import type { CompactOptions } from './compact.ts'
import type { Counters, CountTokens } from './counters.ts'
import { writeDigest } from './digest.ts'
import { buildLedger } from './ledger/build.ts'
import { type Budget, handoffTokensOf } from './plan/budget.ts'
import { SECTION_TOKENS_MAX } from './plan/defaults.ts'
import { collectFiles } from './plan/files.ts'
import type { CompactPlan } from './plan/plan.ts'
import { type Preserved, preserveUserMessages, TITLE_TOKENS } from './plan/preserve.ts'
import { findTasks } from './plan/tasks.ts'
import { redact } from './redact/redact.ts'
import type { Stopwatch } from './report/stopwatch.ts'
import { cleanSummary, shortenPrompt } from './summary/prompt.ts'
import { type FittedReply, fitSummary, type SummaryReply, summarize } from './summary/summarize.ts'

/** What holds for one compaction from beginning to end. */
export interface Setting {
  readonly options: CompactOptions
  /** The given summary, unwrapped and with secrets masked. */
  readonly summary?: string
  readonly budget: Budget
  readonly pins: readonly SystemMessage[]
  readonly counters: Counters
  /** Gives way between two pieces of work, so that no process is held for the whole of it. */
  readonly breathe?: () => Promise<void>
}

/** The envelope's own words: header, preamble, section titles. */
export const ENVELOPE_TOKENS = 190

/** Asked for a little less than is accepted: writers count in their own tokens, not in ours. */
const ASKED_SHARE = 0.8

export interface Made {
  readonly handoff: Handoff
  readonly preserved: Preserved
  readonly reply: FittedReply
}

export async function makeHandoff(
  messages: readonly Message[],
  planned: CompactPlan,
  setting: Setting,
  timings: Stopwatch,
): Promise<Made> {
  const { options, counters, breathe } = setting
  const { layout, cut, allotment } = planned
  const { firstNumber } = layout
  const { countTokens } = counters
  const head = messages.slice(layout.headFrom, cut)
  const open = openOf({ messages, plan: planned })
  const tail = [...open, ...clipTail({ messages, plan: planned, ...counters })]
  const at = layout.handoffAt === undefined ? undefined : messages[layout.handoffAt]
  const earlier = at?.role === 'handoff' ? maskSecrets(at.handoff) : undefined
  const shared = { head, firstNumber, countTokens }

  const preserveWithin = (user: number) =>
    preserveUserMessages({
      messages,
      plan: { ...planned, allotment: { ...allotment, user } },
      ...(earlier !== undefined && { earlier }),
      ...counters,
    })
  const { reply: written, by } = await writeSummary(messages, planned, setting, earlier)
  const isLong = by === 'model' && countTokens(written.text) > allotment.summary
  const room = isLong
    ? roomForLong(messages, planned, counters, preserveWithin(0))
    : { tokens: handoffTokensOf(allotment) - ENVELOPE_TOKENS, open: 0, summary: allotment.summary }
  const reply = isLong ? await shortenSummary(written, planned, setting, room.summary) : written
  await breathe?.()
  timings.lap('summary')

  let left = room.tokens - room.open - countTokens(reply.text)
  const giveWay = isLong ? Math.max(0, left) / (handoffTokensOf(allotment) - allotment.summary) : 1
  const take = (tokens: number) => {
    const taken = Math.max(0, Math.min(Math.floor(tokens * Math.min(1, giveWay)), left))
    left -= taken
    return taken
  }
  const tasksTokens = take(allotment.tasks)
  const ledgerTokens = take(allotment.ledger)
  const filesTokens = take(allotment.files)
  // What the summary leaves over goes to the user's own words.
  const userTokens = Math.min(options.budget?.userTokens ?? SECTION_TOKENS_MAX.user, left)
  const preserved = preserveWithin(room.open + Math.max(0, userTokens))
  const files = collectFiles({
    ...shared,
    earlier: earlier?.files ?? [],
    tokensMax: filesTokens,
  })
  const tasks = boundTasks(
    options.tasks ?? findTasks(messages) ?? earlier?.tasks ?? [],
    tasksTokens,
    countTokens,
  )
  await breathe?.()
  timings.lap('assemble')
  const ledger = buildLedger({
    ...shared,
    previous: [...(earlier?.ledger ?? []), ...(earlier?.files ?? []).map(asEntry)],
    ...(earlier !== undefined && { earlierSummary: earlier.summary }),
    tokensMax: ledgerTokens,
    visible: [
      reply.text,
      ...preserved.messages.map((each) => textOf(each.message)),
      ...files.map((file) => file.path),
      ...tail.map((message) => textOf(message)),
    ],
  })
  timings.lap('ledger')
  return {
    handoff: {
      version: 1,
      by,
      covers: firstNumber + head.length - open.length - 1,
      kept: tail.length,
      compactions: (earlier?.compactions ?? 0) + 1,
      preserved: preserved.messages,
      tasks,
      files,
      ledger,
      summary: reply.text,
    },
    preserved,
    reply,
  }
}

async function writeSummary(
  messages: readonly Message[],
  { layout, cut, allotment }: CompactPlan,
  { options, summary, budget, counters }: Setting,
  earlier: Handoff | undefined,
): Promise<{ reply: SummaryReply; by: Handoff['by'] }> {
  if (summary !== undefined) return { reply: { text: summary, finish: 'stop' }, by: 'given' }
  const shared = {
    head: messages.slice(layout.headFrom, cut),
    firstNumber: layout.firstNumber,
    countTokens: counters.countTokens,
  }
  if (options.summarize === undefined) {
    const text = writeDigest({
      ...shared,
      ...(earlier !== undefined && { previous: earlier }),
      tokensMax: allotment.summary,
    })
    return { reply: { text: redact(text), finish: 'stop' }, by: 'digest' }
  }
  const reply = await summarize({
    ...shared,
    ...(earlier !== undefined && { earlier }),
    tokensMax: Math.floor(allotment.summary * ASKED_SHARE),
    windowTokens: budget.settings.summarizerWindowTokens ?? budget.settings.windowTokens,
    write: options.summarize,
    signal: options.signal ?? new AbortController().signal,
    ...(options.focus !== undefined && { focus: options.focus }),
    ...(options.prompt !== undefined && { instructions: options.prompt }),
    ...(options.onProgress !== undefined && { onProgress: options.onProgress }),
  })
  return { reply, by: 'model' }
}

interface Room {
  /** Of all sections together. */
  readonly tokens: number
  /** The part of it that open requests take; it is never reduced. */
  readonly open: number
  readonly summary: number
}

/** The other sections give up to this share of their room to an overlong summary. */
const GIVEN_SHARE = 0.5

function roomForLong(
  messages: readonly Message[],
  { layout, cut, allotment }: CompactPlan,
  { countMessage }: Counters,
  kept: Preserved,
): Room {
  const open = kept.messages.reduce(
    (sum, { message }) => sum + countMessage(message) + TITLE_TOKENS,
    0,
  )
  // A handoff must be smaller than what it covers.
  const covered = messages
    .slice(layout.fixedTo, cut)
    .reduce((sum, message) => sum + countMessage(message), 0)
  const all = handoffTokensOf(allotment)
  const tokens = Math.min(all, covered - 1) - ENVELOPE_TOKENS
  const others = Math.floor((all - allotment.summary) * (1 - GIVEN_SHARE))
  const summary = Math.min(tokens - open, Math.max(allotment.summary, tokens - open - others))
  return { tokens, open, summary: Math.max(0, summary) }
}

async function shortenSummary(
  reply: SummaryReply,
  { layout, cut }: CompactPlan,
  { options, counters: { countTokens } }: Setting,
  tokensMax: number,
): Promise<FittedReply> {
  const { summarize: write, focus, signal = new AbortController().signal } = options
  if (write === undefined) return reply
  const shorten = async (text: string) => {
    const limit = { tokensMax: Math.floor(tokensMax * ASKED_SHARE), ...(focus && { focus }) }
    const shorter = await write(shortenPrompt(text, limit), signal)
    return { ...shorter, text: redact(cleanSummary(shorter.text)) }
  }
  const covers = layout.firstNumber + cut - layout.headFrom - 1
  return await fitSummary(reply, { tokensMax, countTokens, shorten, signal, covers })
}

/** A handoff that was read from a file may have been written by anybody. */
function maskSecrets(handoff: Handoff): Handoff {
  return {
    ...handoff,
    files: handoff.files.map((file) => ({ ...file, path: redact(file.path) })),
    ledger: handoff.ledger.map((entry) => ({ ...entry, text: redact(entry.text) })),
    summary: redact(handoff.summary),
  }
}

/** A file that leaves the list of files is still a path that the agent has written. */
function asEntry(file: FileRecord): LedgerEntry {
  return { kind: 'path', text: file.path, count: 1, number: file.number }
}

/** Running ones first; the list is the agent's own and rarely long, so it is cut without ado. */
function boundTasks(tasks: readonly Task[], tokensMax: number, countTokens: CountTokens): Task[] {
  const kept: Task[] = []
  let left = tokensMax
  for (const task of tasks.toSorted((a, b) => b.status.localeCompare(a.status))) {
    const text = redact(task.text)
    left -= countTokens(text) + 4
    if (left < 0) break
    kept.push({ ...task, text })
  }
  return kept
}
