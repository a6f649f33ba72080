import { type ProviderDialect, violationsOf } from '../message/dialects/provider-dialect.ts'
import { renderFor } from '../message/dialects/render.ts'
import type { Message, SystemMessage } from '../message/message.ts'
import type { Counters } from './counters.ts'
import type { CompactPlan } from './plan/plan.ts'
import { findSecrets } from './redact/redact.ts'
import type { SummaryReply } from './summary/summary-writer.ts'

/**
 * Whether a finished compaction may be installed. It trusts none of the code that made it: sizes
 * are counted again, the result is rendered for each provider and checked against that provider's
 * rules, and parts that must not change are compared. A violation names its law (docs/glossary.md,
 * "laws").
 */
export interface CompactionVerdict {
  readonly ok: boolean
  readonly violations: readonly LawViolation[]
}

export type Law = 'I13' | 'I14' | 'I15' | 'I16' | 'I17' | 'I18' | 'I34'

export interface LawViolation {
  readonly law: Law
  readonly detail: string
}

export interface CheckRequest extends Counters {
  readonly before: readonly Message[]
  readonly after: readonly Message[]
  readonly plan: CompactPlan
  readonly hardTokens: number
  /** The providers that the next request may go to. */
  readonly dialects: readonly ProviderDialect[]
  /** Tokens that are sent beside the messages. */
  readonly overheadTokens?: number
  readonly pins: readonly SystemMessage[]
  /** How the writer ended; absent for a digest. */
  readonly finish?: SummaryReply['finish']
  readonly summaryTokensMax: number
}

/** Every law that the result breaks. Never throws. */
export function check(request: CheckRequest): CompactionVerdict {
  const violations = [
    ...checkSummary(request),
    ...checkShrink(request),
    ...checkForm(request),
    ...checkPins(request),
    ...checkRank(request),
    ...checkSecrets(request),
    ...checkOpen(request),
  ]
  return { ok: violations.length === 0, violations }
}

function checkShrink({
  before,
  after,
  plan,
  hardTokens,
  overheadTokens = 0,
  countMessage,
}: CheckRequest): LawViolation[] {
  const total = after.reduce((sum, message) => sum + countMessage(message), overheadTokens)
  const violations: LawViolation[] = []
  const say = (detail: string) => violations.push({ law: 'I13', detail })
  if (total > hardTokens) say(`the result has ${total} tokens, the model takes ${hardTokens}`)
  if (total > plan.targetTokens) {
    say(`the result has ${total} tokens, the target is ${plan.targetTokens}`)
  }
  const handoff = after.find((message) => message.role === 'handoff')
  if (handoff === undefined || plan.cut === plan.layout.headFrom) return violations
  const tokens = countMessage(handoff)
  const covered = coveredUpTo(tokens, before, plan, countMessage)
  if (covered <= tokens)
    say(`the handoff has ${tokens} tokens, the messages it covers have ${covered}`)
  return violations
}

/** Counts the covered messages only until they exceed `tokens`, which is usually soon. */
export function coveredUpTo(
  tokens: number,
  before: readonly Message[],
  { layout, cut }: CompactPlan,
  countMessage: Counters['countMessage'],
): number {
  let covered = 0
  for (let index = layout.fixedTo; index < cut && covered <= tokens; index++) {
    const message = before[index]
    if (message !== undefined) covered += countMessage(message)
  }
  return covered
}

function checkSummary(request: CheckRequest): LawViolation[] {
  const { after, plan, finish, summaryTokensMax, countTokens } = request
  if (plan.cut === plan.layout.headFrom) return []
  const violations: LawViolation[] = []
  const say = (detail: string) => violations.push({ law: 'I14', detail })
  const handoff = after.find((message) => message.role === 'handoff')?.handoff
  if (finish !== undefined && finish !== 'stop') say(`the summary ended with "${finish}"`)
  if (handoff === undefined || handoff.summary.trim() === '') say('the summary is empty')
  else {
    const tokens = countTokens(handoff.summary)
    if (tokens > summaryTokensMax) {
      say(`the summary has ${tokens} tokens, its budget is ${summaryTokensMax}`)
    }
  }
  return violations
}

/** Checks the rules of every provider that the next request may go to. */
function checkForm({ before, after, plan, dialects }: CheckRequest): LawViolation[] {
  const violations = dialects.flatMap((dialect) =>
    violationsOf(dialect, renderFor(dialect, after)).map(
      ({ rule, at, detail }): LawViolation => ({
        law: 'I15',
        detail: `${dialect.name}: ${rule} at ${at}: ${detail}`,
      }),
    ),
  )
  const [lastBefore, lastAfter] = [before.at(-1), after.at(-1)]
  const hasTail = plan.cut < before.length
  if (hasTail && lastBefore?.role !== lastAfter?.role) {
    violations.push({ law: 'I15', detail: 'the newest message is not last' })
  }
  return violations
}

function checkPins({ before, after, plan, pins }: CheckRequest): LawViolation[] {
  const must = [
    ...before.filter((message) => message.role === 'system'),
    ...before.slice(0, plan.layout.fixedTo),
    ...pins,
  ]
  // Usually the same object; only others are compared byte for byte.
  const same = new Set(after)
  const others = must.filter((message) => !same.has(message))
  if (others.length === 0) return []
  const kept = new Set(after.map((message) => JSON.stringify(partsOf(message))))
  return others
    .filter((message) => !kept.has(JSON.stringify(partsOf(message))))
    .map((message) => ({ law: 'I16', detail: `a ${message.role} message that must stay changed` }))
}

function partsOf(message: Message) {
  return message.role === 'handoff' ? message.handoff : message.parts
}

function checkRank({ before, after, pins }: CheckRequest): LawViolation[] {
  const violations: LawViolation[] = []
  const systems = (messages: readonly Message[]) =>
    new Set(messages.filter(({ role }) => role === 'system').map((m) => JSON.stringify(partsOf(m))))
  const known = systems([...before, ...pins])
  for (const text of systems(after)) {
    if (!known.has(text)) violations.push({ law: 'I18', detail: 'a system message was made up' })
  }
  if (after.filter((message) => message.role === 'handoff').length > 1) {
    violations.push({ law: 'I18', detail: 'more than one handoff' })
  }
  return violations
}

/** Every unanswered request is in the result, unchanged. */
function checkOpen({ before, after, plan }: CheckRequest): LawViolation[] {
  const kept = new Set(after)
  const lost = (plan.open ?? []).find((index) => !kept.has(before[index] as Message))
  if (lost === undefined) return []
  return [{ law: 'I34', detail: `the unanswered message at ${lost} is not in the result` }]
}

function checkSecrets({ after, plan }: CheckRequest): LawViolation[] {
  if (plan.cut === plan.layout.headFrom) return []
  const handoff = after.find((message) => message.role === 'handoff')?.handoff
  if (handoff === undefined) return []
  // One by one, so that a flag and the next word of the ledger do not look like a secret together.
  const texts = {
    summary: [handoff.summary],
    rules: (handoff.rules ?? []).map((rule) => rule.text),
    host: (handoff.host ?? []).map((block) => block.text),
    ledger: handoff.ledger.map((entry) => entry.text),
    files: handoff.files.map((file) => file.path),
    tasks: handoff.tasks.map((task) => task.text),
  }
  return Object.entries(texts).flatMap(([name, list]) =>
    list.flatMap(findSecrets).map(({ kind }) => ({
      law: 'I17',
      detail: `a secret (${kind}) in the ${name}`,
    })),
  )
}
