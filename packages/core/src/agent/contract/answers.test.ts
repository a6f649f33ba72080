import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type Chat,
  type ChatStep,
  lastText,
  open,
  said,
} from '../../../../../test/library/agents.ts'
import type { AgentSession, SessionEvent } from '../agent-types.ts'
import { tool } from '../tool.ts'

const asked = (content: string) => ({ role: 'user' as const, content })
const hears = (step: ChatStep) => said(`Heard: ${lastText(step)}`)

async function eventsOf(session: AgentSession<Chat>, after = 0): Promise<SessionEvent[]> {
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

const look = tool({
  ...{ description: 'Looks.', input: z.object({ at: z.string() }) },
  execute: ({ at }) => `Saw ${at}.`,
})

/** An agent whose model looks when it is told to, and a session with two turns. */
async function openTalk() {
  const agent = await open((step) => (lastText(step) === 'Look.' ? CALLING : hears(step)), {
    tools: { look },
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
    const agent = await open(hears)
    const session = agent.session('ana')
    await session.ask('Before.')
    const made = Array.from({ length: 450 }, (_, at) => said(`Step ${at}.`))
    expect(await session.record({ key: 'r', input: 'Many.', made })).toEqual({
      ...{ kind: 'recorded', turn: 2, isDuplicate: false },
    })
    const steps = made.map(({ content }) => content)
    const texts = async (query = {}) =>
      (await session.history(query)).map(({ messages }) => messages?.at(-1)?.content)
    expect(await texts()).toEqual(steps.slice(400))
    const all = ['Before.', 'Heard: Before.', 'Many.', ...steps]
    expect(await texts({ limit: 1_000 })).toEqual(all)
    // The first step is entry 6.
    expect(await texts({ before: 306, limit: 250 })).toEqual(steps.slice(50, 300))
  })

  it('answers with all messages of a turn, and those of no other', async () => {
    const calls = Array.from({ length: 250 }, (_, at) => ({ ...CALL, id: `c${at}` }))
    const calling = { ...CALLING, tool_calls: calls }
    const agent = await open((step) => (lastText(step) === 'Look.' ? calling : hears(step)), {
      ...{ tools: { look }, contextWindow: 200_000 },
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
