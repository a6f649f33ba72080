import type { APIInteraction, APIMessage, REST } from 'discord.js'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { MailItem } from '#core/store/queries'
import type { SessionRow } from '#core/store/rows'
import { LOOP_RULE, type LoopRule } from '../../tools/send-message/loop.ts'
import type { PlatformHandlers } from '../chat/platform.ts'
import { BotLoopGuard, noticeFor } from './bot-loop-guard.ts'
import { accountOf, DiscordTokenError } from './failure.ts'
import { attachmentsOf, readDiscordMessage } from './incoming.ts'
import { findMark, type MailReads, snowflakeAt, timeOf } from './resume-point.ts'
import { SlashCommandHandler } from './slash-command-handler.ts'

describe('readMessage', () => {
  const author = { id: '5', username: 'ada', global_name: 'Ada' }
  const base = {
    ...{ id: '10', channel_id: '20', author, content: '', type: 0, mentions: [], embeds: [] },
    edited_timestamp: null,
  }
  const where = { isPrivate: false, chat: '20' }
  const read = (fields: object, answersAll = false) =>
    readDiscordMessage({ ...base, ...fields } as unknown as APIMessage, {
      self: '1',
      where,
      answersAll,
    })

  it('removes our own mention and keeps the ids of others beside their names', () => {
    const mentions = [{ id: '7', username: 'bob', global_name: null }]
    const { text, chat } = read({ content: '<@1> ask <@7> and <@!7>', mentions })
    expect(text).toBe('ask @bob (<@7>) and @bob (<@7>)')
    expect(chat.isAddressed).toBe(true)
  })

  it('takes a name as it is, whatever it contains, and puts no name into another', () => {
    const mentions = [
      { id: '7', username: 'x', global_name: "$' $& <@8>" },
      { id: '8', username: 'y', global_name: '$`' },
    ]
    expect(read({ content: 'a <@7> b <@8> c', mentions }).text).toBe(
      "a @$' $& <@8> (<@7>) b @$` (<@8>) c",
    )
    // As long as a message can be: it once grew to more than a string can hold.
    const content = '<@7>'.repeat(500) + '<@!7>'.repeat(400)
    expect(read({ content, mentions }).text.length).toBeLessThan(30_000)
  })

  it('detects the addressee by mention or reply; takes all messages where configured, but not from bots', () => {
    const answered = { referenced_message: { author: { id: '1' }, content: 'x' } }
    const bot = { author: { ...author, bot: true } }
    expect(read({ content: 'hi' }).chat.isAddressed).toBe(false)
    expect(read(answered).chat.isAddressed).toBe(true)
    expect(read({ content: 'hi' }, true).chat.isAddressed).toBe(true)
    expect(read({ content: 'hi', ...bot }, true).chat.isAddressed).toBe(false)
  })

  it('reads forwarded messages, and embeds if there is no other text', () => {
    const message = { content: 'the tide is in', embeds: [], attachments: [{ filename: 'a' }] }
    const forward = { message_snapshots: [{ message }], attachments: [] }
    expect(read(forward).text).toBe('(forwarded) the tide is in')
    expect(attachmentsOf({ ...base, ...forward } as unknown as APIMessage)).toHaveLength(1)
    const embeds = [{ title: 'Build 7', description: 'is green' }]
    expect(read({ embeds }).text).toBe('Build 7\nis green')
    expect(read({ content: 'look', embeds }).text).toBe('look')
  })

  it('reports unsupported parts and the time of the last edit', () => {
    expect(read({ flags: 1 << 13 }).unsupported).toContain('voice')
    expect(read({ sticker_items: [{}] }).unsupported).toContain('stickers')
    expect(read({ edited_timestamp: '1970-01-01T00:00:01Z' }).edit).toBe('1000')
    expect(read({})).not.toHaveProperty('edit')
  })
})

describe('accountOf', () => {
  it("reads the bot's id from its token, and refuses a malformed token", () => {
    expect(accountOf(`${Buffer.from('123456').toString('base64')}.x.y`)).toBe('123456')
    for (const token of ['', 'abc', '7001:AAF-x']) {
      expect(() => accountOf(token)).toThrow(DiscordTokenError)
    }
  })
})

describe('findMark', () => {
  const route = { agent: 'main', channel: 'discord:1', address: '20' }
  const from = (source: string, key: string, lane: 'user' | 'control' = 'user') =>
    ({ source, key, lane }) as MailItem
  const session = { id: 's' as SessionId, createdAt: 1_500_000_000_000 }
  const store = (mail: readonly MailItem[]): MailReads => ({
    findRoute: async () => ({ ...route, sessionId: session.id, version: 1 }),
    findSession: async () => ({ ...session, mail: mail.length }) as SessionRow,
    listMail: async ({ after = 0, limit }) => mail.slice(after, after + limit),
  })

  it('is the newest message that the session received from this account', async () => {
    const mail = [
      ...(['9', '100', '99:edit:7', 'interaction-500'] as const).map((key) =>
        from('discord:1', key),
      ),
      ...Array.from({ length: 450 }, (_, at) => from('agent:other', `${1_000 + at}`)),
    ]
    expect(await findMark(store(mail), route)).toBe('100')
  })

  it('is not moved by a command, so messages held before it are still taken', async () => {
    const mail = [from('discord:1', '9'), from('discord:1', '12', 'control')]
    expect(await findMark(store(mail), route)).toBe('9')
  })

  it('is the start of a session without messages, and absent without a session', async () => {
    const mark = (await findMark(store([]), route)) ?? ''
    expect(BigInt(mark)).toBe(BigInt(snowflakeAt(1_500_000_000_000 - 60_000)))
    const none = { ...store([]), findRoute: async () => undefined }
    expect(await findMark(none, route)).toBe(null)
  })
})

describe('BotLoopGuard', () => {
  const [SELF, ONE, OTHER, PERSON] = ['1', '7', '8', '5']
  const { messagesMax, tokensMin } = LOOP_RULE
  const long = 'word '.repeat(tokensMin)
  const open = (rule: LoopRule | null = LOOP_RULE) =>
    new BotLoopGuard({ self: SELF, bots: [ONE, OTHER], rule })

  let now = 1_700_000_000_000
  function said(from: string, to: string, words = 'thanks'): APIMessage {
    const author = { id: from, ...(from !== PERSON && { bot: true }) }
    now += 1_000
    return { id: snowflakeAt(now), author, content: `<@${to}> ${words}` } as unknown as APIMessage
  }

  /** The bots thank each other in turn; returns the verdicts on their messages to us. */
  function thank(guard: BotLoopGuard, bot: string, times: number): readonly string[] {
    return Array.from({ length: times }, () => {
      const theirs = said(bot, SELF)
      const verdict = guard.judge(theirs)
      if (verdict !== 'send') guard.hold(theirs, verdict)
      guard.note(theirs)
      if (verdict === 'send') guard.note(said(SELF, bot))
      return verdict
    })
  }

  it("holds a bot's messages once the row of the two is as long as the rule allows", () => {
    const guard = open()
    expect(thank(guard, ONE, 5)).toEqual(['send', 'send', 'send', 'first-hold', 'hold'])
    expect(guard.held).toHaveLength(2)
    guard.release()
    expect(guard.held).toEqual([])
  })

  it('counts each bot separately', () => {
    const guard = open()
    thank(guard, ONE, messagesMax)
    expect(guard.judge(said(OTHER, SELF))).toBe('send')
    expect(guard.judge(said(ONE, SELF))).toBe('hold')
  })

  it.each([
    ['a person', said(PERSON, '99'), 'send'],
    ['a longer word of ours to it', said(SELF, ONE, long), 'send'],
    ['a longer word of it to us', said(ONE, SELF, long), 'send'],
    ['a longer word of ours to another', said(SELF, OTHER, long), 'hold'],
    ['a longer word of it to another', said(ONE, OTHER, long), 'hold'],
    ['a longer word of another to us', said(OTHER, SELF, long), 'hold'],
    ['a bot that nobody named', said('66', SELF, long), 'hold'],
  ])('behind %s: what it says next', (_who, message, verdict) => {
    const guard = open()
    thank(guard, ONE, messagesMax)
    guard.note(message)
    expect(guard.judge(said(ONE, SELF))).toBe(verdict)
  })

  it('admits all held messages with the next one when there are too many', () => {
    const verdicts = thank(open(), ONE, 200)
    expect(verdicts.indexOf('send', messagesMax)).toBe(messagesMax / 2 + 100)
  })

  it('restarts a row after a tool call by one of the two, and not before it', () => {
    const guard = open()
    const began = now
    thank(guard, ONE, messagesMax)
    guard.noteAct(ONE, began)
    expect(guard.judge(said(ONE, SELF))).toBe('hold')
    guard.noteAct(ONE, now)
    expect(thank(guard, ONE, 4)).toEqual(['send', 'send', 'send', 'first-hold'])
  })

  it('a notice starts no turn, is not counted, and is not sent twice to the same bot', () => {
    const guard = open()
    const judged = (from: string, to: string) => {
      const message = said(from, to)
      return { ...message, content: noticeFor(to, LOOP_RULE) }
    }
    expect(guard.judge(judged(ONE, SELF))).toBe('hold')
    for (let n = 0; n < messagesMax; n++) guard.note(judged(ONE, SELF))
    expect(guard.judge(said(ONE, SELF))).toBe('send')
    // As it is read in the history after a restart.
    for (let n = 0; n < messagesMax; n++) guard.note(said(ONE, SELF))
    guard.note(judged(SELF, ONE))
    expect(guard.judge(said(ONE, SELF))).toBe('hold')
    for (let n = 0; n < messagesMax; n++) guard.note(said(OTHER, SELF))
    expect(guard.judge(said(OTHER, SELF))).toBe('first-hold')
  })

  it('reads the time of a message from its id', () => {
    expect(timeOf(snowflakeAt(now))).toBe(now)
  })

  it('never holds anything without a rule', () => {
    expect(new Set(thank(open(null), ONE, 100))).toEqual(new Set(['send']))
  })
})

describe('SlashCommandHandler', () => {
  const interaction = {
    ...{ id: '77', token: 't', type: 2, channel: { id: '20' }, user: { id: '5', username: 'ada' } },
    data: { name: 'status', type: 1 },
  } as unknown as APIInteraction

  function openHandler() {
    const log: string[] = []
    const note = (verb: string) => async (path: string, terms: { body: { content?: string } }) => {
      log.push(`${verb} ${path.split('/').at(1)} ${terms.body.content ?? ''}`.trim())
      return { id: '88' }
    }
    const rest = { post: note('post'), patch: note('patch') } as unknown as REST
    const closing = new AbortController()
    const slash = new SlashCommandHandler({
      ...{ rest, account: '1', clock: systemClock, signal: closing.signal },
      whereIs: async () => ({ isPrivate: true, chat: '20' }),
    })
    const take = (receive: PlatformHandlers['receive']) =>
      slash.take(interaction, {
        receive,
        moved: async () => {},
        setAside: () => {},
        report: () => {},
      })
    return { log, slash, closing, take }
  }

  it('never shows a late private answer to the channel, whether the command was answered or not', async () => {
    const { log, slash, closing, take } = openHandler()
    await take(async () => {
      expect(await slash.answer('reply-of-a-session', 'words')).toBeNull()
      expect(await slash.answer('answer-interaction-77', 'all is well')).toBe('88')
      closing.abort()
      return 'other'
    })
    expect(await slash.answer('answer-interaction-77', 'all is well')).toBe('late')
    expect(await slash.answer('answer-interaction-66', 'of another life')).toBe('late')
    expect(log).toEqual(['post interactions', 'patch webhooks all is well'])
  })

  it('reports a failed command, and a command without an answer', async () => {
    const failing = openHandler()
    await failing.take(async () => {
      throw new Error('the store is away')
    })
    expect(failing.log.at(-1)).toBe('patch webhooks That did not work just now; please try again.')
    const silent = openHandler()
    silent.closing.abort()
    await silent.take(async () => 'other')
    expect(silent.log.at(-1)).toBe('patch webhooks There is no answer to that here.')
  })
})
