import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assistant,
  handoff,
  system,
  toolCall,
  toolResult,
  turns,
  user,
} from '../../../../../test/support/builders.ts'
import { conversation } from '../../../../../test/support/generators.ts'
import type { Message } from '../../message/message.ts'
import { alignBack } from '../../message/pairing.ts'
import { estimateMessage } from '../../tokens/estimate.ts'
import { measure } from '../../tokens/measure.ts'
import { resolveBudget } from './budget.ts'
import type { BudgetSettings, PresetName } from './defaults.ts'
import { type CompactPlan, type Plan, type PlanRequest, plan } from './plan.ts'

type Options = Partial<PlanRequest> & { settings?: Partial<BudgetSettings>; preset?: PresetName }

function planOf(messages: readonly Message[], options: Options = {}): Plan {
  const { settings, preset, ...request } = options
  return plan(
    measure(messages, (message) => estimateMessage(message, 'generic')),
    { budget: resolveBudget(settings, preset), trigger: 'manual', when: 'always', ...request },
  )
}

function compactPlanOf(messages: readonly Message[], options: Options = {}): CompactPlan {
  const planned = planOf(messages, options)
  if (planned.kind !== 'compact') throw new Error(`planned ${planned.kind}: ${planned.reason}`)
  return planned
}

const huge = 'x y '.repeat(40_000)

describe('plan', () => {
  it('keeps a conversation below the threshold, if it compacts only when needed', () => {
    expect(planOf(turns(20), { when: 'needed' })).toMatchObject({ kind: 'keep', reason: 'fits' })
  })

  it('compacts a conversation above the threshold, and gives that as the reason', () => {
    const options = { when: 'needed', settings: { windowTokens: 4_000 } } as const
    expect(planOf(turns(13), options)).toMatchObject({ kind: 'compact', reason: 'over-threshold' })
    expect(planOf(turns(60), options)).toMatchObject({ kind: 'compact', reason: 'over-hard-limit' })
  })

  it('counts the overhead that is sent with the messages', () => {
    const options = { when: 'needed', settings: { windowTokens: 20_000 } } as const
    expect(planOf(turns(40), options).kind).toBe('keep')
    expect(planOf(turns(40), { ...options, overheadTokens: 5_000 })).toMatchObject({
      kind: 'compact',
    })
  })

  it('compacts even a conversation that fits if a person requests it', () => {
    const messages = turns(20)
    const { cut } = compactPlanOf(messages)
    expect(cut).toBeGreaterThan(messages.length / 2)
  })

  it('has nothing to cut in a short conversation', () => {
    expect(planOf([user('hi'), assistant('hello')])).toMatchObject({ reason: 'nothing-to-cut' })
    expect(planOf([])).toMatchObject({ kind: 'keep', reason: 'nothing-to-cut' })
    expect(planOf([system('be kind')])).toMatchObject({ kind: 'keep', reason: 'nothing-to-cut' })
  })

  it('keeps a tool result with its call, both ways [S16]', () => {
    fc.assert(
      fc.property(conversation(), fc.integer({ min: 0, max: 3_000 }), (messages, keepTokens) => {
        const planned = planOf(messages, { settings: { keepTokens, windowTokens: 6_000 } })
        if (planned.kind !== 'compact') return
        expect(alignBack(messages, planned.cut)).toBe(planned.cut)
        expect(planned.cut).toBeLessThanOrEqual(messages.length)
      }),
    )
  })

  it('keeps no tail but the newest request with a keep of 0', () => {
    const messages = [...turns(20), user('and now?')]
    expect(compactPlanOf(messages, { settings: { keepTokens: 0 } }).cut).toBe(messages.length - 1)
  })

  it('keeps no tail but the last calls and their results while a turn is running', () => {
    const messages = [
      ...turns(20),
      user('and now?'),
      toolCall('x'),
      toolResult('x', 'first'),
      toolCall('y'),
      toolResult('y', 'second'),
    ]
    expect(compactPlanOf(messages, { settings: { keepTokens: 0 } }).cut).toBe(messages.length - 2)
  })

  it('keeps no tail at all with a keep of 0 when nothing is open', () => {
    const messages = turns(20)
    expect(compactPlanOf(messages, { settings: { keepTokens: 0 } }).cut).toBe(messages.length)
  })

  it('makes space for a given summary, or reports that it is too large', () => {
    const messages = [
      ...turns(20),
      user('go'),
      toolCall('x'),
      toolResult('x', 'row '.repeat(2_000)),
    ]
    const settings = { targetTokens: 3_000 }
    const planned = compactPlanOf(messages, { settings, summaryTokens: 2_000 })
    expect(planned.allotment.summary).toBe(2_000)
    expect(planned.clipTokens).toBeLessThan(1_000)
    expect(planOf(messages, { settings, summaryTokens: 3_001 })).toMatchObject({
      kind: 'cannot-fit',
      reason: 'summary-too-large',
    })
  })

  it('holds the incoming request back in preflight [S10]', () => {
    const messages = [...turns(20), user('the new one')]
    const planned = compactPlanOf(messages, { trigger: 'preflight' })
    expect(planned.incoming).toBe(messages.length - 1)
    expect(compactPlanOf(messages).incoming).toBe(messages.length)
  })

  it('protects the first and the last messages as Hermes does', () => {
    const messages = [system('s'), ...turns(40)]
    const planned = compactPlanOf(messages, {
      preset: 'hermes',
      settings: { windowTokens: 30_000 },
    })
    expect(planned.layout).toMatchObject({ fixedTo: 4, headFrom: 4, firstNumber: 4 })
    expect(planned.cut).toBeLessThanOrEqual(messages.length - 20)
  })

  it('gives up protected first messages that leave no room', () => {
    const messages = [system('s'), user(huge), ...turns(40)]
    const planned = compactPlanOf(messages, {
      preset: 'hermes',
      settings: { windowTokens: 30_000 },
    })
    expect(planned.layout.fixedTo).toBe(1)
  })

  it('keeps no tail as Codex does', () => {
    const messages = [...turns(40), user('next')]
    expect(compactPlanOf(messages, { preset: 'codex' }).cut).toBe(messages.length - 1)
  })

  it('clips a tail that alone exceeds the budget rather than giving up', () => {
    const messages = [...turns(10), user('show it'), toolCall('big'), toolResult('big', huge)]
    const planned = compactPlanOf(messages, { settings: { windowTokens: 10_000 } })
    expect(planned.clipTokens).toBeGreaterThan(100)
    expect(planned.clipTokens).toBeLessThan(3_000)
  })

  it('finds something to compact in a short but huge conversation', () => {
    const messages = [user('show it'), toolCall('big'), toolResult('big', huge)]
    const planned = compactPlanOf(messages, { settings: { windowTokens: 10_000 } })
    expect(planned).toMatchObject({ cut: 0 })
    expect(planned.clipTokens).toBeGreaterThan(100)
  })

  it('keeps its own result', () => {
    const tail = turns(3)
    const compacted = [system('s'), handoff({ covers: 80, kept: tail.length }), ...tail]
    expect(planOf(compacted)).toMatchObject({ kind: 'keep', reason: 'already-compacted' })
  })

  it('numbers messages on from what the earlier handoff covers', () => {
    const messages = [system('s'), handoff({ covers: 80, kept: 2 }), ...turns(20)]
    expect(compactPlanOf(messages).layout).toEqual({
      fixedTo: 1,
      handoffAt: 1,
      headFrom: 2,
      firstNumber: 81,
    })
  })

  it('gives the reason if nothing can make the conversation fit', () => {
    const settings = { windowTokens: 4_000 }
    expect(planOf([system(huge), ...turns(5)], { settings })).toMatchObject({
      kind: 'cannot-fit',
      reason: 'fixed-part-too-large',
    })
    expect(planOf([...turns(9), user(huge)], { settings, trigger: 'preflight' })).toMatchObject({
      kind: 'cannot-fit',
      reason: 'newest-message-too-large',
    })
  })

  it('leaves room for the handoff beside the tail', () => {
    fc.assert(
      fc.property(
        conversation(),
        fc.integer({ min: 2_000, max: 60_000 }),
        fc.integer({ min: 0, max: 30_000 }),
        (messages, windowTokens, keepTokens) => {
          const planned = planOf(messages, { settings: { windowTokens, keepTokens } })
          if (planned.kind !== 'compact') return
          const parts = Object.values(planned.allotment).reduce((sum, tokens) => sum + tokens, 0)
          expect(parts).toBeLessThanOrEqual(planned.targetTokens)
        },
      ),
    )
  })
})
