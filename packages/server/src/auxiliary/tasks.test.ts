import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { type Answer, HERE, routeOf, scriptedTasks } from '../../../../test/model/scripted-tasks.ts'
import { user } from '../../../../test/support/builders.ts'
import type { Outcome } from '../model/outcomes/outcome.ts'
import { NOTHING_SPENT } from './attempts.ts'
import type { AuxiliaryTasksParts, TaskOptions } from './tasks.ts'

const SECRET = ['ghp_', 'a8F3k2Q9z7X1m4B6c5D0e9G8h7J6k5L4m3N2'].join('')
const USAGE = { inputTokens: 30, outputTokens: 7, cacheReadTokens: 20 }
const BRIEF = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 20_000, totalMs: 60_000 }
const FIRST = routeOf('first')
const AT_FIRST = 'openai-chat/first@127.0.0.1:1'
const prices = { first: { input: 2, output: 10, cacheRead: 1 } }
const cost = 10 * 2 + 7 * 10 + 20 * 1

const options = (more: Partial<TaskOptions> = {}): TaskOptions => ({
  ...{ sessionId: HERE, signal: new AbortController().signal, routes: [FIRST], ...more },
})
const request = { messages: [user('Name it.')] }

async function run(answers: readonly Answer[], more: Partial<TaskOptions> = {}, parts = {}) {
  const all = scriptedTasks(answers, parts)
  const done = all.tasks.run('title', request, options(more))
  await all.clock.pass(30_000)
  return { ...all, outcome: await done }
}
const attempt = (facts: object) => ({
  ...{ id: expect.any(String), sessionId: HERE, task: 'title', modelRoute: AT_FIRST, at: 0 },
  ...facts,
})

describe('an auxiliary task', () => {
  it('that is answered returns its text, its route and its cost, and records the call', async () => {
    const answers = [{ text: '  Piers \n', usage: USAGE }]
    const { outcome, asked, notices } = await run(answers, {}, { prices })
    const spend = { attempts: 1, inputTokens: 30, outputTokens: 7, cachedTokens: 20, cost }
    expect(outcome).toEqual({
      ...{ kind: 'answered', text: 'Piers', route: FIRST, spend: { ...spend, unpriced: 0 } },
    })
    const { attempts: _, ...counted } = spend
    expect(notices).toEqual([
      { kind: 'attempt', attempt: attempt({ outcome: 'answered', ...counted }) },
    ])
    expect(asked).toEqual([
      {
        route: FIRST,
        request: { ...request, outputTokensMax: 1_000 },
        ...{ purpose: 'title', signal: expect.any(AbortSignal), deadlines: BRIEF },
      },
    ])
  })

  it('sends what it was given: tools, key, a lower limit, deadlines, and a fresh connection', async () => {
    const { tasks, asked } = scriptedTasks([{ text: 'ok' }])
    const tools = [{ name: 'look', inputSchema: {} }]
    const given = { ...request, tools, cacheKey: 'k', outputTokensMax: 40 }
    await tasks.run('title', given, options({ isFresh: true, deadlines: { idleMs: 5 } }))
    expect(asked).toEqual([
      {
        ...{ route: FIRST, request: given, purpose: 'title', isFresh: true },
        ...{ signal: expect.any(AbortSignal), deadlines: { ...BRIEF, idleMs: 5 } },
      },
    ])
    await tasks.run('title', { ...request, outputTokensMax: 5_000 }, options())
    expect(asked[1]?.request.outputTokensMax).toBe(1_000)
  })

  it('masks secrets on the way there, unless its caller has seen to it, and on the way back', async () => {
    const said = [user(`my token: ${SECRET}`)]
    const { tasks, asked } = scriptedTasks(Array(3).fill({ text: `It is ${SECRET}.` }))
    const outcome = await tasks.run('title', { messages: said }, options())
    await tasks.run('title', { messages: said, isMasked: true }, options())
    await tasks.run('title', { messages: said, isVerbatim: true }, options())
    expect(asked.map(({ request }) => request)).toEqual([
      { messages: [user('my token: [secret:github]')], outputTokensMax: 1_000 },
      { messages: said, outputTokensMax: 1_000 },
      { messages: said, outputTokensMax: 1_000 },
    ])
    expect(outcome).toMatchObject({ kind: 'answered', text: 'It is [secret:github].' })
  })

  it('reads of the reply its text, or what its caller reads', async () => {
    const parts = [
      { type: 'reasoning' as const, text: 'hm' },
      { type: 'text' as const, text: 'North ' },
      { type: 'text' as const, text: 'pier' },
    ]
    const { outcome } = await run([{ parts }])
    expect(outcome).toMatchObject({ kind: 'answered', text: 'North pier' })
    const own = await run([{ parts }], { read: (reply) => `${reply.parts.length} parts` })
    expect(own.outcome).toMatchObject({ kind: 'answered', text: '3 parts' })
  })

  const overflow: Outcome = { kind: 'overflow', limitTokens: 9 }
  it.each<[string, Answer, string, Partial<typeof NOTHING_SPENT>]>([
    [
      'an empty answer',
      { usage: USAGE },
      'unusable:empty',
      { inputTokens: 30, outputTokens: 7, cachedTokens: 20, unpriced: 1 },
    ],
    ['blank text', { text: ' \n ' }, 'unusable:empty', { inputTokens: 6, unpriced: 1 }],
    [
      'a cut answer',
      { text: 'Pie', outcome: { kind: 'finished', finish: 'length' } },
      'unusable:length',
      { inputTokens: 6, unpriced: 1 },
    ],
    [
      'calls alone',
      { text: 'x', outcome: { kind: 'finished', finish: 'tool-calls' } },
      'unusable:tool-calls',
      { inputTokens: 6, unpriced: 1 },
    ],
    ['one that is too long', { outcome: overflow }, 'overflow', {}],
    [
      'a refusal',
      { outcome: { kind: 'refused', refusal: 'bad-key', status: 401 } },
      'refused:bad-key:401',
      {},
    ],
    [
      'damage',
      { outcome: { kind: 'malformed', what: 'redirect' } },
      'malformed:redirect',
      { inputTokens: 6, unpriced: 1 },
    ],
  ])('%s is a failure with its reason and what it cost', async (_, answer, reason, spend) => {
    const { outcome, notices } = await run([answer])
    const whole = { ...NOTHING_SPENT, attempts: 1, ...spend }
    expect(outcome).toEqual({
      ...{ kind: 'failed', reason, spend: whole },
      outcome: answer.outcome ?? { kind: 'finished', finish: 'stop' },
    })
    const { attempts: __, unpriced, ...counted } = whole
    expect(notices).toEqual([
      {
        kind: 'attempt',
        attempt: attempt({ outcome: reason, ...counted, cost: unpriced === 1 ? null : 0 }),
      },
    ])
  })

  it.each([
    ['connect', 0],
    ['first-byte', 6],
    ['total', 6],
  ] as const)(
    'a call that meets its deadline (%s) counts what was sent',
    async (deadline, tokens) => {
      const late = { outcome: { kind: 'deadline', deadline } as const }
      const { outcome } = await run([late, late, late, late])
      expect(outcome).toMatchObject({
        reason: `deadline:${deadline}`,
        spend: { inputTokens: tokens },
      })
    },
  )

  it('an answer that ends in a reason of its provider’s own is read', async () => {
    const { outcome } = await run([
      { text: 'Pier', outcome: { kind: 'finished', finish: 'other' } },
    ])
    expect(outcome).toMatchObject({ kind: 'answered', text: 'Pier' })
  })

  it('goes on with the next route, and records each that it gave up with its outcome', async () => {
    const refused: Answer = { outcome: { kind: 'refused', refusal: 'no-credit', status: 402 } }
    const second = routeOf('second')
    const { outcome, notices } = await run([refused, { text: 'Pier', usage: USAGE }], {
      routes: [FIRST, second],
    })
    const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
    expect(notices).toEqual([
      {
        kind: 'attempt',
        attempt: attempt({ outcome: 'refused:no-credit:402', ...nothing, cost: 0 }),
      },
      {
        kind: 'attempt',
        attempt: attempt({
          modelRoute: 'openai-chat/second@127.0.0.1:1',
          ...{
            outcome: 'answered',
            inputTokens: 30,
            outputTokens: 7,
            cachedTokens: 20,
            cost: null,
          },
        }),
      },
    ])
    const spend = { inputTokens: 30, outputTokens: 7, cachedTokens: 20, cost: 0, unpriced: 1 }
    expect(outcome).toEqual({
      ...{ kind: 'answered', text: 'Pier', route: second, spend: { attempts: 2, ...spend } },
    })
  })

  it('records a route that it tries twice once', async () => {
    const reset: Answer = { outcome: { kind: 'connection', fault: 'reset', freshLoanHelps: true } }
    const { asked, notices } = await run([reset, { text: 'Pier' }])
    expect(asked).toHaveLength(2)
    expect(notices).toMatchObject([{ attempt: { modelRoute: AT_FIRST, outcome: 'answered' } }])
  })

  it('whose routes all rest is not tried, and says until when', async () => {
    const refused: Answer = { outcome: { kind: 'refused', refusal: 'bad-key', status: 401 } }
    const { tasks, clock, asked } = scriptedTasks([refused])
    await tasks.run('title', request, options())
    await clock.pass(1_000)
    expect(await tasks.run('title', request, options())).toEqual({
      ...{ kind: 'failed', reason: 'cooling-down', retryAt: 30_000, spend: NOTHING_SPENT },
    })
    expect(asked).toHaveLength(1)
  })

  it('is tried again by the call that follows the one after a pause', async () => {
    const refused: Answer = { outcome: { kind: 'refused', refusal: 'bad-key', status: 401 } }
    const { tasks, clock } = scriptedTasks([refused, { hangs: true }, { text: 'Pier' }])
    await tasks.run('title', request, options())
    await clock.pass(60_000)
    const trying = tasks.start('title', request, options())
    await clock.pass(60_000)
    expect(await tasks.run('title', request, options())).toMatchObject({ reason: 'cooling-down' })
    trying.interrupt()
    await trying.outcome
    expect(await tasks.run('title', request, options())).toMatchObject({ text: 'Pier' })
  })

  it('that could exceed its allowance is not made; the limit itself is allowed', async () => {
    // 6 for the message, 1,000 for the answer.
    const parts: Partial<AuxiliaryTasksParts> = {
      allowance: { windowMs: 1_000, session: { tokens: 1_005 } },
    }
    const { tasks, asked, notices } = scriptedTasks([], parts)
    expect(await tasks.run('title', request, options())).toEqual({
      ...{ kind: 'failed', reason: 'budget-spent:session-tokens', spend: NOTHING_SPENT },
    })
    expect(notices).toEqual([
      { kind: 'budget-spent', task: 'title', sessionId: HERE, which: 'session-tokens' },
    ])
    expect(asked).toEqual([])
    const enough = { windowMs: 1_000, session: { tokens: 1_006 } }
    const { outcome } = await run([{ text: 'Pier' }], {}, { allowance: enough })
    expect(outcome.kind).toBe('answered')
  })

  it('counts the largest possible price against the allowance, and gives back what it did not use', async () => {
    const parts = { prices, allowance: { windowMs: 1_000, host: { cost: 6 * 2 + 1_000 * 10 } } }
    const { tasks } = scriptedTasks([{ text: 'a' }, { text: 'b' }], parts)
    // An answer without reported usage counts its input only: 12.
    expect((await tasks.run('title', request, options())).kind).toBe('answered')
    expect(await tasks.run('title', request, options())).toMatchObject({
      reason: 'budget-spent:host-cost',
    })
    const short = { ...request, outputTokensMax: 998 }
    expect((await tasks.run('title', short, options())).kind).toBe('answered')
  })

  it('whose record is lost is answered all the same', async () => {
    const { outcome, notices } = await run(
      [{ text: 'Pier', usage: USAGE }],
      {},
      {
        attempts: {
          record: () => Promise.reject(new Error('full')),
          read: async () => [],
          sum: async () => NOTHING_SPENT,
        },
      },
    )
    expect(outcome).toMatchObject({ text: 'Pier', spend: { inputTokens: 30 } })
    expect(notices).toEqual([
      {
        kind: 'attempt',
        attempt: attempt({
          ...{
            outcome: 'answered',
            inputTokens: 30,
            outputTokens: 7,
            cachedTokens: 20,
            cost: null,
          },
        }),
      },
      { kind: 'record-lost', task: 'title', sessionId: HERE },
    ])
  })
})

describe('an interrupt', () => {
  it('stops a task that may be stopped, waits for a shielded one, and finds one that is over', async () => {
    const { tasks, clock } = scriptedTasks([{ hangs: true }, { hangs: true }, { text: 'over' }])
    const title = tasks.start('title', request, options())
    await clock.pass(0)
    const compaction = tasks.start('compaction', request, options())
    await clock.pass(0)
    const elsewhere = options({ sessionId: sessionId('elsewhere') })
    const over = tasks.start('memory', request, elsewhere)
    await over.outcome
    expect(over.interrupt()).toBe('over')
    expect(tasks.interrupt(sessionId('elsewhere'))).toEqual([])
    expect(tasks.interrupt(HERE)).toEqual([
      { task: 'title', answer: 'stopped' },
      { task: 'compaction', answer: 'deferred' },
    ])
    expect(await title.outcome).toEqual({
      kind: 'interrupted',
      spend: { ...NOTHING_SPENT, attempts: 1, inputTokens: 6, unpriced: 1 },
    })
    await clock.pass(1_000)
    expect(tasks.interrupt(HERE)).toEqual([{ task: 'compaction', answer: 'deferred' }])
    await tasks.close()
    expect(await compaction.outcome).toMatchObject({ kind: 'interrupted' })
    expect(tasks.interrupt(HERE)).toEqual([])
  })

  it('of the caller’s own signal ends a shielded task', async () => {
    const { tasks, clock } = scriptedTasks([{ hangs: true }])
    const controller = new AbortController()
    const run = tasks.start('compaction', request, options({ signal: controller.signal }))
    await clock.pass(0)
    controller.abort()
    expect(await run.outcome).toMatchObject({ kind: 'interrupted' })
  })
})

it('the settings of a task are those of the configuration, then those of the task', () => {
  const { tasks } = scriptedTasks([], { tasks: { title: { outputTokensMax: 9 } } })
  expect(tasks.settingsOf('title')).toEqual({
    ...{ deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 9 },
  })
  expect(scriptedTasks([]).tasks.settingsOf('title').outputTokensMax).toBe(1_000)
})
