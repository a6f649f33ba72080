import { describe, expect, it } from 'vitest'
import { KnownError } from '#core/base/errors'
import { type SessionId, sessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { create } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { Timeline } from '../../../../../test/simulation/timeline.ts'
import type { Admission, Edge, Mail, Runtime } from '../../runtime/runtime.ts'
import { openChatGateway } from './chat-gateway.ts'
import { earlierRoutes, followMove, moveRoutes } from './moves.ts'
import type { Incoming, Platform, PlatformHandlers, Sent } from './platform.ts'

class Refusal extends KnownError {
  override readonly name = 'Refusal'
  readonly code: string
  readonly retryable: boolean

  constructor(code: string, retryable = false) {
    super(`refused: ${code}`)
    this.code = code
    this.retryable = retryable
  }
}

const ADMITTED = { kind: 'admitted', sessionId: 's', mail: 7 } as unknown as Admission
const CONFLICT = { ...ADMITTED, kind: 'conflict' } as Admission

const PRIVATE: Incoming = {
  ...{ key: '10', address: 'room', chat: { kind: 'private', id: 'room', isAddressed: false } },
  ...{ sender: { id: 'u1', name: 'Ada', isBot: false }, text: 'Hello.' },
  attachments: async () => [],
}
const GROUP: Incoming = {
  ...PRIVATE,
  ...{ address: 'group/4', chat: { kind: 'group', id: 'group', isAddressed: true } },
}

interface Terms {
  /** What the runtime answers to messages, in turn; the last for all further ones. */
  readonly admissions?: readonly (Admission | Error)[]
  /** The fate of each message that the platform is given, in turn; then all are sent. */
  readonly sends?: readonly (Sent | Error | Promise<Sent>)[]
  readonly needsMention?: boolean
  readonly mailbox?: readonly Mail[]
  readonly withdrawal?: string
  readonly hasRoute?: boolean
  readonly isAgentGone?: boolean
  readonly summary?: Error
}

/** The gateway on virtual time, between a platform and a runtime that note what they are asked. */
function open(terms: Terms = {}) {
  const { admissions = [ADMITTED], sends = [], needsMention = false, hasRoute = true } = terms
  const timeline = new Timeline()
  const clock = {
    now: () => timeline.now,
    monotonic: () => timeline.now,
    after: (delayMs: number, callback: () => void) => timeline.plan(null, delayMs, callback),
  }
  const posts: unknown[] = []
  const asked: unknown[] = []
  const logged: unknown[] = []
  const signs: string[] = []
  const note = (level: string) => (fields: object, text: string) => {
    logged.push([level, fields, text])
  }
  const levels = { debug: note('debug'), info: note('info'), warn: note('warn') }
  const logger: Logger = { ...levels, error: note('error') }
  let handlers: PlatformHandlers | undefined
  const platform = {
    ...{ name: 'quay', account: '1' },
    capabilities: {
      ...{ edits: true, threads: false, images: false, nonce: true },
      ...{ lengthMax: 1_000, editEveryMs: 1_000, typingMs: 5_000 },
    },
    start: (given: PlatformHandlers) => {
      handlers = given
    },
    send: async ({ nonce, ...out }) => {
      posts.push([timeline.now, nonce, out.address, out.text])
      const fate = sends[posts.length - 1] ?? { kind: 'sent', id: String(posts.length) }
      if (fate instanceof Error) throw fate
      return fate
    },
    showTyping: async (address: string) => void signs.push(address),
    close: async () => void asked.push('closed'),
  } as Partial<Platform> as Platform
  const store = openMemoryStore()
  const edges: Edge[] = []
  let admitted = 0
  const admit = (verb: string) => async (request: unknown) => {
    asked.push([verb, request])
    const answer = admissions[Math.min(admitted++, admissions.length - 1)] ?? ADMITTED
    if (answer instanceof Error) throw answer
    return answer
  }
  const session = {
    admit: admit('session.admit'),
    mailbox: async (query: { after: number; limit: number }) => {
      asked.push(['mailbox', query])
      return (terms.mailbox ?? [])
        .filter(({ number }) => number > query.after)
        .slice(0, query.limit)
    },
    withdraw: async (mail: number) => {
      asked.push(['withdraw', mail])
      return { kind: terms.withdrawal ?? 'withdrawn' }
    },
    summary: async () => {
      if (terms.summary !== undefined) throw terms.summary
      return { state: 'idle', pins: [] }
    },
  }
  const runtime = {
    attach: (edge: Edge) => void edges.push(edge),
    async *events(_: object, signal: AbortSignal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      asked.push('no longer followed')
    },
    admit: admit('admit'),
    startAfresh: async (request: unknown) => {
      asked.push(['startAfresh', request])
      return terms.isAgentGone ? { kind: 'unknown-agent' } : { kind: 'started', sessionId: 's' }
    },
    findRoute: async () => (hasRoute ? 's' : undefined),
    session: () => session,
  } as unknown as Runtime
  const gateway = openChatGateway({
    ...{ platform, runtime, drafts: store, agent: 'main', needsMention, logger, clock },
    allow: { chats: ['group'], users: ['u1'], bots: ['b1'] },
  })
  const [edge] = edges
  if (handlers === undefined || edge === undefined) throw new Error('not started')
  const say = async (fields: Partial<Incoming>, base = PRIVATE) => {
    const outcome = await gateway.receive({ ...base, ...fields })
    await timeline.run(timeline.now + 1, () => false)
    return outcome
  }
  const pass = (ms: number) => timeline.run(timeline.now + ms, () => false)
  return { gateway, handlers, edge, store, posts, asked, logged, signs, say, pass }
}

const texts = (posts: readonly unknown[]) => posts.map((post) => (post as unknown[])[3])

describe('a message', () => {
  it('is admitted under the route of its chat and the key of the platform, and answered there', async () => {
    const { asked, say, signs, posts, logged } = open()
    expect(await say({})).toBe('admitted')
    const message = { source: 'quay:1', replyTo: { edge: 'quay:1', address: 'room' } }
    expect(asked).toEqual([
      [
        'admit',
        {
          ...{ agent: 'main', channel: 'quay:1', address: 'room', key: '10', ...message },
          parts: [{ type: 'text', text: 'Hello.' }],
        },
      ],
    ])
    expect([signs, posts, logged]).toEqual([['room'], [], []])
  })

  it('carries the held messages before it and its attachments, in order', async () => {
    const { asked, say } = open()
    const part = (text: string) => ({ type: 'text', text }) as const
    const before = { ...GROUP, key: '8', text: 'Before.', attachments: async () => [part('a')] }
    const attachments = async () => [part('b')]
    expect(await say({ earlier: [before], attachments }, GROUP)).toBe('admitted')
    const [[, { parts, address }]] = asked as [[string, { parts: unknown; address: string }]]
    const said = ['Ada: Before.', 'a', 'Ada: Hello.', 'b']
    expect([address, parts]).toEqual(['group/4', said.map(part)])
    const alone = open()
    expect(await alone.say({ text: '', attachments })).toBe('admitted')
    expect(alone.asked).toMatchObject([['admit', { parts: [part('b')] }]])
  })

  it.each<[string, Partial<Incoming>, Incoming]>([
    ['an empty one', { text: '' }, PRIVATE],
    ['one of a bot that is not listed', { sender: { ...PRIVATE.sender, isBot: true } }, GROUP],
    ['an edited command', { text: '/new', edit: '2' }, PRIVATE],
    [
      'an unknown command to another bot',
      { text: '/dice', chat: { ...GROUP.chat, isAddressed: false } },
      GROUP,
    ],
  ])('%s is passed over', async (_what, fields, base) => {
    const { asked, posts, say } = open()
    expect([await say(fields, base), asked, posts]).toEqual(['other', [], []])
  })

  it('of a group that does not address the bot is taken if no mention is needed', async () => {
    const aside = { chat: { ...GROUP.chat, isAddressed: false } }
    const quiet = open({ needsMention: true })
    expect(await quiet.say(aside, GROUP)).toBe('other')
    expect(await quiet.say({}, GROUP)).toBe('admitted')
    expect(await quiet.say({ key: '11' })).toBe('admitted')
    expect(await open().say(aside, GROUP)).toBe('admitted')
  })

  it('counts once, unless its platform tells of an edit', async () => {
    const { asked, say } = open()
    expect(await say({})).toBe('admitted')
    expect(await say({})).toBe('other')
    expect(await say({ edit: '1' })).toBe('admitted')
    expect(asked).toHaveLength(2)
  })

  it('of a listed bot is text, even if it looks like a command', async () => {
    const { asked, say } = open()
    const sender = { id: 'b1', name: 'Bot', isBot: true }
    expect(await say({ sender, text: '/new' }, GROUP)).toBe('admitted')
    expect(asked).toMatchObject([['admit', { parts: [{ text: 'Bot: /new' }] }]])
  })

  it('with two slashes reaches the agent with one', async () => {
    const { asked, say } = open()
    expect(await say({ text: '//new' })).toBe('admitted')
    expect(asked).toMatchObject([['admit', { parts: [{ text: '/new' }] }]])
  })

  it('with a part that cannot be read says so, but not once more for an edit', async () => {
    const { posts, say } = open()
    await say({ unsupported: 'No voice.' })
    await say({ unsupported: 'No voice.', edit: '1' })
    expect(posts).toEqual([[0, 'answer-10', 'room', 'No voice.']])
  })

  it.each<[object, string | null]>([
    [{ kind: 'duplicate', sessionId: 's', mail: 7 }, null],
    [CONFLICT, null],
    [
      { kind: 'full', limit: 50 },
      'Your message was not accepted: 50 are queued already. Please send it again later.',
    ],
    [
      { kind: 'too-large', bytes: 9, limit: 5 },
      'Your message was not accepted: it has 9 bytes; the limit is 5.',
    ],
    ...(['unknown-agent', 'unknown', 'gone'] as const).map((kind): [object, string] => [
      { kind },
      'Your message was not accepted: its agent or session no longer exists.',
    ]),
  ])('answered by %j', async (admission, refusal) => {
    const { posts, logged, signs, say } = open({ admissions: [admission as Admission] })
    const { kind } = admission as Admission
    expect(await say({})).toBe(refusal === null ? 'admitted' : 'other')
    expect(texts(posts)).toEqual(refusal === null ? [] : [refusal])
    const refused = [['warn', { kind, address: 'room' }, 'message refused']]
    expect(logged).toEqual(refusal === null ? [] : refused)
    expect(signs).toEqual(kind === 'duplicate' ? ['room'] : [])
  })

  it('for a damaged conversation is not accepted, and its sender learns what to do', async () => {
    const { posts, say } = open({ admissions: [new Refusal('damaged-row')] })
    expect(await say({})).toBe('other')
    expect(texts(posts)).toEqual([
      'The stored data of this conversation is damaged, so your message was not accepted. Tell the operator of this bot, or start another conversation with /new.',
    ])
  })
})

describe('a stranger', () => {
  const sender = { id: 'u2', name: 'Eve', isBot: false }

  it('is told once per chat what the operator would have to allow', async () => {
    const { posts, logged, asked, say, handlers } = open()
    expect(await say({ sender })).toBe('other')
    expect(await say({ sender, key: '11' })).toBe('other')
    const other = { kind: 'group', id: 'far', isAddressed: true } as const
    await say({ chat: { ...other, isAddressed: false }, address: 'far' })
    await handlers.receive({ ...PRIVATE, chat: other, address: 'far' })
    const refusal = (key: string, id: string) =>
      `I do not talk here yet, and nothing said here is kept. My operator can allow it in the configuration: gateways.quay.allow.${key}: ["${id}"]`
    expect(posts).toEqual([
      [0, 'answer-10', 'room', refusal('users', 'u2')],
      [3, 'answer-10', 'far', refusal('chats', 'far')],
    ])
    expect(logged).toEqual([
      ['info', { chat: 'room', sender: 'u2' }, 'chat not allowed'],
      ['info', { chat: 'far', sender: 'u1' }, 'chat not allowed'],
    ])
    expect(asked).toEqual([])
  })

  it('is none in a group that is allowed by its earlier id', async () => {
    const { store, handlers, say, logged } = open()
    const route = { agent: 'main', channel: 'quay:1', address: 'group' }
    await store.pointRoute({ route, sessionId: await create(store), version: 0 })
    await handlers.moved({ from: 'group', to: 'supergroup' })
    expect(logged).toEqual([
      [
        'warn',
        { from: 'group', to: 'supergroup' },
        'chat has another id: put it in the allow-list',
      ],
    ])
    const chat = { ...GROUP.chat, id: 'supergroup' }
    expect(await say({ chat, address: 'supergroup' }, GROUP)).toBe('admitted')
    expect(await say({ key: '11', chat: { ...chat, id: 'third' } }, GROUP)).toBe('other')
    const alone = { ...chat, kind: 'private' } as const
    expect(await say({ key: '12', sender, chat: alone }, GROUP)).toBe('other')
  })
})

describe('a command', () => {
  it('starts a new session under the key of its message', async () => {
    const { asked, posts, say } = open()
    expect(await say({ text: '/new' })).toBe('other')
    const route = { agent: 'main', channel: 'quay:1', address: 'room' }
    expect(asked).toEqual([['startAfresh', { ...route, source: 'quay:1', key: '10' }]])
    expect(texts(posts)).toEqual([
      'A new session begins with your next message; the old one stays.',
    ])
  })

  it('takes the earlier ids of a chat along to its new session', async () => {
    const { store, handlers, say } = open()
    const at = (address: string) => ({ agent: 'main', channel: 'quay:1', address })
    const [first, second] = [await create(store), await create(store, { id: sessionId('s') })]
    await store.pointRoute({ route: at('old'), sessionId: first, version: 0 })
    await handlers.moved({ from: 'old', to: 'room' })
    await say({ text: '/new' })
    expect(await store.findRoute(at('old'))).toMatchObject({ sessionId: second })
  })

  it('leaves the earlier ids where they are without a new session', async () => {
    const { store, handlers, say } = open({ isAgentGone: true })
    const route = { agent: 'main', channel: 'quay:1', address: 'old' }
    const sessionId = await create(store)
    await store.pointRoute({ route, sessionId, version: 0 })
    await handlers.moved({ from: 'old', to: 'room' })
    expect(await say({ text: '/new' })).toBe('other')
    expect(await store.findRoute(route)).toMatchObject({ sessionId })
  })

  it.each<[string, string, Terms]>([
    ['/start', '`/stop` stop the running turn', {}],
    ['/help', '`/stop` stop the running turn', { hasRoute: false }],
    [
      '/dice 6',
      'There is no command /dice; /help lists them. Start with two slashes to send this to the agent.',
      {},
    ],
    ['/pin', 'There is no session yet; send a message first.', { hasRoute: false }],
    ['/pin', 'No pins.', {}],
    ['/pin', 'refused: too-much', { summary: new Refusal('too-much') }],
  ])('%s is answered', async (text, first, terms) => {
    const { posts, asked, say } = open(terms)
    expect(await say({ text })).toBe('other')
    expect(texts(posts).map((each) => String(each).split('\n')[0])).toEqual([first])
    expect(asked).toEqual([])
  })

  it('that could work later is not acknowledged', async () => {
    const { say } = open({ summary: new Refusal('store-away', true) })
    await expect(say({ text: '/pin' })).rejects.toThrow('refused: store-away')
  })
})

describe('an answer of the gateway', () => {
  const rate = { kind: 'failed', why: 'rate', retryAfterMs: 90_000, text: 'slow' } as const
  const outage = { kind: 'failed', why: 'outage', text: 'away' } as const

  it('waits for the platform, a minute at most at once, and gives up after five attempts', async () => {
    const { posts, say, pass } = open({ sends: [rate] })
    await say({ text: '/help' })
    await pass(89_000)
    expect(posts).toHaveLength(1)
    await pass(60_000)
    expect(posts.map((post) => (post as unknown[])[0])).toEqual([0, 90_000])
    const away = open({ sends: Array.from({ length: 9 }, () => outage) })
    await away.say({ text: '/help' })
    await away.pass(1_000_000)
    // An attempt while the platform is held back asks it nothing.
    expect(away.posts.map((post) => (post as unknown[])[0])).toEqual([0, 10_000, 20_000])
  })

  it('that the platform will never take is logged', async () => {
    const why = 'final' as const
    const { posts, logged, say, pass } = open({ sends: [{ kind: 'failed', why, text: 'no' }] })
    await say({ text: '/help' })
    await pass(1_000_000)
    expect(posts).toHaveLength(1)
    expect(logged).toEqual([['warn', { address: 'room', reason: 'no' }, 'answer not sent']])
    const broken = open({ sends: [new Error('socket')] })
    await broken.say({ text: '/help' })
    const err = new Error('socket')
    expect(broken.logged).toEqual([['warn', { address: 'room', err }, 'answer not sent']])
  })

  it('is not waited for when the gateway closes', async () => {
    const { gateway, posts, asked, say } = open({ sends: [rate] })
    await say({ text: '/help' })
    await gateway.close()
    expect([posts.length, asked]).toEqual([1, ['closed', 'no longer followed']])
  })

  it('that is being sent is waited for', async () => {
    const { promise, resolve } = Promise.withResolvers<Sent>()
    const { gateway, asked, say, pass } = open({ sends: [promise] })
    await say({ text: '/help' })
    const closed = gateway.close().then(() => asked.push('all closed'))
    await pass(1)
    expect(asked).toEqual(['closed'])
    resolve({ kind: 'sent', id: '1' })
    await closed
    expect(asked).toEqual(['closed', 'no longer followed', 'all closed'])
  })
})

describe('a message that can never be handled', () => {
  it.each<[string, Error, number]>([
    ['invalid-body', new Refusal('invalid-body'), 1],
    ['invalid-request', new Refusal('invalid-request'), 1],
    ['invalid-id', new Refusal('invalid-id'), 1],
    ['TypeError', new TypeError('x'), 3],
    ['RangeError', new RangeError('x'), 3],
    ['SyntaxError', new SyntaxError('x'), 3],
    ['ReferenceError', new ReferenceError('x'), 3],
  ])('for %s is set aside, logged once and counted', async (reason, error, attempts) => {
    const { logged, edge, say } = open({ admissions: [error] })
    for (let n = 1; n < attempts; n++) await expect(say({})).rejects.toBe(error)
    expect(edge.problems?.()).toEqual([])
    expect(await say({})).toBe('other')
    expect(await say({})).toBe('other')
    const fields = { gateway: 'quay:1', update: 'room 10', reason }
    expect(logged).toEqual([['error', { ...fields, update: 'room 10 ' }, 'message set aside']])
    expect(edge.problems?.()).toEqual([
      '1 message of quay:1 could not be read since the start and got no answer; the log has their ids.',
    ])
  })

  it.each(['key', 'edit', 'address', 'text', 'answers'])(
    'because its %s is no text is set aside at once',
    async (field) => {
      const { asked, logged, say } = open()
      expect(await say({ [field]: 7 } as unknown as Partial<Incoming>)).toBe('other')
      expect(asked).toEqual([])
      expect(logged).toMatchObject([['error', { reason: 'UnreadableError' }, 'message set aside']])
    },
  )

  it.each([
    ['chat', { ...PRIVATE.chat, id: 7 }],
    ['sender', { ...PRIVATE.sender, id: 7 }],
    ['sender', { ...PRIVATE.sender, name: 7 }],
  ])('because of its %s %j is set aside at once', async (field, value) => {
    const { asked, say } = open()
    expect(await say({ [field]: value } as unknown as Partial<Incoming>)).toBe('other')
    expect(asked).toEqual([])
  })

  it('is waited for if the reason may pass', async () => {
    const reasons = [new Refusal('store-busy', true), new Refusal('store-away'), new Error('x')]
    for (const reason of reasons) {
      const { say, logged } = open({ admissions: [reason] })
      for (let n = 0; n < 5; n++) await expect(say({})).rejects.toBe(reason)
      expect(logged).toEqual([])
    }
  })

  it('may be found by the platform itself, with or without an id', () => {
    const { handlers, edge, logged } = open()
    for (const id of ['a', 'a', null, null]) handlers.setAside({ id, reason: 'torn' })
    const at = (update: string | null) => [
      'error',
      { gateway: 'quay:1', update, reason: 'torn' },
      'message set aside',
    ]
    expect(logged).toEqual([at('a'), at(null), at(null)])
    expect(edge.problems?.()).toEqual([
      '3 messages of quay:1 could not be read since the start and got no answer; the log has their ids.',
    ])
  })
})

describe('the outbox edge', () => {
  it('has the name of the account, and the problem that the platform reports until it is over', () => {
    const { handlers, edge, logged } = open()
    expect([edge.name, edge.problems?.()]).toEqual(['quay:1', []])
    for (const problem of ['No token.', 'No token.']) handlers.report(problem)
    expect(edge.problems?.()).toEqual(['No token.'])
    handlers.report(null)
    handlers.report(null)
    expect(edge.problems?.()).toEqual([])
    expect(logged).toEqual([
      ['error', { gateway: 'quay:1', problem: 'No token.' }, 'gateway needs attention'],
      ['info', { gateway: 'quay:1' }, 'gateway works again'],
    ])
  })

  const reply = (body: string | null) =>
    ({ sessionId: 's', key: 's-1', address: 'room', body }) as Parameters<Edge['send']>[0]

  it.each<[string | null, readonly unknown[]]>([
    ['{"text":"Hello."}', ['Hello.']],
    ['"Hello."', ['Hello.']],
    ['{"text":7}', []],
    ['null', []],
    [null, []],
  ])('sends the text in %s', async (body, said) => {
    const { edge, posts } = open()
    const receipt = said.length === 0 ? '' : '1'
    expect(await edge.send(reply(body))).toEqual({ kind: 'sent', receipt })
    expect(texts(posts)).toEqual(said)
  })

  it('reports a failure without its reason, and logs the reason of a final one', async () => {
    const failed = { kind: 'failed', text: 'blocked' } as const
    const final = open({ sends: [{ ...failed, why: 'final' }] })
    expect(await final.edge.send(reply('"x"'))).toEqual({ kind: 'failed', isFinal: true })
    const fields = { sessionId: 's', address: 'room', reason: 'blocked' }
    expect(final.logged).toEqual([['warn', fields, 'reply will never be taken']])
    const away = open({ sends: [{ ...failed, why: 'outage' }] })
    expect(await away.edge.send(reply('"x"'))).toEqual({ kind: 'failed', retryAfterMs: 10_000 })
    expect(away.logged).toEqual([])
  })
})

describe('an edited message', () => {
  const text = 'Now.'
  const mail = (fields: object) =>
    ({
      ...{ number: 7, source: 'quay:1', key: '10', state: 'pending', text: 'Hello.' },
      ...fields,
    }) as unknown as Mail
  const PARTS = [{ type: 'text', text }]
  const CHANGED = 'An earlier message was changed by its sender and now reads:'
  const message = { source: 'quay:1', replyTo: { edge: 'quay:1', address: 'room' } }
  const edited = { ...message, key: '10:edit:5' }

  async function change(terms: Terms) {
    const place = open({ admissions: [CONFLICT, ADMITTED], ...terms })
    const outcome = await place.say({ edit: '5', text })
    return { outcome, asked: place.asked.slice(1), first: place.asked[0] }
  }

  it('that is not known is a new one', async () => {
    const { outcome, asked, first } = await change({ admissions: [ADMITTED] })
    expect([outcome, asked]).toEqual(['admitted', []])
    const route = { agent: 'main', channel: 'quay:1', address: 'room' }
    expect(first).toEqual(['admit', { ...route, ...message, key: '10', parts: PARTS }])
  })

  it('that is still pending is replaced under a key of its own', async () => {
    for (const admissions of [
      [CONFLICT, ADMITTED],
      [{ ...CONFLICT, kind: 'duplicate' } as Admission, ADMITTED],
    ]) {
      const others = [{ source: 'other' }, { key: null }, { key: '100' }, { key: '1' }]
      const mailbox = [mail({}), ...others.map((fields) => mail({ number: 8, ...fields }))]
      const { outcome, asked } = await change({ admissions, mailbox })
      expect(outcome).toBe('admitted')
      expect(asked).toEqual([
        ['mailbox', { after: 6, limit: 1_000 }],
        ['withdraw', 7],
        ['session.admit', { ...edited, parts: PARTS }],
      ])
    }
  })

  it('that was withdrawn before is only admitted again', async () => {
    const { asked } = await change({ mailbox: [mail({ state: 'withdrawn' })] })
    expect(asked.slice(1)).toEqual([['session.admit', { ...edited, parts: PARTS }]])
  })

  it('that a turn has taken becomes a notification', async () => {
    const { outcome, asked } = await change({ mailbox: [mail({})], withdrawal: 'not-pending' })
    expect(outcome).toBe('admitted')
    expect(asked.slice(2)).toEqual([
      [
        'session.admit',
        { ...edited, parts: [{ type: 'text', text: CHANGED }, ...PARTS], lane: 'notification' },
      ],
    ])
  })

  it.each<[string, Terms]>([
    ['is stored already', { mailbox: [mail({}), mail({ key: '10:edit:5' })] }],
    ['is older than another', { mailbox: [mail({}), mail({ key: '10:edit:6' })] }],
    ['is older than one with more digits', { mailbox: [mail({}), mail({ key: '10:edit:10' })] }],
    ['changes nothing', { mailbox: [mail({ text })] }],
    ['changes nothing of a notification', { mailbox: [mail({ text: `${CHANGED}\n${text}` })] }],
    ['belongs to nothing that is stored', { mailbox: [] }],
    ['belongs to an earlier session of the chat', { mailbox: [mail({})], hasRoute: false }],
  ])('that %s is passed over', async (_which, terms) => {
    const { outcome, asked } = await change(terms)
    expect(outcome).toBe('other')
    expect(asked.filter((each) => (each as unknown[])[0] !== 'mailbox')).toEqual([])
  })

  it('replaces an older edit', async () => {
    const { outcome } = await change({ mailbox: [mail({ key: '10:edit:4' })] })
    expect(outcome).toBe('admitted')
  })

  it('is looked for in all of the mailbox', async () => {
    const page = Array.from({ length: 1_000 }, (_, at) => mail({ number: 7 + at, key: `x${at}` }))
    const { asked } = await change({ mailbox: [...page, mail({ number: 1_007 })] })
    expect(asked).toEqual([
      ['mailbox', { after: 6, limit: 1_000 }],
      ['mailbox', { after: 1_006, limit: 1_000 }],
      ['withdraw', 1_007],
      ['session.admit', { ...edited, parts: PARTS }],
    ])
  })
})

const at = (channel: string, address: string) => ({ agent: 'main', channel, address })

it('a chat that moves keeps its own earlier ids, and takes no route of another channel', async () => {
  const store = openMemoryStore()
  const [first, second] = [await create(store), await create(store)]
  const group = at('telegram:bot', 'group')
  const supergroup = at('telegram:bot', 'supergroup')
  const others = [at('discord:bot', 'channel'), at('telegram:other-bot', 'group')]
  for (const route of [group, ...others]) {
    await store.pointRoute({ route, sessionId: first, version: 0 })
  }
  await followMove(store, group, supergroup.address)
  const earlier = await earlierRoutes(store, supergroup)
  expect(earlier).toEqual([{ ...group, sessionId: first, version: 1 }])
  await moveRoutes(store, earlier, second)
  const targets: (SessionId | undefined)[] = []
  for (const route of [group, supergroup, ...others]) {
    targets.push((await store.findRoute(route))?.sessionId)
  }
  expect(targets).toEqual([second, first, first, first])
})
