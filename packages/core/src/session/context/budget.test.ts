import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EntryNumber, entryNumber, operationId, sessionId } from '../../base/ids.ts'
import type { Message } from '../../message/message.ts'
import type { CompactionBy, Limits, OperationRow, SessionRow } from '../../store/tables/rows.ts'
import { SESSION_SETTINGS } from '../settings.ts'
import { isOverHard, judgeHandoff, mayAskModel, planCover } from './budget.ts'
import type { Context } from './build.ts'
import type { ContextPiece } from './piece.ts'
import type { SessionView } from './session-view.ts'

const LIMITS: Limits = {
  hardTokens: 4_000,
  pinTokens: 150,
  handoffTokens: 500,
  inputTokens: 600,
  stepTokens: 800,
  outputTokens: 300,
  laneMailMax: 10,
  sourceMailMax: 10,
}

function user(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

function assistant(text: string): Message {
  return { role: 'assistant', parts: [{ type: 'text', text }] }
}

function view(sizes: readonly number[], options: { seen: number; handoff?: number }): SessionView {
  const pieces: ContextPiece[] = sizes.map((tokens, index) => ({
    number: entryNumber(index + 1),
    message: index % 2 === 0 ? user(`u${index}`) : assistant(`a${index}`),
    tokens,
  }))
  const tokens = sizes.reduce((sum, size) => sum + size, options.handoff ?? 0)
  const none = entryNumber(0)
  const context: Context = {
    upto: entryNumber(sizes.length),
    effective: none,
    covers: none,
    system: [],
    settings: [],
    handoff: null,
    pieces,
    reverted: none,
    tokens,
  }
  const row = { id: sessionId('s'), limits: LIMITS, covers: none, base: none }
  const session = { ...row, seen: entryNumber(options.seen) } as unknown as SessionRow
  return { session, context, controls: [], waiting: [], operations: [], replyTo: null }
}

describe('planCover', () => {
  it('never covers entries that no model has seen', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 2, maxLength: 30 })
    const triggers = fc.constantFrom('manual', 'preflight', 'background', 'reactive', 'idle')
    fc.assert(
      fc.property(sizes, fc.nat(), triggers, (list, at, trigger) => {
        const seen = at % list.length
        const covers = planCover(view(list, { seen }), trigger, SESSION_SETTINGS)
        expect(covers ?? 0).toBeLessThanOrEqual(seen)
      }),
    )
  })

  it('compacts an idle session only if even the longest handoff is half as long as what it replaces', () => {
    const { handoffTokens } = LIMITS
    const short = view([handoffTokens, handoffTokens / 2, 10, 10], { seen: 4 })
    const long = view([handoffTokens, handoffTokens * 2, 10, 10], { seen: 4 })
    const settings = { ...SESSION_SETTINGS, sections: { keepTokens: 20 } }
    expect(planCover(short, 'manual', settings)).not.toBeNull()
    expect(planCover(short, 'idle', settings)).toBeNull()
    expect(planCover(long, 'idle', settings)).not.toBeNull()
  })

  it('always finds a cut that makes room when the unseen part is within its bounds [I33]', () => {
    const seen = fc.array(fc.integer({ min: 1, max: 800 }), { minLength: 1, maxLength: 20 })
    const unseen = fc.tuple(
      fc.integer({ min: 1, max: LIMITS.stepTokens }),
      fc.integer({ min: 1, max: LIMITS.inputTokens }),
    )
    fc.assert(
      fc.property(seen, unseen, (list, behind) => {
        const before = view([...list, ...behind], { seen: list.length })
        fc.pre(isOverHard(before))
        const covers = planCover(before, 'preflight', SESSION_SETTINGS)
        expect(covers).not.toBeNull()
        const left = before.context.pieces.filter((piece) => piece.number > (covers ?? 0))
        const after = left.reduce((sum, piece) => sum + piece.tokens, LIMITS.handoffTokens)
        expect(after + LIMITS.outputTokens).toBeLessThanOrEqual(LIMITS.hardTokens)
      }),
    )
  })
})

describe('judgeHandoff', () => {
  const before = view([500, 500, 500, 500], { seen: 2 })
  const by: CompactionBy = 'model'
  const carries: readonly EntryNumber[] = []

  it('accepts a handoff smaller than the range it covers, however much follows the range', () => {
    expect(judgeHandoff(before, { by, carries, covers: 2, tokens: 499 })).toBeNull()
  })

  it('refuses a handoff as large as the range it covers, and one over its budget [faults 49, 50]', () => {
    const small = view([100, 100, 3_000, 400], { seen: 2 })
    expect(judgeHandoff(small, { by, carries, covers: 2, tokens: 200 })).toBe('not-smaller')
    expect(judgeHandoff(before, { by, carries, covers: 2, tokens: 501 })).toBe('over-budget')
  })

  it('lets a rewrite grow, up to the hard limit', () => {
    const small = view([100, 100, 400, 400], { seen: 2 })
    expect(judgeHandoff(small, { by: 'rewrite', carries, covers: 2, tokens: 500 })).toBeNull()
    const full = view([100, 100, 3_201, 0], { seen: 2 })
    expect(judgeHandoff(full, { by: 'rewrite', carries, covers: 2, tokens: 500 })).toBe(
      'over-hard-limit',
    )
  })
})

describe('mayAskModel', () => {
  const now = 10_000_000

  function attempt(agoMs: number, state: OperationRow['state'], by: CompactionBy = 'model') {
    const at = now - agoMs
    const ids = { id: operationId('o'), sessionId: sessionId('s'), previous: entryNumber(0) }
    const numbers = { fence: 1, base: entryNumber(0), covers: entryNumber(1) }
    const texts = { trigger: 'background', reason: '', requestedBy: null, result: {} }
    const row = { ...ids, ...numbers, ...texts, by, state, startedAt: at, endedAt: at }
    return row satisfies OperationRow
  }
  const asks = (...operations: readonly OperationRow[]) =>
    mayAskModel(operations, now, SESSION_SETTINGS).kind

  it('waits after a failure, longer after each one, up to a limit', () => {
    expect(asks(attempt(100, 'failed'))).toBe('wait')
    expect(asks(attempt(1_500, 'failed'))).toBe('yes')
    expect(asks(attempt(1_500, 'failed'), attempt(3_000, 'failed'))).toBe('wait')
    expect(asks(...Array.from({ length: 7 }, () => attempt(61_000, 'failed')))).toBe('yes')
  })

  it('ignores failures before a committed compaction', () => {
    expect(asks(attempt(50, 'committed'), attempt(100, 'failed'))).toBe('yes')
  })

  it('limits the attempts within a time window, without counting digests', () => {
    const many = Array.from({ length: SESSION_SETTINGS.attemptsPerWindow }, (_, index) => index)
    expect(asks(...many.map((index) => attempt(index * 1_000, 'committed')))).toBe('wait')
    expect(asks(...many.map((index) => attempt(index * 1_000, 'committed', 'digest')))).toBe('yes')
  })

  it('ignores attempts older than the window and attempts in the future', () => {
    const { attemptWindowMs, attemptsPerWindow } = SESSION_SETTINGS
    const many = (agoMs: number) =>
      Array.from({ length: attemptsPerWindow }, () => attempt(agoMs, 'committed'))
    expect(asks(...many(attemptWindowMs - 1))).toBe('wait')
    expect(asks(...many(attemptWindowMs))).toBe('yes')
    expect([asks(...many(0)), asks(...many(-1))]).toEqual(['wait', 'yes'])
  })

  it('counts four abandoned attempts as one, because a killed attempt cost little', () => {
    const killed = (count: number) =>
      Array.from({ length: count }, (_, index) => attempt(index * 1_000, 'abandoned'))
    const { attemptsPerWindow } = SESSION_SETTINGS
    expect(asks(...killed(4 * (attemptsPerWindow - 1)))).toBe('yes')
    expect(asks(...killed(4 * attemptsPerWindow))).toBe('wait')
  })

  it('counts the next attempt as a whole one beside abandoned ones [I27]', () => {
    const { attemptsPerWindow } = SESSION_SETTINGS
    const whole = Array.from({ length: attemptsPerWindow - 1 }, (_, index) =>
      attempt(index * 1_000, 'committed'),
    )
    expect(asks(...whole)).toBe('yes')
    expect(asks(...whole, attempt(60_000, 'abandoned'))).toBe('wait')
  })

  it('lets a person request a compaction right after a failure, within the same limit of attempts', () => {
    const asked = (operations: readonly OperationRow[]) =>
      mayAskModel(operations, now, SESSION_SETTINGS, 'manual').kind
    expect(asked([attempt(100, 'failed')])).toBe('yes')
    const many = Array.from({ length: SESSION_SETTINGS.attemptsPerWindow }, (_, index) => index)
    expect(asked(many.map((index) => attempt(index * 1_000, 'failed')))).toBe('wait')
  })

  it('ignores an attempt with a time in the future, left by a clock that jumped [fault 75]', () => {
    expect(asks(attempt(-3_600_000, 'failed'))).toBe('yes')
  })
})
