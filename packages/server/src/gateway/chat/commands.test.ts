import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import type { Session, SessionSummary } from '../../runtime/runtime.ts'
import { CHAT_DRAWING } from './chat-drawing.ts'
import {
  activity,
  costText,
  readTyped,
  runSlashCommand,
  SLASH_COMMANDS,
  type SlashName,
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
