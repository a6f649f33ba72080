import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import type { Session } from '../../runtime/runtime.ts'
import { CHAT_DRAWING } from './chat-drawing.ts'
import { readTyped, runSlashCommand, SLASH_COMMANDS, type SlashName } from './commands.ts'

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
  expect(await say('search', 'granodiorite gneiss')).toMatch(/^Nothing found\. One of the words/)
})
