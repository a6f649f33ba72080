import { assemble } from '../../packages/core/src/compaction/assemble.ts'
import { findLayout } from '../../packages/core/src/compaction/layout.ts'
import type { CompactPlan } from '../../packages/core/src/compaction/plan/plan.ts'
import { preserveUserMessages } from '../../packages/core/src/compaction/plan/preserve.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { alignBack } from '../../packages/core/src/message/pairing.ts'
import { textOf } from '../../packages/core/src/message/text.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const countMessage = (message: Message) => countTokens(textOf(message))

/**
 * The context after a compaction at exactly this cut, with the real alignment, preserved messages
 * and assembly. Only the summary is a stand-in, since its text does not decide whether a context is
 * legal. Undefined if there is no head to cover.
 */
export function compactAt(
  messages: readonly Message[],
  index: number,
): readonly Message[] | undefined {
  const layout = findLayout(messages, 0)
  const cut = alignBack(messages, index)
  if (cut <= layout.headFrom) return undefined
  const plan: CompactPlan = {
    kind: 'compact',
    reason: 'requested',
    trigger: 'manual',
    tokensBefore: 0,
    layout,
    cut,
    incoming: messages.length,
    targetTokens: Number.POSITIVE_INFINITY,
    allotment: { keep: 0, user: 2_000, ledger: 0, summary: 0, files: 0, tasks: 0 },
  }
  const at = layout.handoffAt === undefined ? undefined : messages[layout.handoffAt]
  const earlier = at?.role === 'handoff' ? at.handoff : undefined
  const counters = { countTokens, countMessage }
  const preserved = preserveUserMessages({
    messages,
    plan,
    ...(earlier !== undefined && { earlier }),
    ...counters,
  })
  const handoff = {
    version: 1,
    by: 'digest',
    covers: layout.firstNumber + cut - layout.headFrom - 1,
    kept: messages.length - cut,
    compactions: (earlier?.compactions ?? 0) + 1,
    preserved: preserved.messages,
    tasks: [],
    files: [],
    ledger: [],
    summary: 'Work went on.',
  } as const
  return assemble({ messages, plan, handoff, pins: [], ...counters })
}
