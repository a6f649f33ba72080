import { writeLedger } from '../message/ledger-text.ts'
import type { Message } from '../message/message.ts'
import type { CountTokens } from './clear.ts'
import type { CompactPlan } from './plan.ts'

/** What a context is made of, in tokens by kind: the figures behind every picture of it. */
export const CONTEXT_KINDS = [
  'system',
  'protected',
  'preserved',
  'tasks',
  'files',
  'ledger',
  'summary',
  'head',
  'tail',
  'incoming',
] as const

export type ContextKind = (typeof CONTEXT_KINDS)[number]

export type Breakdown = Readonly<Partial<Record<ContextKind, number>>>

export function breakDownBefore(
  messages: readonly Message[],
  plan: CompactPlan,
  counters: Counters,
): Breakdown {
  const { cut, incoming, layout } = plan
  return breakDown(messages, counters, (index) => {
    if (index < layout.headFrom) return 'protected'
    if (index < cut) return 'head'
    return index < incoming ? 'tail' : 'incoming'
  })
}

export function breakDownAfter(
  messages: readonly Message[],
  plan: CompactPlan & { readonly messagesBefore: number },
  counters: Counters,
): Breakdown {
  const tailFrom = messages.length - (plan.messagesBefore - plan.cut)
  const incomingFrom = messages.length - (plan.messagesBefore - plan.incoming)
  return breakDown(messages, counters, (index) => {
    if (index < tailFrom) return 'protected'
    return index < incomingFrom ? 'tail' : 'incoming'
  })
}

interface Counters {
  readonly countTokens: CountTokens
  readonly countMessage: (message: Message) => number
}

function breakDown(
  messages: readonly Message[],
  { countTokens, countMessage }: Counters,
  kindOf: (index: number) => ContextKind,
): Breakdown {
  const tokens: Partial<Record<ContextKind, number>> = {}
  const add = (kind: ContextKind, count: number) => {
    if (count > 0) tokens[kind] = (tokens[kind] ?? 0) + count
  }
  for (const [index, message] of messages.entries()) {
    const total = countMessage(message)
    if (message.role !== 'handoff') {
      add(message.role === 'system' ? 'system' : kindOf(index), total)
      continue
    }
    const { preserved, tasks, files, ledger } = message.handoff
    const parts = {
      preserved: preserved.reduce((sum, each) => sum + countMessage(each.message), 0),
      tasks: countTokens(tasks.map((task) => task.text).join('\n')),
      files: countTokens(files.map((file) => file.path).join('\n')),
      ledger: countTokens(writeLedger(ledger)),
    }
    // The summary takes the envelope's own words on itself, so that the parts add up to the whole.
    let rest = total
    for (const [kind, count] of Object.entries(parts) as [ContextKind, number][]) {
      add(kind, Math.min(count, rest))
      rest -= Math.min(count, rest)
    }
    add('summary', rest)
  }
  return tokens
}
