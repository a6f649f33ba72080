import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import type { Session, SessionSummary } from '../../runtime/runtime.ts'
import { CHAT_DRAWING } from './chat-drawing.ts'
import {
  activity,
  type CommandedSession,
  costText,
  POLICIES,
  readTyped,
  runSlashCommand,
  SLASH_COMMANDS,
  type SlashName,
  unknownText,
  usageText,
} from './commands.ts'

async function talk() {
  const { runtime } = await open()
  await runtime.createSession({ agent: 'main', id: 's' })
  const session: Session = runtime.session(sessionId('s'))
  return async (name: Exclude<SlashName, 'new'>, rest = '') => {
    const once = { source: 'test', key: crypto.randomUUID() }
    return await runSlashCommand({ name, rest }, session, { once, draw: CHAT_DRAWING })
  }
}

it('a person in a chat cannot continue past a limit of the operator', () => {
  expect(readTyped('/continue', SLASH_COMMANDS)).toEqual({ kind: 'unknown', name: 'continue' })
})

describe('a control request from a chat', () => {
  it('reports when it has been carried out', async () => {
    const say = await talk()
    expect(await say('pin', 'rule Never delete.')).toBe('Pinned as `rule`.')
    expect(await say('pin', 'rule -')).toBe('Pin `rule` is removed.')
  })

  it('reports when it was refused, and why', async () => {
    const say = await talk()
    for (const text of ['Keep this.', '-'])
      expect(await say('pin', `memory ${text}`)).toBe(
        'Not done: the name "memory" is reserved for the notes of the agent; choose another.',
      )
    expect(await say('pin', `large ${'word '.repeat(20_000)}`)).toMatch(
      /^Not done: there is no room for it: [\d,]+ tokens where [\d,]+ fit\.$/,
    )
    expect(await say('compact')).toBe('Not done: there is nothing worth compacting yet.')
  })
})

describe('/undo', () => {
  it('brings the messages back that a compaction replaced', async () => {
    const { runtime } = await open()
    await runtime.createSession({ agent: 'main', id: 's' })
    const session = runtime.session(sessionId('s'))
    const undo = async () => {
      const once = { source: 'test', key: crypto.randomUUID() }
      return await runSlashCommand({ name: 'undo', rest: '' }, session, {
        once,
        draw: CHAT_DRAWING,
      })
    }
    expect(await undo()).toBe('No compaction is in effect.')
    for (let n = 1; n <= 6; n++) {
      const text = `Fact ${n}: ${'the river is wide and slow here. '.repeat(120)}`
      await session.reply(mailOf(await session.admit(say(text, `m${n}`))), soon())
    }
    const before = await session.context({})
    await session.compact({ source: 'test', key: 'compact' })
    await until(async () => (await session.summary())?.compaction !== null)
    expect(await undo()).toMatch(/^The compaction (is|will be) undone/)
    await until(async () => (await session.summary())?.compaction === null)
    expect((await session.context({}))?.tokens).toBe(before?.tokens)
  })
})

it('a refused /undo names the sizes that /status shows, and how to find the older messages', async () => {
  const { runtime } = await open()
  await runtime.createSession({ agent: 'main', id: 's' })
  const session = runtime.session(sessionId('s'))
  const fill = async (from: number, to: number) => {
    for (let n = from; n <= to; n++) {
      const text = `Fact ${n}: ${'the river is wide and slow here. '.repeat(120)}`
      await session.reply(mailOf(await session.admit(say(text, `m${n}`))), soon())
    }
  }
  await fill(1, 7)
  await session.controlOutcome(
    mailOf(await session.compact({ source: 'test', key: 'compact' })),
    soon(),
  )
  await fill(8, 13)
  const { compaction, windowTokens = 0 } = (await session.summary()) ?? {}
  const once = { source: 'test', key: 'undo' }
  const draw = CHAT_DRAWING
  const said = await runSlashCommand({ name: 'undo', rest: '' }, session, { once, draw })
  expect(said).toMatch(
    new RegExp(
      `^Not done: without the compaction at #${compaction} the context would be [\\d,]+ of ` +
        `${windowTokens.toLocaleString('en')} tokens, and [\\d,]+ must stay free for the next message\\. ` +
        'The older messages are still stored: /search WORDS finds them\\.$',
    ),
  )
})

it('a search from a chat that finds nothing says what would match', async () => {
  const say = await talk()
  expect(await say('search', 'granodiorite gneiss')).toMatch(
    /^Nothing found\. A hit needs only one of the words/,
  )
})

describe('a command from a chat', () => {
  it('says what it needs, and what there is', async () => {
    const say = await talk()
    expect(await say('search')).toBe('Give the words to search for: /search WORDS')
    expect(await say('stop')).toBe('No turn is running.')
    expect(await say('pin')).toBe('No pins.')
    expect(await say('pin', 'rule')).toBe(
      'Give the text to keep: /pin `rule` TEXT, or - to remove it.',
    )
    expect(await say('pin', 'rule -')).toBe('There is no pin `rule`.')
    for (const name of ['rule', 'tone']) await say('pin', `${name} Be brief.`)
    expect(await say('pin')).toBe('Pins: `rule, tone`')
    expect(await say('help')).toBe(
      [
        '`/stop` stop the running turn',
        '`/compact [focus]` compact this conversation now',
        '`/undo` undo the newest compaction; the older messages are back',
        '`/new` start a new session; the old one stays',
        '`/status` show how full the context is and what is running',
        '`/search WORDS` search this conversation, compacted parts included',
        '`/pin [NAME [TEXT | -]]` keep a text word for word; - removes it',
        '`/help` this list',
      ].join('\n'),
    )
  })

  it('shows the state of a session', () => {
    const usage = { calls: 3, inputTokens: 12_345, cachedTokens: 9_000, outputTokens: 678 }
    const summary = {
      ...{ id: 's', agent: 'main', entries: 7, contextTokens: 1_500, windowTokens: 4_000 },
      ...{ compaction: 5, pins: ['rule', 'tone'], policy: 'steer', state: 'idle', waiting: 2 },
      ...{ isCompacting: false, lastTurn: 'failed' },
      usage: { ...usage, cost: 40_000, unpricedCalls: 1 },
    } as unknown as SessionSummary
    expect(CHAT_DRAWING.status(summary).split('\n')).toEqual([
      'Session `s` of main: the last turn failed, 2 queued',
      'Context 38 %: 1,500 of 4,000 tokens',
      '7 entries, compacted at #5',
      'Used: 12,345 tokens in (9,000 cached), 678 out, cost 0.0400+',
      'While a turn runs, messages enter it between two steps.',
      'Pins: `rule, tone`',
    ])
    const fresh = { compaction: null, pins: [], windowTokens: 0, waiting: 0, lastTurn: 'stopped' }
    const free = { ...usage, cachedTokens: 0, cost: 0 }
    const other = { ...summary, ...fresh, usage: { ...free, unpricedCalls: 1 } } as SessionSummary
    expect(CHAT_DRAWING.status(other).split('\n')).toEqual([
      'Session `s` of main: ready, the last turn was stopped',
      'Context 0 %: 1,500 of 0 tokens',
      '7 entries, not compacted',
      'Used: 12,345 tokens in, 678 out, cost unknown',
      'While a turn runs, messages enter it between two steps.',
    ])
    const texts = [
      { isCompacting: true },
      { lastTurn: 'answered' },
      { state: 'turn' },
      { state: 'turn', isCompacting: true },
      { state: 'gone' },
    ].map((each) => activity({ ...other, ...each } as SessionSummary))
    expect(texts).toEqual([
      ...['compacting in the background', 'ready', 'answering'],
      ...['answering, compacting in the background', 'purged'],
    ])
    expect(costText({ cost: 0, unpricedCalls: 0 })).toBe('0.00')
  })
})

it.each<[string, ReturnType<typeof readTyped>]>([
  [' \n', { kind: 'nothing' }],
  [' Hello. ', { kind: 'say', text: ' Hello. ' }],
  [' //stop now ', { kind: 'say', text: '/stop now' }],
  [' /stop ', { kind: 'command', name: 'stop', rest: '' }],
  ['/pin\n rule  Be brief. ', { kind: 'command', name: 'pin', rest: 'rule  Be brief.' }],
  ['/dice 6', { kind: 'unknown', name: 'dice' }],
  ['/toString', { kind: 'unknown', name: 'toString' }],
  ['/', { kind: 'unknown', name: '' }],
])('what is typed as %j is read', (line, typed) => {
  expect(readTyped(line, SLASH_COMMANDS)).toEqual(typed)
})

it('an unknown command is answered with what to do', () => {
  expect(unknownText('dice')).toBe(
    'There is no command /dice; /help lists them. Start with two slashes to send this to the agent.',
  )
})

describe('what a command asks of its session, and says', () => {
  const once = { source: 'quay', key: '7' }
  const admitted = { kind: 'admitted', sessionId: 's', mail: 3 }
  const hit = (number: number, text: string | null) => ({
    entry: {
      ...{ number, kind: 'input' },
      message: text === null ? null : { role: 'user', parts: [{ type: 'text', text }] },
    },
  })
  const noRoom = { kind: 'turned-down', why: 'no-room', tokensAfter: 9_000, limit: 5_000 }
  const undone = 'The compaction is undone: the agent sees the older messages again.'
  const soonUndone = 'The compaction will be undone before the next step, if the messages fit.'
  const stored = 'The older messages are still stored: /search WORDS finds them.'
  const nothing =
    'Nothing found. A hit needs only one of the words, in any form; a phrase in quotation marks must match exactly.'
  const search = { text: 'sea', limit: 5, neighbours: 0 }

  interface Answers {
    readonly summary?: object | null
    readonly admission?: object
    readonly end?: object | null
    readonly hits?: object
  }

  it.each<[Exclude<SlashName, 'new'>, string, Answers, readonly unknown[], string]>([
    ['stop', '', { summary: { state: 'turn' } }, [['stop', once]], 'Stopping.'],
    ['stop', '', { summary: null }, [['stop', once]], 'Stopping.'],
    [
      'compact',
      '',
      {},
      [
        ['compact', once],
        ['outcome', 3],
      ],
      'Compacted.',
    ],
    [
      ...(['compact', 'the harbour', { end: null }] as const),
      [
        ['compact', { ...once, focus: 'the harbour' }],
        ['outcome', 3],
      ],
      'Compaction requested; you can continue meanwhile.',
    ],
    [
      ...(['compact', '', { admission: { ...admitted, kind: 'duplicate' } }] as const),
      ...([
        [
          ['compact', once],
          ['outcome', 3],
        ],
        'Compacted.',
      ] as const),
    ],
    ...Object.entries({
      conflict: 'Not done: an earlier request had the same key and other content.',
      full: 'Not done: too many requests are queued. Try again later.',
      'too-large': 'Not done: that is too long.',
      'unknown-agent': 'There is no such agent.',
      unknown: 'There is no session yet.',
      gone: 'This session was purged.',
    }).map(
      ([kind, said]): [Exclude<SlashName, 'new'>, string, Answers, readonly unknown[], string] => [
        'compact',
        '',
        { admission: { kind } },
        [['compact', once]],
        said,
      ],
    ),
    ['undo', '', { summary: null }, [], 'No compaction is in effect.'],
    [
      'undo',
      '',
      {},
      [
        ['revert', once],
        ['outcome', 3],
      ],
      undone,
    ],
    [
      'undo',
      '',
      { end: null },
      [
        ['revert', once],
        ['outcome', 3],
      ],
      soonUndone,
    ],
    [
      ...([
        'undo',
        '',
        { end: noRoom },
        [
          ['revert', once],
          ['outcome', 3],
        ],
      ] as const),
      `Not done: without the compaction at #4 the context would be 9,000 of 8,000 tokens, and 3,000 must stay free for the next message. ${stored}`,
    ],
    [
      ...(['undo', '', { end: { ...noRoom, why: 'out-of-date' } }] as const),
      [
        ['revert', once],
        ['outcome', 3],
      ],
      'Not done: the session has changed since it was shown.',
    ],
    ['status', '', { summary: null }, [], 'There is no session yet.'],
    ['search', 'sea', {}, [['search', search]], nothing],
    [
      ...(['search', 'sea', { hits: { found: [], note: 'Half of it.' } }] as const),
      ...([[['search', search]], `${nothing}\nHalf of it.`] as const),
    ],
    [
      ...(['search', 'sea'] as const),
      { hits: { found: [hit(2, 'The\nsea. '), hit(5, null)], note: 'Half of it.' } },
      ...([[['search', search]], '#2 input: The sea.\n#5 input:\nHalf of it.'] as const),
    ],
    ['pin', '', { summary: null }, [], 'No pins.'],
    [
      'pin',
      'a b',
      { summary: null, end: null },
      [
        ['pin', { ...once, name: 'a', text: 'b' }],
        ['outcome', 3],
      ],
      'Will be pinned as `a` with the next step, if it fits.',
    ],
    ['pin', 'a -', { summary: null }, [], 'There is no pin `a`.'],
    [
      'pin',
      'rule -',
      { end: null },
      [
        ['pin', { ...once, name: 'rule', text: null }],
        ['outcome', 3],
      ],
      'Pin `rule` will be removed with the next step.',
    ],
    ['pin', 'a`b.c x', {}, [], 'Not done: a pin name has 1 to 64 letters, digits, "_" or "-".'],
  ])('/%s %s with %j', async (name, rest, answers, asked, said) => {
    const { admission = admitted, end = { kind: 'done' }, hits = { found: [] } } = answers
    const summary = { state: 'idle', compaction: 4, windowTokens: 8_000, pins: ['rule'] }
    const requests: unknown[] = []
    const note = (verb: string, answer: unknown) => async (request: unknown) => {
      requests.push([verb, request])
      return answer
    }
    const session = {
      summary: async () =>
        answers.summary === null ? undefined : { ...summary, ...answers.summary },
      ...{ stop: note('stop', admission), compact: note('compact', admission) },
      ...{ revert: note('revert', admission), pin: note('pin', admission) },
      ...{ search: note('search', hits), controlOutcome: note('outcome', end) },
    } as unknown as CommandedSession
    expect(await runSlashCommand({ name, rest }, session, { once, draw: CHAT_DRAWING })).toBe(said)
    expect(requests).toEqual(asked)
  })
})

it('each state of a session, and each way to treat messages, has its words', () => {
  const summary = { isCompacting: false, lastTurn: null, waiting: 0 }
  const said = (fields: object) => activity({ ...summary, ...fields } as SessionSummary)
  expect(said({ state: 'waiting-for-compaction' })).toBe('compacting first; your message is safe')
  expect(said({ state: 'waiting-for-model', waiting: 1 })).toBe(
    'waiting for the model; your message is safe, 1 queued',
  )
  expect(said({ state: 'waiting-for-approval' })).toBe(
    'paused at a spending limit, until the operator continues it',
  )
  expect(said({ state: 'idle', isCompacting: true, lastTurn: 'failed' })).toBe(
    'compacting in the background',
  )
  expect(POLICIES).toEqual({
    ...{ steer: 'enter it between two steps', queue: 'wait for the next turn' },
    ...{ interrupt: 'end it', collect: 'are collected for the next turn' },
  })
  const used = { calls: 1, inputTokens: 1_234, outputTokens: 5_678, cost: 0 }
  expect(usageText({ ...used, cachedTokens: 1, unpricedCalls: 0 })).toBe(
    '1,234 tokens in (1 cached), 5,678 out, cost 0.00',
  )
})
