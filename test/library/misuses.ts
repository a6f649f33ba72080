import { z } from 'zod'
import { type AgentStep, openAgent, openLoop, tool } from '../../packages/core/src/agent/index.ts'
import { openJournal } from '../../packages/core/src/agent/journal.ts'
import { aiSdk } from '../../packages/core/src/agent/typed-formats/ai-sdk.ts'
import { anthropic } from '../../packages/core/src/agent/typed-formats/anthropic.ts'
import type { Format } from '../../packages/core/src/agent/typed-formats/format.ts'
import { type OpenAIChat, openaiChat } from '../../packages/core/src/agent/typed-formats/openai.ts'
import {
  compact,
  compactMessages,
  normalize,
  readConversation,
  render,
} from '../../packages/core/src/index.ts'
import { openMemoryStore, openSqliteStore } from '../../packages/core/src/store/index.ts'

/**
 * What a program may do wrong, as the guide writes it, and how to do it. Each `run` ends with the
 * error that the program gets: thrown, or in `onError`.
 */
export interface Misuse {
  readonly written: string
  readonly run: () => Promise<unknown>
}

type Chat = Format<OpenAIChat>
type Options = Partial<Parameters<typeof openAgent<Chat>>[0]>

/** A value of a wrong type, as JavaScript lets one pass it. */
const wrong = (value: unknown) => value as never

/** What it throws; a test compares it, so that a value in its place fails. */
async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    return { returned: await act() }
  } catch (error) {
    return error
  }
}

const throws = (written: string, act: () => unknown): Misuse => ({
  written,
  run: () => thrownBy(act),
})

const said = (content: string) => ({ role: 'assistant', content }) as const
const chat = [{ role: 'user', content: 'Hello.' } as const, said('Hi.')]
const long = Array.from({ length: 200 }, (_, number) => ({
  role: number % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `${number}: ${'The river is wide and slow here. '.repeat(10)}`,
}))
const own = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello.' }] }]
const window = { contextWindow: 32_000 }

function optionsOf(more: Options): Parameters<typeof openAgent<Chat>>[0] {
  const store = openMemoryStore()
  const retry = { attempts: 1 }
  return {
    store,
    name: 'mine',
    format: openaiChat,
    ...window,
    step: () => said('Hi.'),
    retry,
    ...more,
  }
}

/** Closes the agent and its store, whatever comes of it. */
async function withAgent(more: Options, act: (agent: Agent) => unknown): Promise<unknown> {
  const options = optionsOf(more)
  const agent = await openAgent(options)
  try {
    return await act(agent)
  } finally {
    await agent.close()
    await options.store.close()
  }
}
type Agent = Awaited<ReturnType<typeof openAgent<Chat>>>
type Session = ReturnType<Agent['session']>

const opens = (written: string, more: Options): Misuse =>
  throws(written, () => withAgent(more, () => 'opened'))

const calls = (written: string, call: (session: Session) => unknown): Misuse =>
  throws(written, () => withAgent({}, (agent) => call(agent.session('ana'))))

/** The error of a step or a tool, as `onError` hears it, once the question is answered. */
const hears = (written: string, more: Options): Misuse => ({
  written,
  run: async () => {
    const errors: unknown[] = []
    await withAgent({ ...more, onError: (error) => errors.push(error) }, (agent) =>
      agent.session('ana').ask('Hello.'),
    )
    return errors[0]
  },
})

/** The model calls the tool once. */
const callsTool = ({ request }: AgentStep<Chat>) =>
  request.messages.at(-1)?.role === 'tool'
    ? said('Done.')
    : {
        role: 'assistant' as const,
        content: null,
        tool_calls: [
          { id: 'c', type: 'function' as const, function: { name: 'pay', arguments: '{}' } },
        ],
      }
const paying = (execute: () => unknown, timeoutMs?: number): Options => ({
  step: callsTool,
  tools: {
    pay: tool({
      ...{ description: 'Pays.', input: z.object({}), execute },
      ...(timeoutMs !== undefined && { timeoutMs }),
    }),
  },
})
const never = () => new Promise<never>(() => {})

const COMPACTING: readonly Misuse[] = [
  throws("`compactMessages('openai', …)`", () => compactMessages(wrong('openai'), chat, window)),
  throws('`contextWindow: 0`', () => compactMessages(openaiChat, chat, { contextWindow: 0 })),
  throws('`contextWindow: NaN`', () => compactMessages(openaiChat, chat, { contextWindow: NaN })),
  throws("`contextWindow: '128000'`", () =>
    compactMessages(openaiChat, chat, { contextWindow: wrong('128000') }),
  ),
  throws('neither `contextWindow` nor `targetTokens`', () => compactMessages(openaiChat, chat, {})),
  throws('`windowTokens: 128_000`', () =>
    compactMessages(openaiChat, chat, { ...window, ...{ windowTokens: 128_000 } }),
  ),
  throws('`maxOutputTokens` above `contextWindow`', () =>
    compactMessages(openaiChat, chat, { ...window, maxOutputTokens: 64_000 }),
  ),
  throws('`targetTokens` above `contextWindow`', () =>
    compactMessages(openaiChat, chat, { ...window, targetTokens: 64_000 }),
  ),
  throws('UI messages of the AI SDK', () =>
    compactMessages(aiSdk, [wrong({ id: 'm', ...own[0] })], window),
  ),
  throws('messages of another library', () => compactMessages(anthropic, wrong(toolTalk), window)),
  throws('a promise of messages', () =>
    compactMessages(openaiChat, wrong(Promise.resolve(chat)), window),
  ),
  throws('a message that contains itself', () => {
    const message: Record<string, unknown> = { role: 'user', content: 'x' }
    message['self'] = message
    return compactMessages(openaiChat, [wrong(message)], window)
  }),
  throws('`countTokens: async () => 5`', () =>
    compactMessages(openaiChat, long, { ...window, countTokens: wrong(async () => 5) }),
  ),
  throws('`signal: new AbortController()`', () =>
    compactMessages(openaiChat, chat, { ...window, signal: wrong(new AbortController()) }),
  ),
  {
    written: '`summarize: async () => response`',
    run: async () => {
      const result = await compactMessages(openaiChat, long, {
        ...{ targetTokens: 3_000, summarize: wrong(async () => ({ choices: [] })) },
      })
      return result.kind === 'failed' ? result.cause : result
    },
  },
  throws("`compact` with a library's messages", () => compact(wrong(chat))),
  throws('`budget: { windowToken: 8_000 }`', () =>
    compact(own, { budget: wrong({ windowToken: 8_000 }) }),
  ),
  throws('`budget: { windowTokens: 0 }`', () => compact(own, { budget: { windowTokens: 0 } })),
  throws("`render(messages, 'mistral')`", () => render(own, wrong('mistral'))),
  throws("`normalize(messages, 'mistral')`", () => normalize(own, wrong('mistral'))),
  throws("`readConversation(text, 'gpt')`", () => readConversation('[]', wrong('gpt'))),
]

const toolTalk = [
  ...chat,
  { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function' }] },
  { role: 'tool', tool_call_id: 'c', content: 'Done.' },
]

const OPENING: readonly Misuse[] = [
  throws('`openSqliteStore({})`', () => openSqliteStore(wrong({}))),
  throws("`openSqliteStore({ path: ':memory:' })`", () => openSqliteStore({ path: ':memory:' })),
  opens("`name: 'my agent'`", { name: 'my agent' }),
  opens('`store: openSqliteStore(…)` without `await`', { store: wrong(Promise.resolve()) }),
  opens('`retry: { atempts: 3 }`', { retry: wrong({ atempts: 3 }) }),
  opens('`stepTimeoutMs: 1e12`', { stepTimeoutMs: 1e12 }),
  opens('a system text larger than the window', { system: 'Be brief. '.repeat(20_000) }),
  opens('`tools: [weather]`', { tools: wrong([]) }),
  opens("`tools: { 'pay now': … }`", {
    tools: { 'pay now': tool({ description: 'Pays.', input: z.object({}), execute: () => '' }) },
  }),
  opens('a tool without `execute`', {
    tools: { pay: wrong({ description: 'Pays.', input: z.object({}) }) },
  }),
  opens('a tool with `repeatble: true`', {
    tools: {
      pay: wrong({ description: 'Pays.', input: z.object({}), execute() {}, repeatble: true }),
    },
  }),
  opens('a tool with `parameters` or `inputSchema`', {
    tools: { pay: wrong({ description: 'Pays.', inputSchema: z.object({}), execute() {} }) },
  }),
  opens('a JSON Schema as `input`', {
    tools: { pay: wrong({ description: 'Pays.', input: { type: 'object' }, execute() {} }) },
  }),
  opens('a schema that cannot describe itself', {
    tools: {
      pay: wrong({
        ...{ description: 'Pays.', execute() {} },
        input: { '~standard': { version: 1, vendor: 'own', validate: () => ({ value: 1 }) } },
      }),
    },
  }),
  throws('`openLoop({ step: … })`', () => openLoop(optionsOf({}))),
]

const ASKING: readonly Misuse[] = [
  throws('`agent.session(5)`', () => withAgent({}, (agent) => agent.session(wrong(5)))),
  calls("`ask('')`", (session) => session.ask('')),
  calls('asking with an assistant message', (session) => session.ask(said('Hi.'))),
  calls("`ask(text, { key: '' })`", (session) => session.ask('Hello.', { key: '' })),
  calls('`ask(text, { key: 5 })`', (session) => session.ask('Hello.', { key: wrong(5) })),
  calls("`ask(text, { idempotencyKey: 'k' })`", (session) =>
    session.ask('Hello.', wrong({ idempotencyKey: 'k' })),
  ),
  calls('`answer({ mail: 99 })`', (session) => session.answer({ mail: 99 })),
  calls('`answer(refused)`', (session) => session.answer(wrong({ kind: 'refused' }))),
  calls('`record({ made: { a: 1 } })`', (session) =>
    session.record({ key: 'k', input: 'Hello.', made: wrong({ a: 1 }) }),
  ),
  calls('`history({ limit: NaN })`', (session) => session.history({ limit: NaN })),
  calls("`pin('memory', text)`", (session) => session.pin('memory', 'The dog is Rex.')),
  calls("`pin('dog', undefined)`", (session) => session.pin('dog', wrong(undefined))),
  calls("`erase({ entries: 'everything' })`", (session) =>
    session.erase({ entries: wrong('everything'), reason: 'asked' }),
  ),
  calls("`erase({ entries: 'all' })` without a reason", (session) =>
    session.erase(wrong({ entries: 'all' })),
  ),
  calls("`erase({ forks: 'all' })`", (session) =>
    session.erase({ entries: 'all', reason: 'asked', forks: wrong('all') }),
  ),
  throws('`ask` after `close`', async () => {
    const agent = await openAgent(optionsOf({}))
    const session = agent.session('ana')
    await agent.close()
    return await session.ask('Hello.')
  }),
]

const ANSWERING: readonly Misuse[] = [
  hears('`step` returns nothing', { step: wrong(() => undefined) }),
  hears('`step` returns `{ a: 1 }`', { step: wrong(() => ({ a: 1 })) }),
  hears('`step` returns a stream', {
    step: wrong(() => ({ async *[Symbol.asyncIterator]() {} })),
  }),
  hears('`step` returns a tool message', {
    step: wrong(() => ({ role: 'tool', tool_call_id: 'c', content: 'x' })),
  }),
  hears('`step` never ends', { step: never, stepTimeoutMs: 20 }),
  hears('`delta` is given a chunk', {
    step: ({ delta }) => {
      delta(wrong({ text: 'H' }))
      return said('Hi.')
    },
  }),
  hears('a tool never ends', paying(never, 20)),
  hears(
    'a tool returns a BigInt',
    paying(() => 1n),
  ),
  hears(
    'a tool returns a Map or a Set',
    paying(() => ({ paid: new Map([['ana', 5]]) })),
  ),
  hears(
    'a tool returns a function',
    paying(() => () => 1),
  ),
  throws('a second `reply`', async () => {
    await using loop = await openLoop(loopOptions())
    void loop.session('ana').send('Hello.')
    for await (const step of loop.steps()) {
      step.reply(said('Hi.'))
      step.reply(said('Hi again.'))
    }
  }),
  {
    written: 'a worker leaves without a reply',
    run: async () => {
      const errors: unknown[] = []
      const onError = (error: unknown) => void errors.push(error)
      await using loop = await openLoop({ ...loopOptions(), onError })
      const asked = loop.session('ana').ask('Hello.')
      for await (const _ of loop.steps()) break
      await asked
      return errors[0]
    },
  },
]

function loopOptions() {
  const { step: _, ...options } = optionsOf({})
  return options
}

const journal = () => openJournal({ store: openMemoryStore(), name: 'mine' })
const KEEPING: readonly Misuse[] = [
  throws("`journal.run('c', '')`", () => journal().run('c', '')),
  throws("`change({ add: 'x' })`", () =>
    journal()
      .list('c', 'l')
      .change({ add: wrong('x') }),
  ),
  throws('`change({ add: [1n] })`', () =>
    journal()
      .list('c', 'l')
      .change({ add: [wrong(1n)] }),
  ),
  throws("`once('charge')`", () => journal().run('c', 'k').once('charge', wrong(undefined))),
  throws('`once` returns a Map', () =>
    journal()
      .run('c', 'k')
      .once('n', () => new Map()),
  ),
  throws('`once` after a try that did not end', async () => {
    const store = openMemoryStore()
    const run = () => openJournal({ store, name: 'mine' }).run('c', 'k')
    void run().once('charge', never)
    // The first one is begun when a second one meets it: whichever comes later reads that.
    return await Promise.race([run().once('charge', never), run().once('charge', never)])
  }),
]

export const MISUSES: readonly Misuse[] = [
  ...[...COMPACTING, ...OPENING, ...ASKING, ...ANSWERING, ...KEEPING],
]
