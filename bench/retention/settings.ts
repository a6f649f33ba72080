import { compact } from '../../packages/core/src/compaction/compact.ts'
import type { CompactOptions } from '../../packages/core/src/compaction/compact-options.ts'
import { clearMessage } from '../../packages/core/src/compaction/plan/clear.ts'
import { normalize } from '../../packages/core/src/message/dialects/normalize.ts'
import { writeEnvelope } from '../../packages/core/src/message/handoff/envelope.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { repairPairs } from '../../packages/core/src/message/pairing.ts'
import { readConversation } from '../../packages/core/src/message/read.ts'
import { plainText } from '../../packages/core/src/message/text.ts'
import { writeConversation } from '../../packages/core/src/message/write.ts'
import { wordsOf } from './atoms.ts'
import { type Score, scoreOf } from './score.ts'
import type { Event } from './sessions.ts'

/** How a compaction is asked for, per event. */
export type Setting = (event: Event) => CompactOptions

/** The summary that was really written, all of it, and a ledger in what 5,000 tokens leave. */
export const SUMMARY_AND_LEDGER: Setting = (event) => ({
  summary: event.summary ?? '',
  budget: { keepTokens: 0, userTokens: 0, ledgerTokens: 504 },
})
export const DIGEST_AND_LEDGER: Setting = () => ({
  budget: { keepTokens: 0, targetTokens: 5_000 },
})
export const TAIL_AND_LEDGER: Setting = () => ({
  budget: { keepTokens: 9_000, ledgerTokens: 3_000, targetTokens: 15_000 },
})
export const DEFAULTS: Setting = () => ({})

export async function runSetting(
  events: readonly Event[],
  setting: Setting,
): Promise<{ score: Score; unchanged: number; results: readonly string[] }> {
  const results: string[] = []
  let unchanged = 0
  for (const event of events) {
    const compacted = await compactEvent(event.before, setting(event))
    if (compacted.outcome !== 'compacted') unchanged++
    results.push(contextText(compacted.messages))
  }
  return { score: scoreOf(events, results), unchanged, results }
}

/**
 * As users meet it: `compact FILE --format anthropic --window 200000 --keep-tokens 0 --target-tokens
 * N`. The history goes through the format, which forgets what programs wrote, and the target is
 * counted by our own estimate, which is above the measure's characters / 4.
 */
export async function runCommand(
  events: readonly Event[],
  targetTokens: number,
): Promise<{ score: Score; unchanged: number }> {
  const results: string[] = []
  let unchanged = 0
  for (const event of events) {
    const messages = normalize(repairPairs(event.before).messages, 'anthropic')
    const file = writeConversation({ format: 'anthropic', messages, notes: [] })
    const conversation = readConversation(file, 'anthropic')
    const budget = { windowTokens: 200_000, keepTokens: 0, targetTokens }
    const compacted = await compact(conversation.messages, { budget })
    if (compacted.outcome !== 'compacted') unchanged++
    results.push(contextText(compacted.messages))
  }
  return { score: scoreOf(events, results), unchanged }
}

/**
 * The history arrives in equal portions; each compaction works on the result of the one before.
 * `handoffTokens` is the mean size of the fixed part after each.
 */
export async function runSuccessive(
  events: readonly Event[],
  times: number,
): Promise<{ score: Score; handoffTokens: readonly number[] }> {
  const results: string[] = []
  const handoffTokens = new Array<number>(times).fill(0)
  for (const event of events) {
    let context: readonly Message[] = []
    for (let time = 0; time < times; time++) {
      const from = Math.floor((event.before.length * time) / times)
      const to = Math.floor((event.before.length * (time + 1)) / times)
      const messages = [...context, ...event.before.slice(from, to)]
      context = (await compactEvent(messages, DIGEST_AND_LEDGER(event))).messages
      const fixed = context.filter((message) => message.role === 'handoff')
      handoffTokens[time] = (handoffTokens[time] ?? 0) + tokensOf(fixed) / events.length
    }
    results.push(contextText(context))
  }
  return { score: scoreOf(events, results), handoffTokens }
}

/** The newest part that a clearing leaves whole, as in `TAIL_AND_LEDGER`. */
const WHOLE_TOKENS = 9_000

/**
 * Old tool results shortened to `tokensMax` each as a session clears them (decision 77), and beside it
 * a compaction of the same histories into the same size, each by itself.
 */
export async function runClearing(
  events: readonly Event[],
  tokensMax: number,
): Promise<{ readonly cleared: Ran; readonly compacted: Ran }> {
  const cleared = events.map(({ before }) => contextText(clearOld(before, tokensMax)))
  const compacted: string[] = []
  for (const [at, { before }] of events.entries()) {
    const targetTokens = Math.floor((cleared[at] ?? '').length / 4)
    const budget = { keepTokens: WHOLE_TOKENS, targetTokens }
    compacted.push(contextText((await compactEvent(before, { budget })).messages))
  }
  return {
    cleared: { score: scoreOf(events, cleared), results: cleared },
    compacted: { score: scoreOf(events, compacted), results: compacted },
  }
}

interface Ran {
  readonly score: Score
  readonly results: readonly string[]
}

function clearOld(messages: readonly Message[], tokensMax: number): readonly Message[] {
  let whole = 0
  const shown = messages.toReversed().map((message, index) => {
    whole += tokensOf([message])
    if (message.role !== 'tool' || whole <= WHOLE_TOKENS) return message
    return clearMessage(message, {
      tokensMax: tokensMax * message.parts.length,
      countTokens: (text) => Math.ceil(text.length / 4),
      number: messages.length - index,
    })
  })
  return shown.reverse()
}

/** Counted in the measure's own tokens, so that a limit and the table speak of the same thing. */
function compactEvent(messages: readonly Message[], options: CompactOptions) {
  return compact(messages, { countTokens: (text) => Math.ceil(text.length / 4), ...options })
}

function tokensOf(messages: readonly Message[]): number {
  return contextText(messages).length / 4
}

/** All that a model would read, the envelope included. */
function contextText(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      if (message.role !== 'handoff') return wordsOf(message)
      return plainText(writeEnvelope(message.handoff).parts)
    })
    .join('\n')
}
