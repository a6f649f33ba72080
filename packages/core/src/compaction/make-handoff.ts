import type { Handoff, Task } from '../message/handoff/handoff.ts'
import { writeRules } from '../message/handoff/rules-text.ts'
import type { Message } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import { clipTail, openOf } from './assemble.ts'
import type { CountTokens } from './counters.ts'
import { type FilledHandoff, fillHandoff } from './fill-handoff.ts'
import { type HandoffWork, yieldTurn } from './handoff-work.ts'
import { headNumbers, type Layout } from './layout.ts'
import { keepHostBlocks } from './own-words/keep-host-blocks.ts'
import { handoffTokensOf } from './plan/budget.ts'
import { collectFiles } from './plan/files.ts'
import type { CompactPlan } from './plan/plan.ts'
import { TITLE_TOKENS } from './plan/preserve.ts'
import { findTasks } from './plan/tasks.ts'
import { redact } from './redact/redact.ts'
import { findRules } from './rules/find-rules.ts'
import { keepRules, type SaidRules } from './rules/keep-rules.ts'
import type { FittedSummary } from './summary/digest-summary.ts'

export interface MadeHandoff extends FilledHandoff {
  readonly reply: FittedSummary['reply']
}

/** The sections beside the summary, and the handoff that contains them all. */
export async function makeHandoff(
  work: HandoffWork,
  { reply, by, isLong, sectionTokens, openTokens }: FittedSummary,
): Promise<MadeHandoff> {
  const { messages, plan, counters, earlier, timings } = work
  const { layout, cut, allotment } = plan
  const numberOf = headNumbers(layout)
  const { countTokens } = counters
  const head = messages.slice(layout.headFrom, cut)
  const open = openOf({ messages, plan })
  const tail = [...open, ...clipTail({ messages, plan, ...counters })]
  const shared = { head, numberOf, countTokens }
  await yieldTurn(work)
  timings?.lap('summary')

  let left = sectionTokens - openTokens - countTokens(reply.text)
  const giveWay = isLong ? Math.max(0, left) / (handoffTokensOf(allotment) - allotment.summary) : 1
  const take = (tokens: number) => {
    const taken = Math.max(0, Math.min(Math.floor(tokens * Math.min(1, giveWay)), left))
    left -= taken
    return taken
  }
  // Rules never give way to an overlong summary.
  const kept = { ...shared, ...(earlier !== undefined && { earlier }) }
  const share = (part: number, tokensMax: number) =>
    Math.min(left, tokensMax, Math.floor(handoffTokensOf(allotment) * part))
  const said: SaidRules[] = []
  let charactersRead = 0
  for (const [index, message] of head.entries()) {
    if (message.role !== 'user') continue
    said.push({ message, number: numberOf(index), found: findRules(message) })
    charactersRead += textOf(message).length
    if (charactersRead < CHARACTERS_PER_YIELD) continue
    charactersRead = 0
    await yieldTurn(work)
  }
  const rules = keepRules({
    said,
    countTokens,
    tokensMax: share(RULES_SHARE, RULES_TOKENS_MAX),
    ...(earlier !== undefined && { earlier }),
  })
  left -= countTokens(writeRules(rules))
  await yieldTurn(work)
  const host = keepHostBlocks({ ...kept, tokensMax: share(HOST_SHARE, HOST_TOKENS_MAX) })
  left -= host.reduce((sum, { text }) => sum + countTokens(text) + TITLE_TOKENS, 0)
  await yieldTurn(work)
  const tasksTokens = take(allotment.tasks)
  // In a digest the ledger gives way to the user's words, unless the caller set its size.
  const givesWay = by === 'digest' && work.budget.settings.ledgerTokens === undefined
  const others = givesWay ? allotment.files + allotment.user : 0
  const ledgerTokens = take(Math.min(allotment.ledger, left - others))
  const filesTokens = take(allotment.files)
  const files = collectFiles({
    ...shared,
    earlier: earlier?.files ?? [],
    tokensMax: filesTokens,
  })
  const tasks = boundTasks(
    work.tasks ?? findTasks(messages) ?? earlier?.tasks ?? [],
    tasksTokens,
    countTokens,
  )
  await yieldTurn(work)
  timings?.lap('assemble')
  const made = await fillHandoff(
    work,
    {
      version: 1,
      by,
      covers: coveredNumber(layout, head.length, open.length),
      kept: tail.length,
      compactions: (earlier?.compactions ?? 0) + 1,
      preserved: [],
      tasks,
      files,
      ledger: [],
      summary: reply.text,
      ...(rules.length > 0 && { rules }),
      ...(host.length > 0 && { host }),
    },
    { tail, sectionTokens, openTokens, wordTokens: openTokens + left, ledgerTokens },
  )
  timings?.lap('ledger')
  return { ...made, reply }
}

/**
 * The newest message that the handoff covers. Positions continue after it, so open requests, which
 * stay in the context and are counted again, are left out; entry numbers never change.
 */
function coveredNumber(layout: Layout, covered: number, open: number): number {
  const isSession = layout.entries !== undefined
  return headNumbers(layout)(covered - 1 - (isSession ? 0 : open))
}

/** Share of the handoff: standing instructions are short and worth more than anything else. */
const RULES_SHARE = 0.15
const RULES_TOKENS_MAX = 1_500
const HOST_SHARE = 0.03
const HOST_TOKENS_MAX = 300

/** Looking for rules in this much takes about two milliseconds; a turn of the event loop takes microseconds. */
const CHARACTERS_PER_YIELD = 5_000

/**
 * The handoff that the plan replaces, with secrets masked, because a file may contain any handoff.
 */
export function earlierHandoff(
  messages: readonly Message[],
  { layout: { handoffAt } }: CompactPlan,
): { readonly earlier?: Handoff } {
  const at = handoffAt === undefined ? undefined : messages[handoffAt]
  return at?.role === 'handoff' ? { earlier: maskSecrets(at.handoff) } : {}
}

function maskSecrets(handoff: Handoff): Handoff {
  return {
    ...handoff,
    files: handoff.files.map((file) => ({ ...file, path: redact(file.path) })),
    ledger: handoff.ledger.map((entry) => ({ ...entry, text: redact(entry.text) })),
    summary: redact(handoff.summary),
    ...(handoff.rules && { rules: handoff.rules.map(maskText) }),
    ...(handoff.host && { host: handoff.host.map(maskText) }),
  }
}

function maskText<Item extends { readonly text: string }>(item: Item): Item {
  return { ...item, text: redact(item.text) }
}

/** Running tasks first; the list is the agent's own and rarely long, so it is simply cut. */
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
