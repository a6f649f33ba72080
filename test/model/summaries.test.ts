import { afterEach, describe, expect, it } from 'vitest'
import { isObject } from '../../packages/core/src/base/json.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import type { JournalEntry } from '../../packages/server/src/stand-in/journal.ts'
import { assistant, system, toolCall, toolResult, user } from '../support/builders.ts'
import { type AuxiliaryOptions, handoffOf, openAuxiliary } from './auxiliary-bench.ts'

/** Handoffs that models write, as a session asks for them, over real sockets. */
type Bench = Awaited<ReturnType<typeof openAuxiliary>>
let bench: Bench
afterEach(() => bench.close())

const opened = async (options: AuxiliaryOptions = {}) => {
  bench = await openAuxiliary(options)
  return bench
}
const never = new AbortController().signal
const ofModel = (model: string) => ({
  when: (target: { readonly model: string | undefined }) => target.model === model,
})

const english = `## Progress and decisions\n- The user had the harbour surveyed part by part, from part 0 to part 29; each depth was noted.\n- The code word that the user gave is heliotrope, and it is to be kept.\n## What remains\n- The user asked to go on after part 29 of the survey.`

/** A conversation of some length; the code word stands in its first third. */
function conversation(turns = 30, words = 60): readonly Message[] {
  const messages: Message[] = [system('You are careful.')]
  for (let at = 0; at < turns; at++) {
    messages.push(user(`Question ${at}: please look into part ${at} of the harbour survey.`))
    if (at === Math.floor(turns / 3)) messages.push(user('The code word is heliotrope. Keep it.'))
    messages.push(toolCall(`c${at}`, { path: `survey/part-${at}.md` }))
    messages.push(toolResult(`c${at}`, `part ${at}: ${'depth and tide '.repeat(words)}`))
    messages.push(assistant(`Part ${at} is done; the depth at pier ${at} was ${at + 3} fathoms.`))
  }
  return [...messages, user('Go on.')]
}

describe('the rungs of a summary', () => {
  it('the task’s own route writes it, and the reply states its cost', async () => {
    const { handoffs, outcomes } = await opened()
    const reply = await handoffs.write(handoffOf(conversation()), never)
    expect(reply).toMatchObject({ kind: 'written', handoff: { by: 'model' } })
    expect(reply.spend).toMatchObject({ attempts: 1, unpriced: 1 })
    expect(reply.spend.inputTokens).toBeGreaterThan(1_000)
    expect(outcomes()).toEqual(['aux-model answered'])
  })

  it('a call that fails gets its fresh try, then the main route: one record per route [S5]', async () => {
    const { handoffs, outcomes, server } = await opened()
    server.faults.always('reset-before-headers', ofModel('aux-model'))
    const reply = await handoffs.write(handoffOf(conversation()), never)
    expect(reply.kind).toBe('written')
    expect(outcomes()).toEqual(['aux-model connection:reset', 'main-model answered'])
    const tries = server.journal.entries.filter(({ fault }) => fault !== undefined)
    expect(new Set(tries.map(({ socket }) => socket.id)).size).toBe(2)
  })

  it('a route whose key is refused is passed over for the main one', async () => {
    const { handoffs, outcomes, server } = await opened()
    server.faults.always('status; code=401', ofModel('aux-model'))
    expect((await handoffs.write(handoffOf(conversation()), never)).kind).toBe('written')
    expect(outcomes()).toEqual(['aux-model refused:bad-key:401', 'main-model answered'])
  })

  it.each([
    ['empty', 'unusable:empty'],
    ['blank', 'unusable:empty'],
    ['only-reasoning', 'unusable:empty'],
    ['finish; reason=length', 'unusable:length'],
    ['finish; reason=content-filter', 'unusable:content-filter'],
  ])('%s is asked for again on a fresh connection, then on the main route', async (fault, word) => {
    const { handoffs, outcomes, server } = await opened()
    server.faults.always(fault, ofModel('aux-model'))
    expect((await handoffs.write(handoffOf(conversation()), never)).kind).toBe('written')
    expect(outcomes()).toEqual([`aux-model ${word}`, `aux-model ${word}`, 'main-model answered'])
    const [first, second] = server.journal.entries
    expect(second?.socket.id).not.toBe(first?.socket.id)
  })

  it('one that its thoughts left no room for is asked for again with more', async () => {
    const { handoffs, outcomes, server } = await opened()
    server.faults.next('finish; reason=length')
    expect((await handoffs.write(handoffOf(conversation()), never)).kind).toBe('written')
    expect(outcomes()).toEqual(['aux-model unusable:length', 'aux-model answered'])
    const limits = server.journal.entries.map(({ body }) =>
      isObject(body) ? Number(body['max_tokens'] ?? body['max_completion_tokens']) : 0,
    )
    expect(limits[1]).toBe(Number(limits[0]) + 8_000)
  })

  it('a refusal in words is no summary [fault 51]', async () => {
    const { handoffs, outcomes, server } = await opened()
    server.faults.always('refusal-in-words')
    const reply = await handoffs.write(handoffOf(conversation()), never)
    expect(reply).toMatchObject({ kind: 'failed', reason: 'unusable:refusal' })
    expect(outcomes()).toHaveLength(3)
  })

  it.each([
    ['continuation', 'I notice your message is incomplete. Could you tell me what you need?'],
    ['tool-call', '<tool_call>{"name": "read", "arguments": {"path": "survey"}}</tool_call>'],
    ['too-short', '## What remains\n- Nothing.'],
  ])('a %s is asked for again, then on the main route', async (fault, text) => {
    const { handoffs } = await opened({
      script: ({ model }) => ({ text: model === 'main-model' ? english : text }),
    })
    const messages = conversation(30, 5).map((message) =>
      message.role === 'assistant'
        ? assistant(`Long: ${textOf(message)} ${'and on '.repeat(90)}`)
        : message,
    )
    expect(await handoffs.write(handoffOf(messages), never)).toMatchObject({
      kind: 'written',
      provenance: { rung: 'main' },
    })
    await bench.close()
    const alone = await opened({ script: () => ({ text }) })
    expect(await alone.handoffs.write(handoffOf(messages), never)).toMatchObject({
      kind: 'failed',
      reason: `unusable:${fault}`,
    })
  })

  it('a summary in another script is requested again, and taken if no route does better [fault 51]', async () => {
    const russian = 'Пожалуйста, проверь карту гавани и запиши все глубины у причалов. '
    const messages = [...conversation().slice(0, -1), user(russian.repeat(90)), user('Дальше.')]
    let calls = 0
    const { handoffs } = await opened({
      script: ({ model }) => {
        calls++
        return { text: model === 'main-model' ? `## Ход\n- ${russian.repeat(3)}` : english }
      },
    })
    const better = await handoffs.write(handoffOf(messages), never)
    expect(better).toMatchObject({ kind: 'written' })
    expect(JSON.stringify(better)).toContain('## Ход')
    expect(calls).toBe(3)
    await bench.close()
    const alone = await opened({ script: () => ({ text: english }) })
    const taken = await alone.handoffs.write(handoffOf(messages), never)
    expect(taken).toMatchObject({ kind: 'written' })
  })

  it('names the rung that wrote the accepted summary, not the last one asked', async () => {
    const russian = 'Пожалуйста, проверь карту гавани и запиши все глубины у причалов. '
    const messages = [...conversation().slice(0, -1), user(russian.repeat(90)), user('Дальше.')]
    const { handoffs } = await opened({
      script: ({ model }) => ({
        text: model === 'main-model' ? 'I am sorry, but I cannot help with that.' : english,
      }),
    })
    expect(await handoffs.write(handoffOf(messages), never)).toMatchObject({
      kind: 'written',
      provenance: { modelRoute: expect.stringContaining('aux-model'), rung: 'auxiliary' },
    })
  })

  it('the failure of all rungs changes nothing, and reports the reason and the cost [I12]', async () => {
    const { handoffs, server } = await opened()
    server.faults.always('status; code=400')
    const messages = conversation()
    const before = JSON.stringify(messages)
    const reply = await handoffs.write(handoffOf(messages), never)
    expect(reply).toMatchObject({ kind: 'failed', reason: 'refused:bad-request:400' })
    expect(JSON.stringify(messages)).toBe(before)
  })

  it('an earlier handoff is brought up to date, not summarized again', async () => {
    const { handoffs, server } = await opened()
    const first = await handoffs.write(handoffOf(conversation()), never)
    if (first.kind !== 'written') throw new Error('not written')
    server.journal.clear()
    const more = conversation(20).slice(1)
    const second = await handoffs.write(
      handoffOf([system('You are careful.'), { role: 'handoff', handoff: first.handoff }, ...more]),
      never,
    )
    expect(second).toMatchObject({ kind: 'written', handoff: { compactions: 2 } })
    expect(server.journal.entries).toHaveLength(1)
    expect(server.journal.last?.bodyText).toContain('Bring it up to date')
  })
})

describe('a summarizer whose own context overflows', () => {
  it('the range is split until it fits, and every part of it is read [fault 58]', async () => {
    // Configured as large, in truth small: only the provider's refusals tell.
    const { handoffs, server, outcomes } = await opened({
      windowTokens: (model) => (model === 'aux-model' ? 9_000 : undefined),
    })
    const messages = conversation(60, 60)
    const reply = await handoffs.write(handoffOf(messages, { limits: LARGE }), never)
    expect(reply.kind).toBe('written')
    const read = server.journal.entries.filter(({ status }) => status === 200)
    const bodies = read.map(({ bodyText }) => bodyText).join('\n')
    for (let at = 0; at < 60; at++) expect(bodies).toContain(`Question ${at}:`)
    expect(read.length).toBeGreaterThan(3)
    const refused = outcomes().filter((each) => each.includes('overflow'))
    expect(refused.length).toBeLessThan(12)
    expect(outcomes().some((each) => each.startsWith('main-model'))).toBe(false)
  })

  it('a window that is known is never asked for more than it takes', async () => {
    const { handoffs, server } = await opened({
      task: { windowTokens: 9_000 },
      windowTokens: (model) => (model === 'aux-model' ? 9_000 : undefined),
    })
    const reply = await handoffs.write(handoffOf(conversation(60, 60), { limits: LARGE }), never)
    expect(reply.kind).toBe('written')
    expect(server.journal.entries.every(({ status }) => status === 200)).toBe(true)
  })

  it('one that refuses everything as too long ends in a reason, after few calls [fault 58]', async () => {
    const { handoffs, server } = await opened()
    server.faults.always('context-overflow')
    const reply = await handoffs.write(handoffOf(conversation(60, 60), { limits: LARGE }), never)
    expect(reply.kind).toBe('failed')
    expect(server.journal.requests).toBeLessThan(20)
  })
})

function modelOf({ body }: JournalEntry): unknown {
  return isObject(body) ? body['model'] : undefined
}

const LARGE = { hardTokens: 60_000, outputTokens: 4_000 }

describe('a route that keeps failing', () => {
  it('rests, also after a restart; then one call tries it, and it is back when that is answered', async () => {
    const { handoffs, server, outcomes, reopen, time } = await opened()
    const ofAux = () => server.journal.entries.filter((entry) => modelOf(entry) === 'aux-model')
    const lift = server.faults.always('reset-before-headers', ofModel('aux-model'))
    for (let at = 0; at < 3; at++) await handoffs.write(handoffOf(conversation(4)), never)
    expect(outcomes().filter((each) => each === 'aux-model connection:reset')).toHaveLength(3)
    lift()

    const restarted = reopen()
    const write = () => restarted.handoffs.write(handoffOf(conversation(4)), never)
    const before = ofAux().length
    expect((await write()).kind).toBe('written')
    expect(ofAux()).toHaveLength(before)

    time.aheadMs = 31_000
    const replies = await Promise.all([write(), write(), write(), write()])
    expect(replies.map(({ kind }) => kind)).toEqual(Array(4).fill('written'))
    expect(ofAux()).toHaveLength(before + 1)
    await Promise.all([write(), write()])
    expect(ofAux()).toHaveLength(before + 3)
  })

  it('is tried by one of several processes that share the record, and by another if that one dies', async () => {
    const { handoffs, server, reopen, time } = await opened()
    const ofAux = () => server.journal.entries.filter((entry) => modelOf(entry) === 'aux-model')
    const lift = server.faults.always('reset-before-headers', ofModel('aux-model'))
    for (let at = 0; at < 3; at++) await handoffs.write(handoffOf(conversation(4)), never)
    lift()
    const before = ofAux().length
    time.aheadMs = 31_000
    server.faults.next('half-open', ofModel('aux-model'))
    const dying = new AbortController()
    const torn = reopen().handoffs.write(handoffOf(conversation(4)), dying.signal)
    await expect.poll(() => ofAux().length).toBe(before + 1)
    const write = () => reopen().handoffs.write(handoffOf(conversation(4)), never)
    const replies = await Promise.all([write(), write(), write(), write()])
    expect(replies.map(({ kind }) => kind)).toEqual(Array(4).fill('written'))
    expect(ofAux()).toHaveLength(before + 1)
    time.aheadMs = 62_000
    expect((await write()).kind).toBe('written')
    expect(ofAux()).toHaveLength(before + 2)
    dying.abort()
    expect((await torn).kind).toBe('failed')
  })

  it('that rests does not hide what another one failed of', async () => {
    const { handoffs, server } = await opened()
    server.faults.always('status; code=400', ofModel('aux-model'))
    server.faults.always('status; code=401', ofModel('main-model'))
    const write = async () => await handoffs.write(handoffOf(conversation(4)), never)
    expect(await write()).toMatchObject({ kind: 'failed', reason: 'refused:bad-key:401' })
    expect(await write()).toMatchObject({ kind: 'failed', reason: 'refused:bad-request:400' })
  })

  it('says when to retry if no other route is left', async () => {
    const { run, server } = await opened({ separate: false })
    server.faults.always('status; code=401')
    const request = { messages: [user('hello')] }
    const options = { sessionId: handoffOf([]).operation.sessionId, signal: never }
    await run('memory', request, options)
    const before = server.journal.requests
    const outcome = await run('memory', request, options)
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'cooling-down' })
    expect(outcome).toHaveProperty('retryAt', expect.any(Number))
    expect(server.journal.requests).toBe(before)
    // The failures of one task are not held against another.
    await run('title', request, options)
    expect(server.journal.requests).toBeGreaterThan(before)
  })
})

describe('point 14: budgets', () => {
  it('a session that has spent its tokens is stopped with a notice, and others are not', async () => {
    const allowance = { windowMs: 3_600_000, session: { tokens: 30_000 } }
    const { handoffs, notices, server } = await opened({ auxiliary: { allowance } })
    const replies = []
    for (let at = 0; at < 6; at++)
      replies.push(await handoffs.write(handoffOf(conversation()), never))
    const spent = replies.reduce(
      (sum, { spend }) => sum + spend.inputTokens + spend.outputTokens,
      0,
    )
    expect(spent).toBeGreaterThan(0)
    expect(spent).toBeLessThanOrEqual(30_000)
    const stopped = 'budget-spent:session-tokens'
    expect(replies.at(-1)).toMatchObject({ kind: 'failed', reason: stopped })
    expect(notices).toContainEqual(expect.objectContaining({ kind: 'budget-spent' }))
    const before = server.journal.requests
    const other = handoffOf(conversation(), { sessionId: 's2' as never })
    expect((await handoffs.write(other, never)).kind).toBe('written')
    expect(server.journal.requests).toBe(before + 1)
  })

  it('the host’s budget stops every session, also for calls side by side', async () => {
    const allowance = { windowMs: 3_600_000, host: { tokens: 60_000 } }
    const { handoffs } = await opened({ auxiliary: { allowance } })
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        handoffs.write(handoffOf(conversation(), { sessionId: `s${at}` as never }), never),
      ),
    )
    const spent = replies.reduce(
      (sum, { spend }) => sum + spend.inputTokens + spend.outputTokens,
      0,
    )
    expect(spent).toBeLessThanOrEqual(60_000)
    expect(replies.filter(({ kind }) => kind === 'written').length).toBeGreaterThan(0)
    expect(replies.some((reply) => reply.kind === 'failed')).toBe(true)
  })

  it('money counts if a price is known', async () => {
    const allowance = { windowMs: 3_600_000, session: { cost: 200_000 } }
    const prices = { 'aux-model': { input: 3, output: 15 } }
    const { handoffs } = await opened({ auxiliary: { allowance, prices } })
    let cost = 0
    let last: Awaited<ReturnType<typeof handoffs.write>> | undefined
    for (let at = 0; at < 8; at++) {
      last = await handoffs.write(handoffOf(conversation()), never)
      cost += last.spend.cost
    }
    expect(cost).toBeGreaterThan(0)
    expect(cost).toBeLessThanOrEqual(200_000)
    expect(last).toMatchObject({ kind: 'failed', reason: 'budget-spent:session-cost' })
  })
})
