import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openMemoryStore } from '../store/memory/open.ts'
import { openAgent } from './agent.ts'
import type { AgentSession, DurableAgent, OpenAgentOptions, SessionEvent } from './agent-types.ts'
import { tool } from './tool.ts'
import type { Format } from './typed-formats/format.ts'
import { type OpenAIChat, openaiChat } from './typed-formats/openai.ts'

type Chat = Format<OpenAIChat>
type Session = AgentSession<Chat>

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function open(more: Partial<OpenAgentOptions<Chat>> = {}): Promise<DurableAgent<Chat>> {
  const store = more.store ?? openMemoryStore()
  const agent = await openAgent({
    ...{ name: 'mine', format: openaiChat, contextWindow: 32_000, retry: { attempts: 1 } },
    ...{ step: ({ request }) => said(`Heard: ${lastText(request.messages)}`), ...more, store },
  })
  opened.push(async () => {
    await agent.close()
    await store.close()
  })
  return agent
}

const said = (content: string) => ({ role: 'assistant' as const, content })
const asked = (content: string) => ({ role: 'user' as const, content })

function lastText(messages: readonly ChatCompletionMessageParam[]): string {
  return String(messages.at(-1)?.content)
}

async function eventsOf(session: Session, after = 0): Promise<SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of session.events({ after })) {
    events.push(event)
    if (event.type === 'caught-up') return events
  }
  return events
}

const CALL = {
  ...{ id: 'c1', type: 'function' as const },
  function: { name: 'look', arguments: '{"at":"the sea"}' },
}
const CALLING = { role: 'assistant' as const, content: null, tool_calls: [CALL] }
const RESULT = { role: 'tool' as const, tool_call_id: 'c1', content: 'Saw the sea.' }
const PARAMETERS = {
  ...{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
  ...{ properties: { at: { type: 'string' } }, required: ['at'] },
}

/** An agent whose model looks when it is told to, and a session with two turns. */
async function openTalk() {
  const look = tool({
    ...{ description: 'Looks.', input: z.object({ at: z.string() }) },
    execute: ({ at }) => `Saw ${at}.`,
  })
  const agent = await open({
    ...{ tools: { look }, system: 'Be brief.' },
    step: ({ request }) => {
      const text = lastText(request.messages)
      return text === 'Look.' ? CALLING : said(`Heard: ${text}`)
    },
  })
  const session = agent.session('ana')
  const first = await session.ask('Look.', { key: 'k1' })
  const second = await session.ask('Thanks.')
  return { agent, session, first, second }
}

const entry = (number: number, role: string, message: object) => ({
  ...{ number, role, messages: [message], isCovered: false, at: expect.any(Date) },
})
const HISTORY = [
  entry(2, 'user', asked('Look.')),
  entry(3, 'assistant', CALLING),
  entry(4, 'tool', RESULT),
  entry(5, 'assistant', said('Heard: Saw the sea.')),
  entry(7, 'user', asked('Thanks.')),
  entry(8, 'assistant', said('Heard: Thanks.')),
]
const INFO = {
  ...{ id: 'ana', agent: 'mine', title: null, forkedFrom: null, state: 'idle', waiting: 0 },
  ...{ contextWindow: 32_000, contextTokens: 125, createdAt: expect.any(Date) },
}

describe('a session with two turns', () => {
  it('has answered each with what it made', async () => {
    const { session, first, second } = await openTalk()
    expect(first).toEqual({
      ...{ kind: 'answered', text: 'Heard: Saw the sea.', turn: 1, mail: 1, isDuplicate: false },
      messages: [CALLING, RESULT, said('Heard: Saw the sea.')],
    })
    expect(second).toEqual({
      ...{ kind: 'answered', text: 'Heard: Thanks.', turn: 2, mail: 2, isDuplicate: false },
      messages: [said('Heard: Thanks.')],
    })
    expect(await session.answer({ mail: 1 })).toEqual(first)
    expect(await session.send('Look.', { key: 'k1' })).toEqual({
      ...{ kind: 'sent', mail: 1, isDuplicate: true },
    })
    expect(await session.send('Hello.', { key: 'k3' })).toEqual({
      ...{ kind: 'sent', mail: 3, isDuplicate: false },
    })
  })

  it('has a history, page by page', async () => {
    const { session } = await openTalk()
    expect(await session.history()).toEqual(HISTORY)
    expect(await session.history({ before: 4, limit: 2 })).toEqual(HISTORY.slice(0, 2))
    expect(await session.history({ before: 4, limit: 1 })).toEqual(HISTORY.slice(1, 2))
    expect(await session.history({ before: 8 })).toEqual(HISTORY.slice(0, 5))
    expect(await session.history({ before: 1 })).toEqual([])
  })

  it('is listed, and shows the model its context', async () => {
    const { agent, session } = await openTalk()
    expect(await session.info()).toEqual(INFO)
    expect(await agent.sessions()).toEqual([INFO])
    expect(await agent.sessions({ after: 'ana' })).toEqual([])
    expect(await session.context()).toEqual({
      messages: [
        ...[{ role: 'system', content: 'Be brief.' }, asked('Look.'), CALLING, RESULT],
        ...[said('Heard: Saw the sea.'), asked('Thanks.'), said('Heard: Thanks.')],
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks.', parameters: PARAMETERS },
        },
      ],
    })
  })

  it('is found by its words, the best first', async () => {
    const { agent, session } = await openTalk()
    const [, call, result, reply] = HISTORY
    expect(await session.search('sea')).toEqual([result, reply, call])
    expect(await session.search('sea', { limit: 1 })).toEqual([result])
    const hits = [
      { ...result, sessionId: 'ana', excerpt: 'Saw the sea.' },
      { ...reply, sessionId: 'ana', excerpt: 'Heard: Saw the sea.' },
      { ...call, sessionId: 'ana', excerpt: 'the sea\nlook' },
    ]
    expect(await agent.search('sea')).toEqual(hits)
    expect(await agent.search('sea', { limit: 2 })).toEqual(hits.slice(0, 2))
  })

  it('has events with their places and texts', async () => {
    const { session } = await openTalk()
    const message = { type: 'message' } as const
    const events = [
      { ...message, cursor: 6, role: 'user', entry: 2, text: 'Look.' },
      { ...message, cursor: 7, role: 'assistant', entry: 3, text: '' },
      { ...message, cursor: 8, role: 'tool' },
      { ...message, cursor: 9, role: 'assistant', entry: 5, text: 'Heard: Saw the sea.' },
      { type: 'turn-ended', cursor: 10, turn: 1, how: 'answered' },
      { ...message, cursor: 13, role: 'user', entry: 7, text: 'Thanks.' },
      { ...message, cursor: 14, role: 'assistant', entry: 8, text: 'Heard: Thanks.' },
      { type: 'turn-ended', cursor: 15, turn: 2, how: 'answered' },
      { type: 'caught-up', cursor: 15 },
    ]
    expect(await eventsOf(session)).toEqual(events)
    expect(await eventsOf(session, 9)).toEqual(events.slice(4))
  })

  it('can be forked, once for each key', async () => {
    const { agent, session } = await openTalk()
    const twig = { kind: 'forked', id: 'twig', session: expect.objectContaining({ id: 'twig' }) }
    const fork = { at: 4, id: 'twig', key: 'f' }
    expect(await session.fork(fork)).toEqual({ ...twig, isDuplicate: false })
    expect(await session.fork(fork)).toEqual({ ...twig, isDuplicate: true })
    const refused = (why: string, more = {}) => ({ kind: 'refused', why, ...more })
    expect(await session.fork({ ...fork, at: 5 })).toEqual(refused('key-reused'))
    expect(await session.fork({ id: 'ana' })).toEqual(refused('id-taken'))
    expect(await session.fork({ at: 10 })).toEqual(refused('unknown-entry', { entries: 9 }))
    const none = refused('unknown-entry', { entries: 0 })
    expect(await agent.session('bo').fork()).toEqual(none)
    const forked = agent.session('twig')
    expect(await forked.info()).toEqual({
      ...{ ...INFO, id: 'twig', forkedFrom: { id: 'ana', entry: 4 }, contextTokens: 102 },
    })
    expect(await forked.history()).toEqual(HISTORY.slice(0, 3))
    const whole = await session.fork()
    expect(whole.kind === 'forked' && (await whole.session.info())).toEqual({
      ...{ ...INFO, id: expect.stringMatching(/^fork-[\da-f-]{36}$/) },
      ...{ forkedFrom: { id: 'ana', entry: 9 } },
    })
    expect(await session.erase({ entries: 'all', reason: 'asked' })).toEqual(
      refused('forked', { forks: ['twig', whole.kind === 'forked' && whole.id] }),
    )
  })

  it('is gone when it was erased whole', async () => {
    const { agent, session } = await openTalk()
    expect(await session.erase({ entries: 'all', reason: 'asked' })).toEqual({ kind: 'done' })
    expect(await session.info()).toEqual({ ...INFO, state: 'deleted', contextTokens: 0 })
    const erased = '[erased]'
    const call = { ...CALL, function: { name: 'erased', arguments: '{}' } }
    expect((await session.context()).messages).toEqual([
      ...[asked(erased), { ...said(erased), tool_calls: [call] }, { ...RESULT, content: erased }],
      ...[said(erased), asked(erased), said(erased)],
    ])
    expect(await session.search('sea')).toEqual([])
    expect(await agent.search('sea')).toEqual([])
    const refused = { kind: 'refused', why: 'session-deleted' }
    expect(await session.send('Hello.')).toEqual(refused)
    expect(await session.fork({ at: 1 })).toEqual(refused)
    expect(await session.record({ key: 'r', input: 'a', made: [said('b')] })).toEqual(refused)
    expect(await session.compact()).toEqual(refused)
  })
})

describe('a long session', () => {
  it('has a history of more entries than are read at once', async () => {
    const agent = await open()
    const session = agent.session('ana')
    await session.ask('Before.')
    const made = Array.from({ length: 450 }, (_, at) => said(`Step ${at}.`))
    expect(await session.record({ key: 'r', input: 'Many.', made })).toEqual({
      ...{ kind: 'recorded', turn: 2, isDuplicate: false },
    })
    const steps = made.map(({ content }) => content)
    const texts = async (query = {}) =>
      (await session.history(query)).map(({ messages }) => lastText(messages ?? []))
    expect(await texts()).toEqual(steps.slice(400))
    const all = ['Before.', 'Heard: Before.', 'Many.', ...steps]
    expect(await texts({ limit: 1_000 })).toEqual(all)
    // The first step is entry 6.
    expect(await texts({ before: 306, limit: 250 })).toEqual(steps.slice(50, 300))
  })

  it('answers with all messages of a turn, and those of no other', async () => {
    const look = tool({
      ...{ description: 'Looks.', input: z.object({ at: z.string() }) },
      execute: ({ at }) => `Saw ${at}.`,
    })
    const calls = Array.from({ length: 250 }, (_, at) => ({ ...CALL, id: `c${at}` }))
    const calling = { ...CALLING, tool_calls: calls }
    const agent = await open({
      ...{ tools: { look }, contextWindow: 200_000 },
      step: ({ request }) => {
        const text = lastText(request.messages)
        return text === 'Look.' ? calling : said(`Heard: ${text}`)
      },
    })
    const session = agent.session('ana')
    await session.ask('Before.')
    const results = calls.map(({ id }) => ({ ...RESULT, tool_call_id: id }))
    expect(await session.ask('Look.')).toEqual({
      ...{ kind: 'answered', text: 'Heard: Saw the sea.', turn: 2, mail: 2, isDuplicate: false },
      messages: [calling, ...results, said('Heard: Saw the sea.')],
    })
  })
})

describe('a wrong option of an agent', () => {
  it.each<[object, string, string]>([
    [
      { contextWindow: 0 },
      'contextWindow',
      '"contextWindow" is 0. It is a number of tokens, at least 1,000.',
    ],
    [{ contextWindow: undefined }, 'contextWindow', 'Give "contextWindow".'],
    [
      { contextWindow: 1_000, system: 'x'.repeat(4_000) },
      'contextWindow',
      'System text and tools take 1,143 tokens, but a window of 1,000 leaves 550 for them. Shorten the system text, switch tools off, or choose a model with a larger window.',
    ],
    [{ name: 'a b' }, 'name', '"name" is "a b". Use 1 to 64 letters, digits, "_" or "-".'],
    [
      { store: {} },
      'store',
      '"store" is an object. Open one with openMemoryStore or openSqliteStore of "@throughline/core/store".',
    ],
    [
      { format: 'openai' },
      'format',
      '"format" is "openai". Import a format instead: openaiChat or openaiResponses from "@throughline/core/openai", anthropic from "@throughline/core/anthropic", gemini from "@throughline/core/gemini", aiSdk from "@throughline/core/ai-sdk", or langchain from "@throughline/core/langchain".',
    ],
    [
      { maxOutputTokens: 0 },
      'maxOutputTokens',
      '"maxOutputTokens" is 0. It is a number of tokens.',
    ],
    [
      { maxOutputTokens: 32_001 },
      'maxOutputTokens',
      '"maxOutputTokens" is 32001, but the whole "contextWindow" is 32000.',
    ],
    [{ system: 5 }, 'system', '"system" is 5, not a string.'],
    [{ concurrency: 0 }, 'concurrency', '"concurrency" is 0. It is a number of steps, at least 1.'],
    [{ step: 'x' }, 'step', '"step" is "x", not a function.'],
    [
      { stepTimeoutMs: 0 },
      'stepTimeoutMs',
      '"stepTimeoutMs" is 0. It is a number of milliseconds, at least 1.',
    ],
    [
      { toolTimeoutMs: 0 },
      'toolTimeoutMs',
      '"toolTimeoutMs" is 0. It is a number of milliseconds, at least 1.',
    ],
    [
      { retry: { delayMs: 0 } },
      'retry.delayMs',
      '"retry.delayMs" is 0. It is a number of milliseconds, at least 1.',
    ],
    [
      { retry: { attempts: 0 } },
      'retry.attempts',
      '"retry.attempts" is 0. It is a number of attempts, at least 1.',
    ],
    [
      { retry: { isRetryable: 5 } },
      'retry.isRetryable',
      '"retry.isRetryable" is 5, not a function.',
    ],
    [
      { retry: { tries: 5 } },
      'retry.tries',
      'There is no option "tries" in "retry". The options are attempts, delayMs, isRetryable.',
    ],
    [{ onError: 5 }, 'onError', '"onError" is 5, not a function.'],
    [{ summarize: 5 }, 'summarize', '"summarize" is 5, not a function.'],
    [
      { model: 'x' },
      'model',
      'There is no option "model". The options are store, name, format, contextWindow, maxOutputTokens, system, tools, summarize, concurrency, stepTimeoutMs, toolTimeoutMs, retry, onError, step.',
    ],
    [
      { tools: { look: { colour: 'red' } } },
      'tools.look.colour',
      'There is no option "colour" in "tools.look". The options are description, input, jsonSchema, repeatable, timeoutMs, execute.',
    ],
  ])('number %# is named', async (options, at, message) => {
    const error = await open(options as never).then(
      () => null,
      (each: Error) => each,
    )
    expect(error).toMatchObject({ at })
    expect(error?.message).toBe(message)
  })
})

describe('a misspelt option of a call', () => {
  const wrong = { wrong: 1 } as never
  it.each<[string, (session: Session, agent: DurableAgent<Chat>) => unknown, string, string]>([
    ['send', (s) => s.send('a', wrong), '', 'key'],
    ['answer', (s) => s.answer({ mail: 1 }, wrong), '', 'signal'],
    ['ask', (s) => s.ask('a', wrong), '', 'key, signal'],
    ['record', (s) => s.record(wrong), 'turn', 'key, input, made'],
    ['history', (s) => s.history(wrong), 'query', 'before, limit'],
    ['search', (s) => s.search('a', wrong), 'query', 'limit'],
    ['compactionReport', (s) => s.compactionReport(wrong), 'query', 'entry'],
    ['events', (s) => s.events(wrong), 'query', 'after, signal'],
    ['stop', (s) => s.stop(wrong), '', 'key, signal'],
    ['compact', (s) => s.compact(wrong), '', 'key, signal, focus'],
    ['undo', (s) => s.undo(wrong), '', 'key, signal'],
    ['pin', (s) => s.pin('a', 'b', wrong), '', 'key, signal'],
    ['fork', (s) => s.fork(wrong), '', 'at, id, key'],
    ['erase', (s) => s.erase(wrong), 'what', 'entries, reason, forks'],
    ['sessions', (_, agent) => agent.sessions(wrong), 'query', 'after, limit'],
    ['search in all', (_, agent) => agent.search('a', wrong), 'query', 'limit'],
  ])('is refused by %s', async (_, act, place, options) => {
    const agent = await open()
    const session = agent.session('ana')
    const inside = place === '' ? '' : ` in "${place}"`
    await expect((async () => act(session, agent))()).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: place === '' ? 'wrong' : `${place}.wrong` },
      message: `There is no option "wrong"${inside}. The options are ${options}.`,
    })
  })

  const badKey = { key: '' }
  const badSignal = { signal: {} as never }
  it.each<[string, (session: Session) => unknown]>([
    ['send', (s) => s.send('a', badKey)],
    ['ask', (s) => s.ask('a', badKey)],
    ['record', (s) => s.record({ key: '', input: 'a', made: [] })],
    ['stop', (s) => s.stop(badKey)],
    ['compact', (s) => s.compact(badKey)],
    ['undo', (s) => s.undo(badKey)],
    ['pin', (s) => s.pin('a', 'b', badKey)],
    ['fork', (s) => s.fork(badKey)],
  ])('is refused by %s, as an empty key is', async (_, act) => {
    const session = (await open()).session('ana')
    await expect((async () => act(session))()).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'key' },
    })
  })

  it.each<[string, (session: Session) => unknown]>([
    ['answer', (s) => s.answer({ mail: 1 }, badSignal)],
    ['ask', (s) => s.ask('a', badSignal)],
    ['events', (s) => s.events(badSignal)],
    ['stop', (s) => s.stop(badSignal)],
    ['compact', (s) => s.compact(badSignal)],
    ['undo', (s) => s.undo(badSignal)],
    ['pin', (s) => s.pin('a', 'b', badSignal)],
  ])('is refused by %s, as a signal of another kind is', async (_, act) => {
    const session = (await open()).session('ana')
    await expect((async () => act(session))()).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'signal' },
    })
  })
})
