import { compact } from '../../packages/core/src/compaction/compact.ts'
import { writeEnvelope } from '../../packages/core/src/message/handoff/envelope.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import type { Scenario } from './scenarios.ts'

export const TARGET_TOKENS = 5_000

export interface Outcome {
  readonly scenario: Scenario
  /** Word for word in the last context. */
  readonly survived: boolean
  readonly isInSection: boolean
  /** Sentences in the section of rules that are none. */
  readonly wrong: readonly string[]
}

/** Every portion is compacted with the result so far. */
export async function measure(scenario: Scenario): Promise<Outcome> {
  let context: readonly Message[] = []
  for (const portion of scenario.portions) {
    const { messages } = await compact([...context, ...portion], {
      budget: { keepTokens: 0, targetTokens: TARGET_TOKENS },
      countTokens: (text) => Math.ceil(text.length / 4),
    })
    context = messages
  }
  const rules = context.flatMap((message) =>
    message.role === 'handoff' ? (message.handoff.rules ?? []) : [],
  )
  const text = context
    .map((message) => textOf(message.role === 'handoff' ? writeEnvelope(message.handoff) : message))
    .join('\n')
  const isInSection = rules.some((rule) => rule.text.includes(scenario.rule))
  return {
    scenario,
    survived: text.includes(scenario.rule),
    isInSection,
    wrong: scenario.others.filter((other) => rules.some((rule) => rule.text.includes(other))),
  }
}
