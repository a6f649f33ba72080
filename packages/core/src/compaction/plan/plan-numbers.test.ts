import { describe, expect, it } from 'vitest'
import {
  assistant,
  handoff,
  system,
  toolCall,
  toolResult,
  user,
} from '../../../../../test/support/builders.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import { measure } from '../../tokens/measure.ts'
import { resolveBudget } from './budget.ts'
import type { BudgetSettings } from './defaults.ts'
import { type PlanRequest, plan, planRange } from './plan.ts'

// Each message takes as many tokens as its text says, and a call 10. Of a window of 10,000 the limits
// are 9,000 (hard), 6,750 (soft), 3,150 (target) and 1,800 (tail).
const SETTINGS = { windowTokens: 10_000, outputTokensMax: 1_000 }

function planned(
  messages: readonly Message[],
  request: Partial<PlanRequest> = {},
  settings: Partial<BudgetSettings> = {},
) {
  const measured = measure(messages, (message) =>
    message.role === 'handoff' ? 500 : Number(/\d+/.exec(textOf(message))?.[0] ?? 10),
  )
  const budget = resolveBudget({ ...SETTINGS, ...settings })
  return plan(measured, { budget, trigger: 'background', when: 'needed', ...request })
}

const talk = (count: number, tokens = 100): readonly Message[] =>
  Array.from({ length: count }, (_, at) => (at % 2 ? assistant : user)(`${tokens}`))
const call = (id: string) => toolCall(id, {}, 'look')

const common = { kind: 'compact', trigger: 'background' }
const layout = { fixedTo: 1, headFrom: 1, firstNumber: 1 }

describe('a plan in numbers', () => {
  it('begins at its threshold and not one token before', () => {
    expect(planned([...talk(66), user('149')])).toEqual({
      ...{ kind: 'keep', reason: 'fits', tokensBefore: 6_749 },
    })
    expect(planned([...talk(66), user('150')])).toMatchObject({
      ...{ kind: 'compact', reason: 'over-threshold', tokensBefore: 6_750 },
    })
    expect(planned([...talk(66), user('100')], { overheadTokens: 50 })).toMatchObject({
      ...{ kind: 'compact', reason: 'over-threshold', tokensBefore: 6_750 },
    })
  })

  it('names the limit that is passed: the hard one, the soft one, or none', () => {
    const reason = (tokens: number) => {
      const made = planned([...talk(60), user(`${tokens}`), assistant('1')], { when: 'always' })
      return [made.kind, made.reason]
    }
    expect([748, 749, 2_999, 3_000].map(reason)).toEqual([
      ['compact', 'requested'],
      ['compact', 'over-threshold'],
      ['compact', 'over-threshold'],
      ['compact', 'over-hard-limit'],
    ])
  })

  it('keeps a third of the space for the tail and divides the rest', () => {
    expect(planned([system('100'), ...talk(70)])).toEqual({
      ...common,
      ...{ reason: 'over-threshold', tokensBefore: 7_100, layout },
      // Nine messages of 100: 915 are the tail's share of 3,050.
      ...{ cut: 62, incoming: 71, targetTokens: 3_150 },
      allotment: { keep: 900, user: 430, ledger: 737, summary: 737, files: 122, tasks: 122 },
    })
  })

  it('counts what is sent beside the messages, and system text that stays, as fixed', () => {
    const made = planned([system('100'), ...talk(70)], { overheadTokens: 200, carriedTokens: 300 })
    expect(made).toEqual({
      ...common,
      ...{ reason: 'over-threshold', tokensBefore: 7_300, layout },
      // Of 2,550 tokens 765 are the tail's share.
      ...{ cut: 64, incoming: 71, targetTokens: 3_150 },
      allotment: { keep: 700, user: 369, ledger: 634, summary: 634, files: 105, tasks: 105 },
    })
  })

  it('on request aims at half of a conversation that would fit, with a third of it as its tail', () => {
    const made = planned([system('100'), ...talk(30)], { when: 'always', trigger: 'manual' })
    expect(made).toEqual({
      ...{ kind: 'compact', trigger: 'manual', reason: 'requested', tokensBefore: 3_100, layout },
      // Of 1,500 tokens 450 are the tail's share; the handoff gets half of the 2,600 that it replaces.
      ...{ cut: 27, incoming: 31, targetTokens: 1_800 },
      allotment: { keep: 400, user: 260, ledger: 445, summary: 445, files: 74, tasks: 74 },
    })
    const asked = planned([system('100'), ...talk(30)], { when: 'always' }, { targetTokens: 3_150 })
    expect(asked).toMatchObject({ cut: 22, targetTokens: 3_150 })
    const kept = planned([system('100'), ...talk(30)], { when: 'always' }, { keepTokens: 800 })
    expect(kept).toMatchObject({ cut: 23, targetTokens: 2_000 })
  })

  it('reserves the size of a summary that exists, and no more than the target has', () => {
    const messages = [system('100'), ...talk(70)]
    expect(planned(messages, { summaryTokens: 1_500 })).toMatchObject({
      ...{ cut: 65, targetTokens: 3_150 },
      allotment: { keep: 600, user: 289, ledger: 495, summary: 1_500, files: 82, tasks: 82 },
    })
    expect(planned(messages, { summaryTokens: 3_050 })).toMatchObject({
      ...{ kind: 'compact', cut: 71, targetTokens: 3_150, allotment: { keep: 0, summary: 3_050 } },
    })
    expect(planned(messages, { summaryTokens: 3_051 })).toEqual({
      ...{ kind: 'cannot-fit', reason: 'summary-too-large', tokensBefore: 7_100 },
      ...{ tokens: 3_051, available: 3_050 },
    })
  })

  it('gives up if the fixed part leaves less than 300 tokens for the handoff', () => {
    const made = (tokens: number) => planned([system(`${tokens}`), ...talk(70)])
    expect(made(2_851)).toEqual({
      ...{ kind: 'cannot-fit', reason: 'fixed-part-too-large', tokensBefore: 9_851 },
      ...{ tokens: 2_851, available: 2_850 },
    })
    expect(made(2_850)).toMatchObject({ kind: 'compact', cut: 71, targetTokens: 3_150 })
  })

  it('gives up if the newest message leaves no space, and says how much there was', () => {
    const messages = [system('100'), ...talk(70), user('2751')]
    expect(planned(messages, { trigger: 'preflight' })).toEqual({
      ...{ kind: 'cannot-fit', reason: 'newest-message-too-large', tokensBefore: 9_851 },
      ...{ tokens: 2_751, available: 1_830 },
    })
  })

  it('clips the results of the newest step to what the tail may take, the large ones only', () => {
    const calls: Message = {
      role: 'assistant',
      parts: [...call('a').parts, ...call('b').parts],
    } as never
    const results = [toolResult('a', '400'), toolResult('b', '4000')]
    const made = planned([system('100'), ...talk(60), user('20'), calls, ...results])
    expect(made).toEqual({
      ...common,
      ...{ reason: 'over-hard-limit', tokensBefore: 10_530, layout },
      // Of 1,830 tokens 10 are the calls and 400 the small result.
      ...{ cut: 62, incoming: 65, clipTokens: 1_420, targetTokens: 3_150 },
      allotment: { keep: 1_830, user: 244, ledger: 418, summary: 418, files: 69, tasks: 69 },
    })
  })

  it('clips no result to less than a stub beside what of it cannot be clipped', () => {
    const calls: Message = {
      role: 'assistant',
      parts: [...call('a').parts, ...call('b').parts],
    } as never
    const messages = [
      ...[system('100'), ...talk(60), user('20'), calls],
      ...[toolResult('a', '4000'), toolResult('b', '4000')],
    ]
    // 910 for each of two.
    const made = (bare: number) => planned(messages, { countBare: () => bare })
    expect(made(830)).toMatchObject({ kind: 'compact', clipTokens: 910 })
    expect(made(831)).toMatchObject({ kind: 'cannot-fit', reason: 'newest-message-too-large' })
  })

  it('clips the newest request, unless it is held back', () => {
    const messages = [system('100'), ...talk(70), user('4000')]
    expect(planned(messages)).toMatchObject({ cut: 71, incoming: 72, clipTokens: 1_830 })
    expect(planned(messages, { trigger: 'preflight' })).toMatchObject({ kind: 'cannot-fit' })
  })

  it('keeps the protected messages, unless they leave no space for the handoff', () => {
    const made = (protectLast: number) => planned([system('100'), ...talk(70)], {}, { protectLast })
    expect(made(9)).toMatchObject({ cut: 62 })
    expect(made(10)).toMatchObject({ cut: 61, targetTokens: 3_150 })
    expect(made(18)).toMatchObject({ cut: 53, allotment: { keep: 1_800 } })
    expect(made(19)).toMatchObject({ cut: 62, allotment: { keep: 900 } })
  })

  it('finds nothing worth a handoff in less than 400 tokens', () => {
    const short = (tokens: number) => [system('100'), user(`${tokens}`), ...talk(9)]
    const always = { when: 'always' } as const
    const kept = { keepTokens: 900, targetTokens: 3_150 }
    expect(planned(short(399), always, kept)).toEqual({
      ...{ kind: 'keep', reason: 'nothing-to-cut', tokensBefore: 1_399 },
    })
    expect(planned(short(400), always, kept)).toMatchObject({
      kind: 'compact',
      reason: 'requested',
    })
  })

  it('goes on from an earlier handoff, and keeps it if nothing follows that it has not kept', () => {
    const earlier = (kept: number) => [system('100'), handoff({ covers: 80, kept }), ...talk(6)]
    const always = { when: 'always' } as const
    expect(planned(earlier(6), always)).toEqual({
      ...{ kind: 'keep', reason: 'already-compacted', tokensBefore: 1_200 },
    })
    expect(planned(earlier(5), always)).toMatchObject({
      ...{ kind: 'compact', reason: 'requested', cut: 7 },
      layout: { fixedTo: 1, handoffAt: 1, headFrom: 2, firstNumber: 81 },
    })
  })
})

it('a range that a session has claimed is compacted as it is', () => {
  const budget = resolveBudget(SETTINGS)
  const messages = [system('100'), ...talk(8)]
  const entries = messages.map((_, at) => [at + 1])
  const range = { cut: 5, open: [3], handoffTokens: 1_000 }
  const made = {
    ...{ kind: 'compact', reason: 'requested', trigger: 'idle', tokensBefore: 0 },
    ...{ cut: 5, open: [3], incoming: 9, targetTokens: 9_000 },
    allotment: { keep: 0, user: 199, ledger: 342, summary: 342, files: 57, tasks: 57 },
  }
  expect(planRange(messages, range, { budget, trigger: 'idle' })).toEqual({ ...made, layout })
  expect(planRange(messages, { ...range, entries }, { budget, trigger: 'idle' })).toEqual({
    ...made,
    layout: { ...layout, entries },
  })
})
