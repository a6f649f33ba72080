import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { entryNumber, mailNumber, sessionId } from '../base/ids.ts'
import { show } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import type { Store } from '../store/contract.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { openSqliteStore } from '../store/sqlite/open.ts'
import { openAgent } from './agent.ts'
import { AgentTools } from './agent-tools.ts'
import type { AgentStep, DurableAgent, OpenAgentOptions, SessionEvent } from './agent-types.ts'
import {
  ContextTooLongError,
  callListener,
  mayRetry,
  overflowIn,
  textOfError,
  withDeadline,
} from './attempt.ts'
import { StepSlots } from './step-slots.ts'
import { checkTools, type StandardSchema, tool } from './tool.ts'
import type { Format } from './typed-formats/format.ts'
import { type OpenAIChat, openaiChat } from './typed-formats/openai.ts'

type Chat = Format<OpenAIChat>
type ChatStep = AgentStep<Chat>

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function openStore(): Store {
  const store = openMemoryStore()
  opened.push(() => store.close())
  return store
}

async function openFile(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-agent-'))
  const store = await openSqliteStore({ path: join(folder, 'store.db') })
  opened.push(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return store
}

async function open(
  step: OpenAgentOptions<Chat>['step'],
  more: Partial<OpenAgentOptions<Chat>> = {},
): Promise<DurableAgent<Chat>> {
  const store = more.store ?? openStore()
  const agent = await openAgent({
    ...{ name: 'mine', format: openaiChat, contextWindow: 32_000, system: 'Be brief.' },
    ...{ retry: { attempts: 1 }, ...more, store, step },
  })
  opened.push(() => agent.close())
  return agent
}

function lastText({ request }: ChatStep): string {
  const last: ChatCompletionMessageParam | undefined = request.messages.at(-1)
  return typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content)
}
const said = (content: string): ChatCompletionMessageParam & { role: 'assistant' } => ({
  role: 'assistant',
  content,
})
const echo = (step: ChatStep) => said(`You said: ${lastText(step)}`)

describe('an agent', () => {
  it('compacts earlier messages, so that the model sees a long message whole', async () => {
    const seen: string[] = []
    const agent = await open(
      (step) => {
        seen.push(JSON.stringify(step.request.messages))
        return said('Noted.')
      },
      { contextWindow: 12_000 },
    )
    const session = agent.session('reader')
    const filler = (words: number) => Array.from({ length: words }, (_, n) => `word${n}`).join(' ')
    for (const name of ['one', 'two', 'three', 'four']) await session.ask(`${name}: ${filler(850)}`)
    const long = `${filler(1_150)} The vault number is 8812. ${filler(1_150)}`
    expect(await session.ask(long)).toMatchObject({ kind: 'answered' })
    expect(seen.at(-1)).toContain('The vault number is 8812.')
    // It stays in the context as long as it fits.
    await session.ask('And now?')
    expect(seen.at(-1)).toContain('The vault number is 8812.')
  })

  it('gives every session the answer to its own question', async () => {
    const agent = await open(echo)
    const ids = Array.from({ length: 20 }, (_, number) => `user-${number}`)
    const answers = await Promise.all(ids.map((id) => agent.session(id).ask(`I am ${id}.`)))
    expect(answers).toEqual(
      ids.map((id) =>
        expect.objectContaining({ kind: 'answered', text: `You said: I am ${id}.`, turn: 1 }),
      ),
    )
    const first = await agent.sessions({ limit: 15 })
    const rest = await agent.sessions({ after: first.at(-1)?.id ?? '' })
    expect([...first, ...rest].map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  })

  it('searches all its own sessions, and no others', async () => {
    const store = openStore()
    const agent = await open(echo, { store })
    const other = await open(echo, { store, name: 'other' })
    await agent.session('ana').ask('The code word is granite.')
    await agent.session('bo').ask('Nothing else.')
    await other.session('cy').ask('Also granite.')
    const found = await agent.search('granite')
    expect(found.map(({ sessionId, role }) => [sessionId, role]).toSorted()).toEqual([
      ['ana', 'assistant'],
      ['ana', 'user'],
    ])
    expect(found[0]?.excerpt).toContain('granite')
    expect(await agent.search('granite', { limit: 1 })).toHaveLength(1)
  })

  it('returns the same answer for a repeated key, and refuses the key for another message', async () => {
    let steps = 0
    const agent = await open(() => said(`answer ${++steps}`))
    const session = agent.session('ana')
    const first = await session.ask('Hello.', { key: 'k' })
    const again = await session.ask('Hello.', { key: 'k' })
    expect(first).toMatchObject({ kind: 'answered', text: 'answer 1', isDuplicate: false })
    expect(again).toEqual({ ...first, isDuplicate: true })
    expect(await session.ask('Other words.', { key: 'k' })).toMatchObject({ why: 'key-reused' })
    expect(await agent.session('bo').ask('Hello.', { key: 'k' })).toMatchObject({
      ...{ kind: 'refused', why: 'key-reused' },
    })
  })

  it('reports a failed turn with its reason, and answers the next message', async () => {
    const agent = await open((step) => {
      if (lastText(step) === 'break') throw new Error('no key')
      return echo(step)
    })
    const session = agent.session('ana')
    const failed = await session.ask('break', { key: 'k' })
    expect(failed).toMatchObject({ kind: 'failed', reason: 'no key', text: '', messages: [] })
    expect(await session.ask('break', { key: 'k' })).toEqual({ ...failed, isDuplicate: true })
    expect(await session.ask('Hello.')).toMatchObject({ kind: 'answered' })
  })

  it.each<[string, OpenAgentOptions<Chat>['step'], RegExp]>([
    ['never answers', () => new Promise<never>(() => {}), /within 50 ms/],
    ['returns nothing', () => undefined as never, /has no assistant message/],
    ['returns a user message', () => ({ role: 'user', content: 'x' }) as never, /user message/],
  ])('ends a turn as failed when `step` %s', async (_, step, reason) => {
    const agent = await open(step, reason.source.includes('within') ? { stepTimeoutMs: 50 } : {})
    const answer = await agent.session('ana').ask('Hello.')
    expect(answer).toMatchObject({ kind: 'failed', reason: expect.stringMatching(reason) })
  })

  it('retries after a network error, and retracts the text of the failed attempt', async () => {
    const errors: unknown[] = []
    const agent = await open(
      ({ attempt, delta }) => {
        delta(attempt === 1 ? 'wro' : 'All ')
        if (attempt === 1) throw Object.assign(new Error('overloaded'), { status: 529 })
        delta('well.')
        return said('All well.')
      },
      { retry: { delayMs: 1 }, onError: (error) => errors.push(error) },
    )
    const session = agent.session('ana')
    const shown = new Map<string, string>()
    let retracted = 0
    for await (const event of session.events()) {
      if (event.type === 'caught-up') await session.send('Hello.', { key: 'k' })
      if (event.type === 'delta') {
        shown.set(event.attempt, (shown.get(event.attempt) ?? '') + event.text)
      }
      if (event.type === 'retract' && shown.delete(event.attempt)) retracted++
      if (event.type === 'turn-ended') {
        expect(event).toMatchObject({ turn: 1, how: 'answered' })
        break
      }
    }
    expect([retracted, ...shown.values()]).toEqual([1, 'All well.'])
    expect(errors).toHaveLength(1)
    expect(await session.ask('Hello.', { key: 'k' })).toMatchObject({ text: 'All well.' })
  })

  it('sends the stored events once and in order from any cursor', async () => {
    const agent = await open(echo)
    const session = agent.session('ana')
    for (const text of ['One.', 'Two.']) await session.ask(text)
    const from = async (after: number) => {
      const events: SessionEvent[] = []
      for await (const event of session.events({ after })) {
        if (event.type === 'caught-up') break
        events.push(event)
      }
      return events
    }
    const all = await from(0)
    expect(all.map(({ type }) => type)).toEqual([
      ...['message', 'message', 'turn-ended', 'message', 'message', 'turn-ended'],
    ])
    const said = all.flatMap((event) => (event.type === 'message' ? [event] : []))
    expect(said).toMatchObject([
      { role: 'user', text: 'One.' },
      { role: 'assistant', text: 'You said: One.' },
      { role: 'user', text: 'Two.' },
      { role: 'assistant', text: 'You said: Two.' },
    ])
    const history = await session.history()
    expect(said.map((event) => 'entry' in event && event.entry)).toEqual(
      history.map(({ number }) => number),
    )
    for (const [index, event] of all.entries()) {
      if ('cursor' in event) expect(await from(event.cursor)).toEqual(all.slice(index + 1))
    }
  })

  it('stops a turn, and the caller receives the stop', async () => {
    const running = Promise.withResolvers<void>()
    const agent = await open(({ signal }) => {
      running.resolve()
      return new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    })
    const session = agent.session('ana')
    const asked = session.ask('Hello.')
    await running.promise
    expect(await session.stop()).toEqual({ kind: 'done' })
    expect(await asked).toMatchObject({ kind: 'stopped' })
  })

  it('rejects a wait that was aborted, and each wait when it closes', async () => {
    const agent = await open(() => new Promise<never>(() => {}))
    const reason = new Error('enough')
    const stop = new AbortController()
    const aborted = agent.session('ana').ask('Hello.', { signal: stop.signal })
    const waiting = agent.session('bo').ask('Hello.')
    const closed = expect(waiting).rejects.toMatchObject({ code: 'closed' })
    stop.abort(reason)
    await expect(aborted).rejects.toBe(reason)
    await agent.close()
    await closed
    expect(() => agent.session('ana')).toThrow('was closed')
  })

  it('answers a message that another process accepted', async () => {
    const store = openStore()
    const first = await open(() => new Promise<never>(() => {}), { store })
    const sent = await first.session('ana').send('Hello.')
    await first.close()
    const second = await open(echo, { store })
    if (sent.kind !== 'sent') throw new Error('not sent')
    expect(await second.session('ana').answer(sent)).toMatchObject({ text: 'You said: Hello.' })
    const other = await open(echo, { store, name: 'other' })
    expect(await other.session('ana').ask('Hello.')).toEqual({
      ...{ kind: 'refused', why: 'belongs-to-another-agent' },
    })
  })

  it.each(['memory', 'sqlite'])(
    'compacts, undoes, pins, searches and erases in %s',
    async (kind) => {
      const agent = await open(echo, kind === 'sqlite' ? { store: await openFile() } : {})
      const session = agent.session('ana')
      expect(await session.stop()).toMatchObject({ kind: 'nothing-to-do' })
      expect(await session.info()).toBeUndefined()
      const long = 'The river is wide and slow here. '.repeat(100)
      for (let number = 1; number <= 6; number++) await session.ask(`${number}: ${long}`)
      expect(await session.pin('dog', 'The dog is called Rex.')).toEqual({ kind: 'done' })
      const before = (await session.context()).messages.length
      expect(await session.compact()).toEqual({ kind: 'done' })
      const after = (await session.context()).messages
      expect(after.length).toBeLessThan(before)
      expect(JSON.stringify(after)).toContain('The dog is called Rex.')
      expect((await session.history()).filter(({ isCovered }) => isCovered).length).toBeGreaterThan(
        0,
      )
      expect(await session.undo()).toEqual({ kind: 'done' })
      expect((await session.context()).messages).toHaveLength(before)
      expect(await session.info()).toMatchObject({ state: 'idle', agent: 'mine', waiting: 0 })
      const [hit] = await session.search('river')
      expect(JSON.stringify(hit?.messages)).toContain('river')
      const [oldest] = await session.history({ limit: 100 })
      expect(await session.erase({ entries: [oldest?.number ?? 0], reason: 'asked' })).toEqual({
        kind: 'done',
      })
      expect((await session.history({ limit: 100 }))[0]?.messages).toBeNull()
      expect(await session.erase({ entries: 'all', reason: 'asked' })).toEqual({ kind: 'done' })
      expect(await session.ask('Hello.')).toEqual({ kind: 'refused', why: 'session-deleted' })
    },
    30_000,
  )

  it('keeps images once, and shows them in requests, contexts and history', async () => {
    const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.alloc(5_000, 7)])
    const url = `data:image/png;base64,${png.toString('base64')}`
    let isShown = false
    const agent = await open(({ request }) => {
      isShown = JSON.stringify(request).includes(url)
      return said('A picture.')
    })
    const session = agent.session('ana')
    await session.ask({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })
    expect(isShown).toBe(true)
    expect(JSON.stringify(await session.context())).toContain(url)
    expect(JSON.stringify(await session.history())).toContain(url)
  })

  it('compacts in the background, with the text of `summarize`', async () => {
    const summary = `## Progress and decisions
- We spoke of rivers. The user said again and again that the river is wide and slow here, and the agent saw it.
- Nothing was decided, nothing was asked for, and no tool was called.`
    const agent = await open(echo, { contextWindow: 8_000, summarize: async () => summary })
    const session = agent.session('ana')
    for (let number = 1; number <= 14; number++) {
      await session.ask(`${number}: ${'The river is wide and slow here. '.repeat(40)}`)
    }
    const context = async () => JSON.stringify(await session.context())
    await expect.poll(context).toContain('We spoke of rivers.')
  })
})

const town = z.object({ town: z.string() })

const calling = (input: object): ChatCompletionMessageParam & { role: 'assistant' } => ({
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'c1', type: 'function', function: { name: 'weather', arguments: JSON.stringify(input) } },
  ],
})

describe('a tool of an agent', () => {
  /** The model calls the tool once and then repeats its result. */
  const callOnce = (input: object) => (step: ChatStep) =>
    step.request.messages.at(-1)?.role === 'tool' ? said(lastText(step)) : calling(input)

  it('runs once its call is durable, with a key and checked input', async () => {
    const store = openStore()
    const seen: unknown[] = []
    const weather = tool({
      description: 'The weather in a town.',
      input: town,
      execute: async ({ town }, { key }) => {
        const to = (await store.findSession(sessionId('ana')))?.tail ?? entryNumber(1)
        const range = { sessionId: sessionId('ana'), from: entryNumber(1), to }
        const entries = await store.readEntries(range)
        seen.push(key, entries.filter(({ kind }) => kind === 'assistant').length)
        return { town, rain: true }
      },
    })
    const agent = await open(callOnce({ town: 'Bergen' }), { store, tools: { weather } })
    const answer = await agent.session('ana').ask('Does it rain?')
    expect(answer).toMatchObject({ kind: 'answered', text: '{"town":"Bergen","rain":true}' })
    expect(answer.kind === 'answered' && answer.messages.map(({ role }) => role)).toEqual([
      ...['assistant', 'tool', 'assistant'],
    ])
    expect(seen).toEqual([expect.stringMatching(/^ana-\d+-c1$/), 1])
    const request = await agent.session('ana').context()
    expect(request.tools?.[0]?.function).toMatchObject({ name: 'weather' })
  })

  it.each<[string, object, () => unknown, RegExp]>([
    [
      'never runs with input that breaks its schema',
      { town: 5 },
      () => 'ran',
      /town: .*expected string/,
    ],
    [
      'does not hold up the turn when it never ends',
      { town: 'x' },
      () => new Promise(() => {}),
      /within 50 ms/,
    ],
    [
      'gives the model its error',
      { town: 'x' },
      () => Promise.reject(new Error('no such town')),
      /no such town/,
    ],
    ['may return only what JSON can hold', { town: 'x' }, () => 1n, /cannot be written as JSON/],
  ])('%s', async (_, input, execute, result) => {
    const weather = tool({ description: 'x', input: town, execute, timeoutMs: 50 })
    const agent = await open(callOnce(input), { tools: { weather } })
    const answer = await agent.session('ana').ask('Does it rain?')
    expect(answer).toMatchObject({ kind: 'answered', text: expect.stringMatching(result) })
  })

  it('runs again after a crash only if it is declared repeatable', () => {
    const common = { description: 'x', input: town, execute: () => '' }
    const look = tool({ ...common, repeatable: true })
    const pay = tool({ ...common, repeatable: false })
    const tools = new AgentTools({ tools: { look, pay, send: tool(common) } }, () => 0)
    const names = ['look', 'pay', 'send', 'unknown']
    expect(names.filter((name) => tools.isRepeatable(name))).toEqual(['look'])
  })

  it('needs a schema that describes itself', async () => {
    const bare: StandardSchema<string> = {
      '~standard': { version: 1, vendor: 'bare', validate: (value) => ({ value: String(value) }) },
    }
    // @ts-expect-error: `jsonSchema` is required for such a schema
    const weather = tool({ description: 'x', input: bare, execute: () => '' })
    await expect(open(echo, { tools: { weather } })).rejects.toMatchObject({
      ...{ code: 'no-json-schema', at: 'tools.weather.jsonSchema' },
    })
  })
})

describe('misuse of an agent', () => {
  const misuses: readonly (readonly [string, string, Partial<OpenAgentOptions<Chat>>])[] = [
    ['a window of 0', 'contextWindow', { contextWindow: 0 }],
    ['a name with a blank', 'name', { name: 'my agent' }],
    ['no store', 'store', { store: {} as Store }],
    ['an answer of 0 tokens', 'maxOutputTokens', { maxOutputTokens: 0 }],
    ['an answer larger than the window', 'maxOutputTokens', { maxOutputTokens: 32_001 }],
    ['a system prompt that is no text', 'system', { system: 5 as never }],
    ['no steps at once', 'concurrency', { concurrency: 0 }],
    ['a step that is no function', 'step', { step: 'echo' as never }],
    ['a step of no time', 'stepTimeoutMs', { stepTimeoutMs: 0 }],
    ['a delay that no timer can hold', 'stepTimeoutMs', { stepTimeoutMs: 2 ** 31 }],
    ['the same of a tool', 'toolTimeoutMs', { toolTimeoutMs: 2 ** 31 }],
    ['the same of a retry', 'retry.delayMs', { retry: { delayMs: 2 ** 31 } }],
    ['no attempt', 'retry.attempts', { retry: { attempts: 0 } }],
    ['a rule that is no function', 'retry.isRetryable', { retry: { isRetryable: true as never } }],
    ['a listener that is no function', 'onError', { onError: true as never }],
    ['a summarizer that is no function', 'summarize', { summarize: 'x' as never }],
    ['a misspelt option', 'windowTokens', { windowTokens: 1 } as object],
    ['a misspelt option of retry', 'retry.atempts', { retry: { atempts: 1 } as object }],
  ]
  it.each(misuses)('refuses %s at "%s"', async (_, at, options) => {
    await expect(
      openAgent({
        ...{ store: openStore(), name: 'mine', format: openaiChat, contextWindow: 32_000 },
        ...{ step: echo, ...options },
      }),
    ).rejects.toMatchObject({ code: 'invalid-option', at })
  })

  it('refuses invalid messages, keys and ids', async () => {
    const session = (await open(echo)).session('ana')
    await expect(session.ask(said('x'))).rejects.toMatchObject({ code: 'invalid-message' })
    await expect(session.ask(5 as never)).rejects.toMatchObject({ code: 'invalid-message' })
    await expect(session.ask('x', { key: '' })).rejects.toMatchObject({ at: 'key' })
    await expect(session.ask('x', { key: 5 as never })).rejects.toMatchObject({ at: 'key' })
    await expect(session.pin('my pin', 'x')).rejects.toMatchObject({ code: 'invalid-option' })
    await expect(open(echo).then((agent) => agent.session('a b'))).rejects.toMatchObject({
      at: 'session',
    })
  })
})

describe('a session of an agent', () => {
  it('is empty until something was said to it', async () => {
    const agent = await open(echo)
    const session = agent.session('ana')
    const none = { kind: 'nothing-to-do', why: 'There is no such session.' }
    expect(await session.history()).toEqual([])
    expect(await session.search('river')).toEqual([])
    expect(await session.compactionReport()).toBeUndefined()
    expect((await session.context()).messages).toEqual([])
    expect(await session.erase({ entries: 'all', reason: 'asked' })).toEqual(none)
    expect(await session.erase({ entries: [1], reason: 'asked' })).toEqual(none)
    await expect(session.answer({ mail: 1 })).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'mail', message: 'The session "ana" has no message 1.' },
    })
    await session.ask('Hello.')
    await expect(session.answer({ mail: 2 })).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'mail', message: 'The session "ana" has no message 2.' },
    })
    expect(await session.erase({ entries: [], reason: 'asked' })).toEqual({
      ...{ kind: 'nothing-to-do', why: 'No entries were named.' },
    })
  })

  it('tells in order what happened to it', async () => {
    const weather = tool({ description: 'x', input: town, execute: () => 'Rain.' })
    const agent = await open(
      (step) => {
        if (lastText(step) === 'break') throw new Error('no key')
        return lastText(step) === 'weather' ? calling({ town: 'Bergen' }) : echo(step)
      },
      { tools: { weather } },
    )
    const session = agent.session('ana')
    const long = 'The river is wide and slow here. '.repeat(100)
    await session.ask('weather')
    await session.ask('break')
    for (let number = 1; number <= 6; number++) await session.ask(`${number}: ${long}`)
    await session.compact()
    const report = await session.compactionReport()
    const compaction = report?.entry ?? 0
    expect(await session.compactionReport({ entry: compaction })).toEqual(report)
    expect(await session.compactionReport({ entry: compaction - 1 })).toBeUndefined()
    await session.undo()
    await session.erase({ entries: [1], reason: 'asked' })
    await session.erase({ entries: 'all', reason: 'asked' })
    const told: string[] = []
    for await (const event of session.events({ after: 0 })) {
      if (event.type === 'caught-up') break
      const how = event.type === 'turn-ended' && `${event.turn} ${event.how}`
      told.push([event.type, how || ('role' in event && event.role)].filter(Boolean).join(' '))
    }
    const turn = (number: number) => [
      ...['message user', 'message assistant', `turn-ended ${number} answered`],
    ]
    expect(told).toEqual([
      ...['message user', 'message assistant', 'message tool', 'message assistant'],
      ...['turn-ended 1 answered', 'message user'],
      ...['message assistant', 'turn-ended 2 failed'],
      ...[3, 4, 5, 6, 7, 8].flatMap(turn),
      // A deletion begins, and ends when the last piece is erased.
      ...['compacted', 'undone', 'erased', 'deleted', 'deleted'],
    ])
  })

  it('takes no message that is too large, and no answer for one that was withdrawn', async () => {
    const store = openStore()
    const agent = await open(() => new Promise<never>(() => {}), { store })
    const session = agent.session('ana')
    const limit = 4 * 1024 * 1024
    const tooLarge = { kind: 'refused', why: 'too-large', limit }
    expect(await session.send('x'.repeat(limit))).toEqual(tooLarge)
    const stopped = session.ask('One.')
    await expect.poll(async () => (await session.info())?.state).toBe('working')
    const sent = await session.send('Two.')
    if (sent.kind !== 'sent') throw new Error(sent.why)
    await store.withdraw({ sessionId: sessionId('ana'), mail: mailNumber(sent.mail) })
    expect(await session.answer(sent)).toEqual({ kind: 'withdrawn' })
    await session.stop()
    expect(await stopped).toMatchObject({ kind: 'stopped', text: '' })
  })

  const wrong = (value: unknown) => value as never
  type Session = ReturnType<DurableAgent<Chat>['session']>
  it.each<[string, string, (session: Session) => unknown]>([
    ['before', '"before" is 0. It is a whole number, at least 1.', (s) => s.history({ before: 0 })],
    [
      'limit',
      '"limit" is 0. It is a number of entries, at least 1.',
      (s) => s.history({ limit: 0 }),
    ],
    ['text', '"text" is 5.', (s) => s.search(wrong(5))],
    [
      'entry',
      '"entry" is 0. It is a whole number, at least 1.',
      (s) => s.compactionReport({ entry: 0 }),
    ],
    [
      ...['query.entri', 'There is no option "entri" in "query". The options are entry.'],
      (s) => s.compactionReport(wrong({ entri: 1 })),
    ],
    ['query', '"query" is null. Give an object.', (s) => s.compactionReport(wrong(null))],
    ['after', '"after" is -1. It is a whole number, at least 0.', (s) => s.events({ after: -1 })],
    ['at', '"at" is 0. It is a whole number, at least 1.', (s) => s.fork({ at: 0 })],
    ['id', '"id" is "a b". Use letters, digits, "_" and "-".', (s) => s.fork({ id: 'a b' })],
    ['text', '"text" is "". Give a text, or null to unpin it.', (s) => s.pin('dog', '')],
    ['text', '"text" is 5. Give a text, or null to unpin it.', (s) => s.pin('dog', wrong(5))],
    ['focus', '"focus" is 5, not a string.', (s) => s.compact({ focus: wrong(5) })],
    [
      ...['mail', '"mail" is undefined. Give what `send` returned, if its kind is "sent".'],
      (s) => s.answer(wrong({ kind: 'refused' })),
    ],
    [
      ...['mail', '"mail" is 0. Give what `send` returned, if its kind is "sent".'],
      (s) => s.answer({ mail: 0 }),
    ],
    [
      ...['entries', '"entries" is "some". Give numbers, or "all".'],
      (s) => s.erase({ entries: wrong('some'), reason: 'asked' }),
    ],
    [
      ...['entries', '"entries" is 0. It is a whole number, at least 1.'],
      (s) => s.erase({ entries: [1, 0], reason: 'asked' }),
    ],
    [
      ...['reason', '"reason" is "". Give a text that is not empty.'],
      (s) => s.erase({ entries: 'all', reason: '' }),
    ],
    [
      ...['forks', '"forks" is "drop". It is one of "refuse", "keep", "purge".'],
      (s) => s.erase({ entries: 'all', reason: 'asked', forks: wrong('drop') }),
    ],
    [
      ...[
        'signal',
        '"signal" is an object, not an AbortSignal. Of a controller, give `controller.signal`.',
      ],
      (s) => s.stop({ signal: wrong(new AbortController()) }),
    ],
  ] as [string, string, (session: Session) => unknown][])(
    'refuses a wrong %s: %s',
    async (at, message, act) => {
      const session = (await open(echo)).session('ana')
      await session.ask('Hello.')
      const error = { code: 'invalid-option', at, message }
      await expect((async () => act(session))()).rejects.toMatchObject(error)
    },
  )
})

const failed = (fields: object, message = 'no') => Object.assign(new Error(message), fields)

describe('an error of a step', () => {
  const tooLong = 'prompt is too long: 9000 tokens > 8000 maximum'

  it.each<[string, unknown, unknown]>([
    ['its own class', new ContextTooLongError(), { kind: 'overflow' }],
    ['its own class with the limit', new ContextTooLongError(8_000), { limitTokens: 8_000 }],
    ['the words of a provider', failed({ status: 400 }, tooLong), { kind: 'overflow' }],
    ['the other name of a status', failed({ statusCode: 400 }, tooLong), { kind: 'overflow' }],
    ['a code', failed({ status: 400, code: 'context_length_exceeded' }), { kind: 'overflow' }],
    ['a body', failed({ status: 400, error: { message: tooLong } }), { kind: 'overflow' }],
    ['the text of a body', failed({ status: 400, responseBody: tooLong }), { kind: 'overflow' }],
    ['no status', new Error(tooLong), undefined],
    ['a status that is no number', failed({ status: '400' }, tooLong), undefined],
    ['a limit for each minute', failed({ status: 429 }, tooLong), undefined],
    ['other words', failed({ status: 400 }), undefined],
    ['no Error', { status: 400, message: tooLong }, undefined],
  ])('says by %s whether the context is too long', (_, error, expected) => {
    const found = overflowIn(error)
    if (expected === undefined) expect(found).toBeUndefined()
    else expect(found).toEqual({ kind: 'overflow', ...expected })
  })

  it.each<[boolean, unknown]>([
    [false, 'overloaded'],
    [true, failed({ isRetryable: true, status: 400 })],
    [false, failed({ isRetryable: false, status: 500 })],
    [true, failed({ status: 408 })],
    [true, failed({ status: 409 })],
    [true, failed({ statusCode: 429 })],
    [true, failed({ status: 500 })],
    [false, failed({ status: 499 })],
    [false, failed({ status: 400, code: 'ECONNRESET' })],
    [true, failed({ code: 'ECONNRESET' })],
    [true, failed({ name: 'APIConnectionError' })],
    [true, new TypeError('fetch failed')],
    [false, new TypeError('x is not a function')],
    [false, new ThroughlineError('outcome-unknown', 'socket')],
  ])('may be tried again: %s for %j', (expected, error) => {
    expect(mayRetry(error)).toBe(expected)
  })

  it('is told in its own words', () => {
    expect(textOfError(new Error('no key'))).toBe('no key')
    expect(textOfError('no key')).toBe('no key')
    expect(textOfError({ message: 'no key' })).toBe('no key')
    expect(textOfError({ message: 5 })).toBe('an object was thrown, which is no Error.')
    expect(textOfError(null)).toBe('null was thrown, which is no Error.')
    expect(callListener('no key', 'onError', () => 5)).toBe('no key')
    const listen = () => {
      throw new Error('no disk')
    }
    expect(callListener('no key', 'onError', listen)).toBe('no key (And "onError" threw: no disk)')
  })

  it('shows a value of a wrong kind in a few words', () => {
    const values = [() => 5, Promise.resolve(), [], {}, null, undefined, 5n, 'a"b', 'x'.repeat(59)]
    expect(values.map(show)).toEqual([
      ...['a function', 'a promise (await it first)', 'an array', 'an object', 'null'],
      ...['undefined', '5', '"a\\"b"', `"${'x'.repeat(59)}…`],
    ])
    expect(show('x'.repeat(58))).toBe(`"${'x'.repeat(58)}"`)
  })
})

describe('a deadline', () => {
  it('aborts with the signal that it was given, and is not over then', () => {
    const stop = new AbortController()
    const { signal, isOver, end } = withDeadline(stop.signal, 600_000)
    expect([signal.aborted, isOver()]).toEqual([false, false])
    stop.abort(new Error('stopped'))
    expect([signal.reason.message, isOver()]).toEqual(['stopped', false])
    end()
  })
})

describe('slots for steps', () => {
  it('go to those who wait in order, and not to one who gave up', async () => {
    const slots = new StepSlots(1)
    const never = new AbortController().signal
    const giveBack = await slots.take(never)
    const started: string[] = []
    const stop = new AbortController()
    const reason = new Error('stopped')
    const gone = slots.take(stop.signal)
    const waiting = ['a', 'b'].map(async (name) => {
      const done = await slots.take(never)
      started.push(name)
      return done
    })
    stop.abort(reason)
    await expect(gone).rejects.toBe(reason)
    await expect(slots.take(stop.signal)).rejects.toBe(reason)
    giveBack()
    ;(await waiting[0])?.()
    ;(await waiting[1])?.()
    expect(started).toEqual(['a', 'b'])
    // The last one freed it.
    await slots.take(never)
  })
})

describe('the tools of an agent', () => {
  const schema = (issues?: readonly object[]) => ({
    '~standard': {
      ...{ version: 1 as const, vendor: 'test' },
      validate: (value: unknown) => (issues === undefined ? { value } : { issues }) as never,
    },
  })
  const run = async (
    execute: () => unknown,
    {
      issues,
      lease = new AbortController().signal,
    }: { issues?: object[]; lease?: AbortSignal } = {},
  ) => {
    const errors: unknown[] = []
    const options = { description: 'x', jsonSchema: {}, input: schema(issues), execute }
    const onError = (error: Error, where: object) => errors.push([error.message, where])
    const tools = new AgentTools({ tools: { look: tool(options) }, onError } as never, (message) =>
      message.role === 'tool' ? 7 : 0,
    )
    const call = { type: 'tool-call', id: 'c1', name: 'look', input: {} }
    const request = { sessionId: 'ana', turn: 3, call, key: 'ana-4-c1' } as never
    return { outcome: await tools.run(request, lease), errors, tools, request }
  }

  it('answer with a text, with JSON, or with nothing', async () => {
    for (const [made, output] of [
      ['Rain.', 'Rain.'],
      [undefined, ''],
      [{ rain: [true] }, '{"rain":[true]}'],
      [null, 'null'],
    ]) {
      const { outcome, errors } = await run(() => made)
      expect(outcome).toEqual({ outcome: 'ok', output, tokens: 7 })
      expect(errors).toEqual([])
    }
  })

  it('tell the model and `onError` of a result that no JSON can hold', async () => {
    const problem =
      'The result of the tool "look" cannot be written as JSON. Return a string or plain data.'
    for (const made of [new Map(), { all: new Set([1]) }, () => 5]) {
      const { outcome, errors } = await run(() => made)
      expect(outcome).toEqual({ outcome: 'error', output: problem, tokens: 7 })
      const where = { sessionId: 'ana', turn: 3, attempt: 1, tool: 'look' }
      expect(errors).toEqual([[problem, where]])
    }
  })

  it('name each place where the input is wrong', async () => {
    const { outcome } = await run(() => 'ran', {
      issues: [
        { message: 'too long', path: ['towns', { key: 0 }, 'name'] },
        { message: 'too much' },
      ],
    })
    const output = 'The input is not valid. towns.0.name: too long; input: too much'
    expect(outcome).toEqual({ outcome: 'error', output, tokens: 7 })
  })

  it('stop with their lease, and know no tool of another name', async () => {
    const stop = new AbortController()
    const { outcome, errors, tools, request } = await run(
      () => {
        stop.abort(new Error('lost'))
        return new Promise(() => {})
      },
      { lease: stop.signal },
    )
    expect(outcome).toEqual({ outcome: 'interrupted', output: 'Stopped.', tokens: 7 })
    expect(errors).toEqual([])
    const other = { ...(request as object), call: { id: 'c2', name: 'toString' } } as never
    expect(await tools.run(other, new AbortController().signal)).toEqual({
      ...{ outcome: 'error', output: 'There is no tool "toString".', tokens: 7 },
    })
  })

  it.each<[string, unknown, string, string]>([
    ['a list', [], 'tools', '"tools" is an array. Give an object: { name: tool }.'],
    ['a text', 'x', 'tools', '"tools" is "x". Give an object: { name: tool }.'],
    ['null', null, 'tools', '"tools" is null. Give an object: { name: tool }.'],
    [
      ...['a name with a blank', { 'a b': {} }, 'tools.a b'],
      'No model can call "a b". Use 1 to 64 letters, digits, "_" or "-".',
    ],
    [
      ...['an empty description', { a: { description: '' } }, 'tools.a.description'],
      '"tools.a.description" is "". Give a text that is not empty.',
    ],
    [
      ...['a JSON Schema as input', { a: { description: 'x', execute() {}, input: {} } }],
      ...['tools.a.input', '"tools.a.input" is an object. Give a schema of zod, valibot or '],
    ],
  ] as [string, unknown, string, string][])(
    'are refused if they are %s',
    (_, tools, at, problem) => {
      const message = expect.stringContaining(problem)
      expect(() => checkTools(tools)).toThrow(expect.objectContaining({ at, message }))
    },
  )
})
