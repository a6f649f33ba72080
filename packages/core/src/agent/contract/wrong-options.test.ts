import { describe, expect, it } from 'vitest'
import { type Chat, open as openAgent, said } from '../../../../../test/library/agents.ts'
import type { AgentSession, DurableAgent, OpenAgentOptions } from '../agent-types.ts'

type Session = AgentSession<Chat>

const open = (more: Partial<OpenAgentOptions<Chat>> = {}) =>
  openAgent(more.step ?? (() => said('Noted.')), more)

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
