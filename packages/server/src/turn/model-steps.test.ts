import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { AssistantMessage, AssistantPart, Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { StepRequest } from '#core/session/step'
import { messageCounter } from '#core/tokens/count'
import { FakeClock } from '../../../../test/model/fake-clock.ts'
import {
  assistant,
  handoffOf,
  notice,
  toolCall,
  toolResult,
  user,
} from '../../../../test/support/builders.ts'
import { DEADLINES } from '../model/connections/deadlines.ts'
import type { Model, ModelRequest, StreamPiece } from '../model/model.ts'
import type { FinishReason, Outcome } from '../model/outcomes/outcome.ts'
import { Calibrations } from './calibrations.ts'
import { type CallRecord, type LiveAttempt, type LivePiece, modelSteps } from './model-steps.ts'

const countMessage = messageCounter('generic')
const SESSION = sessionId('s-1')
const TOOLS = [{ name: 'look', inputSchema: { type: 'object' } }]

interface Try {
  readonly parts?: readonly AssistantPart[]
  readonly outcome: Outcome
  readonly contextTokens?: number
  /** Sends its text, then ends as interrupted when the signal aborts. */
  readonly waits?: true
}

const finished = (finish: FinishReason): Outcome => ({ kind: 'finished', finish })
const text = (said: string): AssistantPart => ({ type: 'text', text: said })
const call = (id: string): AssistantPart => ({ type: 'tool-call', id, name: 'look', input: {} })
const says = (said: string): Try => ({ parts: [text(said)], outcome: finished('stop') })
const fails = (outcome: Outcome): Try => ({ outcome })
const reset: Outcome = { kind: 'connection', fault: 'reset', freshLoanHelps: true }

/** A model with scripted attempts, and the step runner over it, with everything it published. */
function stage(tries: readonly Try[], { stepsMax = 3, clock = new FakeClock() } = {}) {
  const asked: ModelRequest[] = []
  const told: [LiveAttempt, LivePiece][] = []
  const records: CallRecord[] = []
  const calibrations = new Calibrations()
  const model: Model = {
    route: {
      ...{ name: 'main', provider: 'openai-chat', baseUrl: 'http://127.0.0.1:1', model: 'm-1' },
      credential: { kind: 'none' },
    },
    async *stream(request, { signal }): AsyncGenerator<StreamPiece> {
      const { parts = [], outcome, contextTokens, waits } = tries[asked.length] ?? says('ok')
      asked.push(request)
      for (const part of parts) {
        if (part.type === 'text' || part.type === 'reasoning') {
          yield { kind: part.type, text: part.text }
        }
        if (part.type === 'tool-call') {
          yield { kind: 'call', id: part.id, name: part.name, input: '{}' }
        }
      }
      if (waits === true && !signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      }
      yield {
        kind: 'end',
        outcome: waits === true ? { kind: 'interrupted' } : outcome,
        reply: parts.length === 0 ? null : { role: 'assistant', parts },
        usage: { inputTokens: 10, outputTokens: 2 },
        ...(contextTokens !== undefined && { contextTokens }),
      }
    },
    renew: async () => false,
  }
  const steps = modelSteps({
    agentOf: (name) =>
      name === 'ada'
        ? { models: [model], tools: TOOLS, stepsMax, outputTokensMax: 500, countMessage }
        : undefined,
    deadlines: DEADLINES,
    clock,
    random: () => 0,
    calibrations,
    onPiece: (attempt, piece) => told.push([attempt, piece]),
    onCall: (record) => records.push(record),
  })
  return { steps, asked, told, records, calibrations }
}

function ask(context: readonly Message[] = [user('hello')], more: Partial<StepRequest> = {}) {
  return { sessionId: SESSION, agent: 'ada', fence: 7, turn: 2, upto: 9, context, ...more }
}

const never = () => new AbortController().signal

describe('a step', () => {
  it('publishes pieces as they arrive and replies with the text', async () => {
    const { steps, told, asked, records } = stage([
      { parts: [text('well'), call('c1')], outcome: finished('tool-calls') },
    ])
    const outcome = await steps.run(ask(), never())
    const message: AssistantMessage = { role: 'assistant', parts: [text('well'), call('c1')] }
    expect(outcome).toEqual({ kind: 'replied', message, tokens: countMessage(message) })
    const attempt = { sessionId: SESSION, turn: 2, step: 9, attempt: '7-1' }
    expect(told).toEqual([
      [attempt, { kind: 'text', text: 'well' }],
      [attempt, { kind: 'call', callId: 'c1', tool: 'look' }],
    ])
    expect(records.map(({ route }) => route.name)).toEqual(['main'])
    expect(asked[0]).toMatchObject({ cacheKey: SESSION, outputTokensMax: 500, tools: TOOLS })
  })

  it('voids the text of a failed attempt and continues under another attempt', async () => {
    const { steps, told, records } = stage([
      { parts: [text('half')], outcome: reset },
      says('whole'),
    ])
    expect(await steps.run(ask(), never())).toMatchObject({ kind: 'replied' })
    expect(told.map(([{ attempt }, piece]) => [attempt, piece.kind])).toEqual([
      ['7-1', 'text'],
      ['7-1', 'void'],
      ['7-2', 'text'],
    ])
    expect(records.map(({ attempt, outcome, usage }) => [attempt, outcome.kind, usage])).toEqual([
      ['7-1', 'connection', undefined],
      ['7-2', 'finished', expect.objectContaining({ inputTokens: 20, outputTokens: 4 })],
    ])
  })

  it('withdraws once if the next attempt is empty', async () => {
    const { steps, told } = stage([
      { parts: [text('half')], outcome: reset },
      fails({ kind: 'refused', refusal: 'content' }),
      says('ok'),
    ])
    expect(await steps.run(ask(), never())).toMatchObject({ kind: 'failed' })
    await steps.run(ask(), never())
    expect(told.map(([{ attempt }, piece]) => [attempt, piece.kind])).toEqual([
      ['7-1', 'text'],
      ['7-1', 'void'],
      ['7-3', 'text'],
    ])
  })

  it('withdraws the text of a failed step, and never reuses an attempt id', async () => {
    const broken: Try = { parts: [text('half')], outcome: { kind: 'refused', refusal: 'content' } }
    const { steps, told } = stage([
      broken,
      { ...broken, outcome: { kind: 'overflow' } },
      says('ok'),
    ])
    for (let run = 0; run < 3; run++) await steps.run(ask(), never())
    expect(told.map(([{ attempt }, piece]) => [attempt, piece.kind])).toEqual([
      ...[
        ['7-1', 'text'],
        ['7-1', 'void'],
      ],
      ...[
        ['7-3', 'text'],
        ['7-3', 'void'],
      ],
      ['7-5', 'text'],
    ])
  })

  it('keeps the text before an interruption', async () => {
    const { steps, told } = stage([{ parts: [text('so far')], outcome: reset, waits: true }])
    const stop = new AbortController()
    const run = steps.run(ask(), stop.signal)
    stop.abort()
    expect(await run).toMatchObject({ kind: 'interrupted' })
    expect(told.map(([, piece]) => piece.kind)).toEqual(['text'])
  })

  it.each([
    ['nothing', []],
    ['only blanks', [text(' \n ')]],
    ['only thoughts', [{ type: 'reasoning', text: 'hm' } as const]],
  ])('asks once more after %s, and says so when that comes again [fault 48]', async (_, parts) => {
    const empty = { parts, outcome: finished('stop') }
    const { steps, told } = stage([empty, says('here')])
    expect(await steps.run(ask(), never())).toMatchObject({ kind: 'replied' })
    expect(told.filter(([, piece]) => piece.kind === 'void')).toHaveLength(1)

    const twice = stage([empty, empty])
    expect(await twice.steps.run(ask(), never())).toEqual({
      kind: 'failed',
      reason: 'The model answered twice with nothing.',
      retryable: false,
    })
    expect(twice.asked).toHaveLength(2)
  })

  it('keeps the text of an answer that reached its limit, and none of its calls [fault 47]', async () => {
    const { steps } = stage([{ parts: [text('so far'), call('c')], outcome: finished('length') }])
    const outcome = await steps.run(ask(), never())
    if (outcome.kind !== 'replied') throw new Error(outcome.kind)
    expect(outcome.message.parts.map((part) => part.type)).toEqual(['text', 'text'])
    expect(textOf(outcome.message)).toContain('so far\n[The answer reached its limit')
  })

  it.each([
    ['length', 'limit of 500 tokens'],
    ['content-filter', 'content filter'],
  ] as const)('names %s as the reason for an empty answer', async (finish, reason) => {
    const { steps, asked } = stage([{ outcome: finished(finish) }])
    expect(await steps.run(ask(), never())).toEqual({
      kind: 'failed',
      reason: expect.stringContaining(reason),
      retryable: false,
    })
    expect(asked).toHaveLength(1)
  })

  it('keeps the text up to an interrupt, without calls', async () => {
    const { steps } = stage([
      { parts: [text('I was'), call('c')], outcome: finished('stop'), waits: true },
    ])
    const stop = new AbortController()
    const running = steps.run(ask(), stop.signal)
    stop.abort()
    const message: AssistantMessage = { role: 'assistant', parts: [text('I was')] }
    expect(await running).toEqual({ kind: 'interrupted', message, tokens: countMessage(message) })
  })

  it("converts the provider's limit to our count, which is lower if the provider counts more", async () => {
    const counted = countMessage(user('hello')) + 500
    const limitOf = async (askedTokens: number) => {
      const { steps } = stage([fails({ kind: 'overflow', limitTokens: 400, askedTokens })])
      return await steps.run(ask(), never())
    }
    expect(await limitOf(counted)).toEqual({ kind: 'overflow', limitTokens: 400 })
    expect(await limitOf(2 * counted)).toEqual({ kind: 'overflow', limitTokens: 200 })
  })

  it('passes on an overflow and never retries it', async () => {
    const { steps, asked } = stage([fails({ kind: 'overflow' })])
    expect(await steps.run(ask(), never())).toEqual({ kind: 'overflow' })
    expect(asked).toHaveLength(1)
  })

  it('is retryable exactly if the failure is temporary', async () => {
    const key = stage([fails({ kind: 'refused', refusal: 'bad-key', status: 401 })])
    expect(await key.steps.run(ask(), never())).toMatchObject({ kind: 'failed', retryable: false })
    const line = stage([fails(reset), fails(reset)])
    expect(await line.steps.run(ask(), never())).toEqual({
      kind: 'failed',
      reason: 'The connection was reset.',
      retryable: true,
    })
  })

  it('gives unique ids to calls that share an id or have none', async () => {
    const parts = [call('x'), call('x'), call('')]
    const { steps } = stage([{ parts, outcome: finished('tool-calls') }])
    const outcome = await steps.run(ask(), never())
    if (outcome.kind !== 'replied') throw new Error(outcome.kind)
    const ids = outcome.message.parts.map((part) => part.type === 'tool-call' && part.id)
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain('')
  })

  it('of an unconfigured agent fails for good', async () => {
    const { steps } = stage([])
    expect(await steps.run(ask([], { agent: 'bob' }), never())).toMatchObject({
      kind: 'failed',
      retryable: false,
    })
  })

  it('learns from reported usage how to count this session [fault 59]', async () => {
    const long = (name: string) => user(`${name} ${'word '.repeat(2_000)}`)
    const grown = [user('a')]
    const bills: Try[] = [1, 2, 3, 4, 5, 6].map((turn) => ({
      ...says('ok'),
      contextTokens: Math.round(1.4 * countMessage(long('b')) * turn),
    }))
    const { steps, calibrations } = stage(bills)
    for (let turn = 1; turn <= 6; turn++) {
      await steps.run(ask(grown, { turn }), never())
      grown.push(long('b'))
    }
    expect(calibrations.correct(SESSION, 1_000)).toBeGreaterThan(1_150)
    expect(calibrations.correct(sessionId('other'), 1_000)).toBe(1_000)
  })
})

const step = (id: string) => [toolCall(id), toolResult(id, 'seen')]

describe('the step limit', () => {
  const context = [user('do it'), ...step('a'), ...step('b'), ...step('c')]

  it('asks the model to sum up without tools, and ends the turn', async () => {
    const { steps, asked } = stage([
      { parts: [text('Done: half.'), call('d')], outcome: finished('tool-calls') },
    ])
    const outcome = await steps.run(ask(context), never())
    if (outcome.kind !== 'replied') throw new Error(outcome.kind)
    expect(outcome.message.parts.every((part) => part.type === 'text')).toBe(true)
    expect(textOf(outcome.message)).toContain('Done: half.')
    expect(asked.map((request) => request.tools)).toEqual([[]])
    expect(textOf(asked[0]?.messages.at(-1) ?? user(''))).toContain('3 steps')
  })

  it('is not reached one step earlier', async () => {
    const { steps, asked } = stage([])
    await steps.run(ask(context.slice(0, -2)), never())
    expect(asked[0]?.tools).toEqual(TOOLS)
    expect(asked[0]?.messages).toEqual(context.slice(0, -2))
  })

  it('offers the tools again to a provider that refuses old calls without them', async () => {
    const { steps, asked } = stage([
      fails({ kind: 'refused', refusal: 'bad-request', status: 400 }),
      { parts: [call('d')], outcome: finished('tool-calls') },
    ])
    const outcome = await steps.run(ask(context), never())
    if (outcome.kind !== 'replied') throw new Error(outcome.kind)
    expect(asked.map((request) => request.tools)).toEqual([[], TOOLS])
    expect(textOf(outcome.message)).toBe('[This turn ended at its limit of 3 steps.]')
  })

  it("restarts with a person's message, and not with a notification", async () => {
    const noticed = stage([])
    await noticed.steps.run(ask([...context, notice('a line matched')]), never())
    expect(noticed.asked[0]?.tools).toEqual([])
    const asking = stage([])
    await asking.steps.run(ask([...context, user('and this')]), never())
    expect(asking.asked[0]?.tools).toEqual(TOOLS)
    const later = stage([])
    await later.steps.run(ask([...context, assistant('done'), notice('again')]), never())
    expect(later.asked[0]?.tools).toEqual(TOOLS)
  })

  it('holds across a compaction in the middle of the turn', async () => {
    const { steps, asked } = stage([])
    const handoff: Message = { role: 'handoff', handoff: handoffOf() }
    await steps.run(ask(context.slice(0, -2)), never())
    await steps.run(ask([handoff], { upto: 12 }), never())
    await steps.run(ask([handoff], { upto: 15, turn: 3 }), never())
    expect(asked.map((request) => request.tools)).toEqual([TOOLS, [], TOOLS])
  })
})
