import { writeLedger } from '../../message/handoff/ledger-text.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import type { Counters } from '../counters.ts'
import type { CompactPlan } from '../plan/plan.ts'

/** The tokens of a context by kind, for every display of it. */
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
    const { preserved, rules = [], tasks, files, ledger, summary } = message.handoff
    const own = [...preserved.map((each) => textOf(each.message)), ...rules.map(({ text }) => text)]
    const counts = new Map<ContextKind, number>([
      ['preserved', countTokens(own.join('\n'))],
      ['tasks', countTokens(tasks.map((task) => task.text).join('\n'))],
      ['files', countTokens(files.map((file) => file.path).join('\n'))],
      ['ledger', countTokens(writeLedger(ledger))],
    ])
    // In proportion, so that the parts add up to the whole, including the envelope's own text.
    const sum = counts.values().reduce((all, count) => all + count, countTokens(summary))
    let rest = total
    for (const [kind, count] of counts) {
      const share = Math.round((total * count) / Math.max(1, sum))
      add(kind, share)
      rest -= share
    }
    add('summary', rest)
  }
  return tokens
}
