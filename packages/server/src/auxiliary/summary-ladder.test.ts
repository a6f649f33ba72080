import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { SummaryFault } from '#core/compaction/judge/judge-summary'
import type { SummaryReply } from '#core/compaction/summary/summary-writer'
import { type Answer, HERE, scriptedTasks } from '../../../../test/model/scripted-tasks.ts'
import { assistant, user } from '../../../../test/support/builders.ts'
import { Routes, routesSchema } from '../model/routes/routes.ts'
import { ALLOWANCE, type AllowanceLimits } from './allowance.ts'
import { NOTHING_SPENT } from './attempts.ts'
import { SummaryLadder } from './summary-ladder.ts'
import type { PreparedRequest, SummarySettings } from './summary-rungs.ts'

const USAGE = { inputTokens: 30, outputTokens: 7 }
const REQUEST = { system: 'You write handoffs.', prompt: 'Quoted.', ask: 'Write.', tokensMax: 900 }
const PROMPT = hash('sha256', 'You write handoffs.\nWrite.', 'hex').slice(0, 12)
const FAULT = 'preamble' as SummaryFault

interface Standing {
  /** The main route, and that of the task if it has one. */
  readonly main?: object
  readonly task?: object
  readonly summaries?: SummarySettings
}

const route = (model: string, more: object = {}) => ({
  ...{ provider: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1', model },
  ...{ credential: { kind: 'none' }, windowTokens: 10_000, ...more },
})

function ladder(
  answers: readonly Answer[],
  { main, task, summaries }: Standing = {},
  allowance: AllowanceLimits = ALLOWANCE,
) {
  const all = scriptedTasks(answers, { allowance })
  const config = {
    main: route('main-model', main),
    auxiliary: task === undefined ? {} : { compaction: route('small', task) },
  }
  const { tasks, clock } = all
  const routes = new Routes(routesSchema.parse(config))
  const messages = [user('Plan it.'), assistant('Here is a plan.'), user('Go on.')]
  const made = new SummaryLadder(
    { tasks, routes, clock, ...(summaries !== undefined && { summaries }) },
    { sessionId: HERE, messages, cut: 2 },
  )
  const never = new AbortController().signal
  const write = async (request: PreparedRequest = REQUEST): Promise<SummaryReply> => {
    const reply = made.write(request, never)
    reply.catch(() => undefined)
    await clock.pass(1_000)
    return await reply
  }
  /** The destination and the limit of each call. */
  const calls = () =>
    all.asked.map(({ route, request, isFresh }) =>
      [route.name, request.outputTokensMax, ...(isFresh ? ['fresh'] : [])].join(' '),
    )
  return { ...all, made, write, calls }
}

const refused: Answer = { outcome: { kind: 'refused', refusal: 'bad-key', status: 401 } }
const asItIs: SummarySettings = { conversationOf: () => ({ cacheKey: 'k' }) }
const provenance = (modelRoute: string, rung: string) => ({
  provenance: { modelRoute: `openai-chat/${modelRoute}@127.0.0.1:1`, rung, prompt: PROMPT },
})

describe('a summary', () => {
  it('comes from the first rung that answers, with the route, the rung and its prompt', async () => {
    const { write, made } = ladder([{ text: 'The plan.', usage: USAGE }], { task: {} })
    expect(await write()).toEqual({
      ...{ text: 'The plan.', finish: 'stop', next: expect.any(Function) },
      ...provenance('small', 'auxiliary'),
    })
    expect(made.spend).toEqual({ ...NOTHING_SPENT, attempts: 1, ...USAGE, unpriced: 1 })
  })

  it('that is none is asked for once more on a fresh connection, then on the main route', async () => {
    const answers = ['one', 'two', 'three'].map((text) => ({ text, usage: USAGE }))
    const { write, calls, made } = ladder(answers, { task: {} })
    const first = await write()
    const second = await first.next?.(FAULT)
    expect(second).toMatchObject({ text: 'two', ...provenance('small', 'fresh') })
    const third = await second?.next?.(FAULT)
    expect(third).toMatchObject({ text: 'three', ...provenance('main-model', 'main') })
    expect(calls()).toEqual(['compaction 900', 'compaction 900 fresh', 'main 900'])
    await expect(third?.next?.(FAULT)).rejects.toMatchObject({
      ...{ code: 'summary-failed', reason: 'unusable:preamble', fault: 'preamble' },
    })
    expect(made.spend).toMatchObject({ attempts: 3, inputTokens: 90, outputTokens: 21 })
  })

  it('of a route that fails is not asked for there again', async () => {
    const { write, calls } = ladder([refused, { text: 'The plan.' }], { task: {} })
    expect(await write()).toMatchObject(provenance('main-model', 'main'))
    expect(calls()).toEqual(['compaction 900', 'main 900'])
  })

  it('that no route writes fails with the last reason', async () => {
    const { write } = ladder([refused, { outcome: { kind: 'refused', refusal: 'not-found' } }], {
      task: {},
    })
    await expect(write()).rejects.toMatchObject({ reason: 'refused:not-found' })
  })

  it('names why a route rests and not that it rests', async () => {
    const { write } = ladder([refused, refused], { task: {} })
    await expect(write()).rejects.toMatchObject({ reason: 'refused:bad-key:401' })
    await expect(write()).rejects.toMatchObject({ reason: 'cooling-down' })
  })

  it('that was cut by its limit is asked for with space for reasoning, as far as the window goes', async () => {
    const cut: Answer = { text: 'The pl', outcome: { kind: 'finished', finish: 'length' } }
    const wide = ladder([cut, { text: 'The plan.' }], { main: { windowTokens: 100_000 } })
    await wide.write()
    expect(wide.calls()).toEqual(['main 900', 'main 8900 fresh'])
    const narrow = ladder([cut, { text: 'The plan.' }], { main: { windowTokens: 2_000 } })
    await narrow.write()
    // 9 tokens are the prompt.
    expect(narrow.calls()).toEqual(['main 900', 'main 1991 fresh'])
  })

  it('to shorten keeps the provenance of the long one', async () => {
    const { write } = ladder([{ text: 'Short.' }], { summaries: asItIs })
    expect(await write({ ...REQUEST, shortens: true })).toEqual({
      ...{ text: 'Short.', finish: 'stop', next: expect.any(Function) },
    })
  })

  it('whose range can go as it is goes first as it is, and then quoted', async () => {
    const { write, asked } = ladder([{ text: 'one' }, { text: 'two' }], { summaries: asItIs })
    const first = await write()
    expect(first).toMatchObject(provenance('main-model', 'prefix'))
    expect(await first.next?.(FAULT)).toMatchObject(provenance('main-model', 'auxiliary'))
    expect(asked.map(({ request }) => request.cacheKey)).toEqual(['k', undefined])
  })

  it.each([
    ['a piece', { piece: { number: 1, of: 2 } }],
    ['one to shorten', { shortens: true as const }],
    ['one that its caller found unclean', { isClean: false }],
  ])('of %s goes quoted', async (_, more) => {
    const { write, asked } = ladder([{ text: 'one' }], { summaries: asItIs })
    await write({ ...REQUEST, ...more })
    expect(asked[0]?.request.cacheKey).toBeUndefined()
  })

  it('after one of a piece is quoted too', async () => {
    const { write, asked } = ladder([{ text: 'one' }, { text: 'two' }], { summaries: asItIs })
    await write({ ...REQUEST, piece: { number: 1, of: 1 } })
    await write()
    expect(asked.map(({ request }) => request.cacheKey)).toEqual([undefined, undefined])
  })

  it('does not go as it is to a route that has just failed so, and not quoted either', async () => {
    const { write, calls } = ladder([refused], { summaries: asItIs })
    await expect(write()).rejects.toMatchObject({ reason: 'refused:bad-key:401' })
    expect(calls()).toEqual(['main 900'])
  })

  it('goes quoted to a route that only refused it as it was', async () => {
    const content: Answer = { outcome: { kind: 'refused', refusal: 'content' } }
    const { write } = ladder([content, { text: 'two' }], { summaries: asItIs })
    expect(await write()).toMatchObject(provenance('main-model', 'auxiliary'))
  })

  it('that its model cannot read is left to pieces, with the model’s own limit', async () => {
    const overflow: Answer = { outcome: { kind: 'overflow', limitTokens: 77 } }
    await expect(ladder([overflow]).write()).rejects.toMatchObject({
      ...{ code: 'writer-overflow', limitTokens: 77 },
    })
    const quotedToo = ladder([overflow, { text: 'two' }], { summaries: asItIs })
    expect(await quotedToo.write()).toMatchObject(provenance('main-model', 'auxiliary'))
  })

  it('that exceeds the window by our own count is not sent; one that fills it is', async () => {
    const tooSmall = ladder([], { main: { windowTokens: 908 } })
    await expect(tooSmall.write()).rejects.toMatchObject({ limitTokens: 908 })
    expect(tooSmall.asked).toEqual([])
    const full = ladder([{ text: 'one' }], { main: { windowTokens: 909 } })
    expect((await full.write()).text).toBe('one')
  })

  it('has one span of time for all rungs; each may be silent only for its share', async () => {
    const { write, asked, clock } = ladder([{ text: 'one' }, { text: 'two' }], { task: {} })
    const first = await write()
    await clock.pass(499_000)
    await first.next?.(FAULT)
    const [before, after] = asked.map(({ deadlines }) => deadlines)
    expect(before).toEqual({
      ...{ connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000, totalMs: 600_000 },
    })
    // 100 s are left, for two rungs.
    expect(after).toEqual({
      ...{ connectMs: 10_000, firstByteMs: 50_000, idleMs: 50_000, totalMs: 100_000 },
    })
  })

  it('is recorded for its session, as a compaction', async () => {
    const { write, notices } = ladder([{ text: 'The plan.' }])
    await write()
    expect(notices).toMatchObject([{ attempt: { sessionId: HERE, task: 'compaction' } }])
  })

  it('that the provider writes is its readable item', async () => {
    const value = { type: 'compaction', content: 'The plan.' }
    const parts = [{ type: 'opaque' as const, provider: 'anthropic' as const, value }]
    const { write } = ladder([{ parts }], {
      main: { provider: 'anthropic' },
      summaries: { atProvider: true },
    })
    expect(await write()).toMatchObject({ text: 'The plan.', provenance: { rung: 'provider' } })
  })

  it('is not asked for by a task that may spend nothing more', async () => {
    const { write, asked } = ladder([], { task: {} }, { windowMs: 1, host: { tokens: 1 } })
    await expect(write()).rejects.toMatchObject({ reason: 'budget-spent:host-tokens' })
    expect(asked).toEqual([])
  })

  it('ends on all rungs when it is aborted', async () => {
    const controller = new AbortController()
    const { made, clock, asked } = ladder([{ hangs: true }], { task: {} })
    const reply = made.write(REQUEST, controller.signal)
    await clock.pass(0)
    controller.abort()
    await expect(reply).rejects.toMatchObject({ reason: 'aborted' })
    expect(asked).toHaveLength(1)
  })
})
