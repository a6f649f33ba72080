import { z } from 'zod'

const count = z.number().int().min(0)
const nullableCount = count.nullable()

/** Of a session, an agent or a day. */
const usageFigures = {
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count,
  /** Millionths of the operator's currency, for the calls with a known price. */
  cost: count,
  unpricedCalls: count,
}

/** What the calls of a compaction cost; null if it is no longer on record. */
const compactionSpend = z
  .strictObject({
    calls: count,
    inputTokens: count,
    outputTokens: count,
    cost: z.number().nullable(),
  })
  .nullable()

export const usageGroups = z
  .strictObject({ usage: z.array(z.strictObject({ key: z.string(), ...usageFigures })) })
  .meta({ id: 'Usage' })

/** The last 24 hours, oldest first, and the turns that took longest. */
export const activityView = z
  .strictObject({
    hours: z.array(
      z.strictObject({
        at: z.number(),
        turns: count,
        failedTurns: count,
        compactions: count,
        failedCompactions: count,
        ...usageFigures,
      }),
    ),
    slowest: z.array(
      z.strictObject({
        sessionId: z.string(),
        turn: count,
        entry: count,
        endedAt: z.number(),
        durationMs: z.number(),
      }),
    ),
  })
  .meta({ id: 'Activity' })

export const sessionView = z
  .strictObject({
    id: z.string(),
    agent: z.string(),
    title: z.string().nullable(),
    /** Where it was forked from; null: it is no fork. */
    forkedFrom: z.strictObject({ sessionId: z.string(), entry: count }).nullable(),
    state: z.enum([
      'idle',
      'turn',
      'waiting-for-compaction',
      'waiting-for-model',
      'waiting-for-approval',
      'gone',
    ]),
    wait: z.strictObject({ text: z.string(), nextTryAt: z.number().nullable() }).nullable(),
    isCompacting: z.boolean(),
    channels: z.array(z.string()),
    createdAt: z.number(),
    activeAt: z.number(),
    entries: count,
    turn: count,
    lastTurn: z.enum(['answered', 'stopped', 'failed']).nullable(),
    waiting: count,
    contextTokens: count,
    windowTokens: count,
    compaction: nullableCount,
    compactedAt: z.number().nullable(),
    left: z.strictObject({ at: z.number() }).nullable(),
    policy: z.string(),
    pins: z.array(z.string()),
    runner: z.string().nullable(),
    usage: z.strictObject(usageFigures),
  })
  .meta({ id: 'Session' })
export const sessionList = z
  .strictObject({ sessions: z.array(sessionView), next: z.string().nullable() })
  .meta({ id: 'Sessions' })

const fateCount = z.strictObject({ messages: count, tokens: count })
/** What a compaction did with every message. */
export const compactionList = z
  .strictObject({
    compactions: z.array(
      z.strictObject({
        operationId: z.string(),
        state: z.string(),
        by: z.string(),
        trigger: z.string(),
        reason: z.string(),
        base: count,
        covers: count,
        startedAt: z.number(),
        endedAt: z.number().nullable(),
        tokensBefore: nullableCount,
        tokensAfter: nullableCount,
        modelRoute: z.string().nullable(),
        rung: z.string().nullable(),
        waitMs: z.number(),
        spend: compactionSpend,
        failure: z.string().nullable(),
        entry: nullableCount,
        isInEffect: z.boolean(),
        isUndone: z.boolean(),
        isAdopted: z.boolean(),
        warning: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Compactions' })

/** The next request of the client, before and after; `uncachedTokens` are sent once without its cache. */
export const undoneHandoff = z
  .strictObject({
    sessionId: z.string(),
    compaction: count,
    tokensBefore: count,
    tokensAfter: count,
    uncachedTokens: count,
  })
  .meta({ id: 'Undone' })

export const compactionReport = z
  .strictObject({
    sessionId: z.string(),
    entry: count,
    by: z.enum(['model', 'digest', 'rewrite', 'clearing']),
    trigger: z.string().nullable(),
    covers: count,
    tokensBefore: count,
    tokensAfter: count,
    cache: z.strictObject({
      lostTokens: count,
      rewrittenTokens: count,
      breakEvenCalls: nullableCount,
      breakEvenTurns: nullableCount,
    }),
    spend: compactionSpend,
    counts: z.strictObject({
      kept: fateCount,
      summarized: fateCount,
      recallable: fateCount,
      gone: fateCount,
    }),
    erased: count,
    messages: z.array(
      z.strictObject({
        number: count,
        role: z.enum(['user', 'assistant', 'tool']),
        tokens: count,
        fate: z.enum(['kept', 'summarized', 'recallable', 'gone']),
        recalledBy: z.enum(['words', 'number']).nullable(),
        excerpt: z.string(),
      }),
    ),
  })
  .meta({ id: 'CompactionReport' })
