import { describe, expect, it } from 'vitest'
import {
  type Chat,
  type ChatStep,
  calling,
  echo,
  lastText,
  open,
  openFile,
  openStore,
  said,
  town,
} from '../../../../test/library/agents.ts'
import { entryNumber, sessionId } from '../base/ids.ts'
import type { Store } from '../store/contract.ts'
import { openAgent } from './agent.ts'
import { AgentTools } from './agent-tools.ts'
import type { OpenAgentOptions, SessionEvent } from './agent-types.ts'
import { type StandardSchema, tool } from './tool.ts'
import { openaiChat } from './typed-formats/openai.ts'

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
