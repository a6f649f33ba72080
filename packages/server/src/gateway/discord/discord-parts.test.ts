import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type APIAttachment,
  type APIInteraction,
  type APIMessage,
  DiscordAPIError,
  HTTPError,
  RateLimitError,
  type REST,
} from 'discord.js'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { MailItem } from '#core/store/queries'
import type { SessionRow } from '#core/store/tables/rows'
import { LOOP_RULE, type LoopRule } from '../../tools/send-message/loop.ts'
import type { PlatformHandlers } from '../chat/platform.ts'
import { fetchAttachments } from './attachments.ts'
import { BotLoopGuard, noticeFor } from './bot-loop-guard.ts'
import { isTokenInvalid, refusalText } from './client.ts'
import { accountOf, DiscordTokenError, discordFailure, isInaccessible } from './failure.ts'
import { attachmentsOf, isSaid, readDiscordMessage } from './incoming.ts'
import { findLastToolCall } from './last-tool-call.ts'
import { findMark, type MailReads, snowflakeAt, timeOf } from './resume-point.ts'
import { commandList, isCommand, typedForm } from './slash.ts'
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

  it('reads every field', () => {
    expect(read({ content: 'hi' })).toEqual({
      ...{ key: '10', address: '20', text: 'hi' },
      chat: { kind: 'group', id: '20', isAddressed: false },
      sender: { id: '5', name: 'Ada', isBot: false },
    })
    const answered = { referenced_message: { author: { id: '7' }, content: 'x'.repeat(201) } }
    const bot = { author: { id: '5', username: 'ada', global_name: null, bot: true } }
    const edited_timestamp = '2026-01-01T00:00:00Z'
    const read2 = readDiscordMessage({ ...base, ...answered, ...bot, edited_timestamp } as never, {
      ...{ self: '1', where: { isPrivate: true, chat: '30' }, answersAll: false },
    })
    expect(read2).toEqual({
      ...{ key: '10', edit: '1767225600000', address: '20', text: '', answers: 'x'.repeat(200) },
      chat: { kind: 'private', id: '30', isAddressed: true },
      sender: { id: '5', name: 'ada (<@5>)', isBot: true },
    })
    expect(read({ edited_timestamp: 'x' })).not.toHaveProperty('edit')
    expect(read({ webhook_id: '9' }).sender.isBot).toBe(true)
    expect(read({ content: 'a <@!1> b' })).toMatchObject({
      ...{ text: 'a  b', chat: { isAddressed: true } },
    })
    expect(read({ content: '<@9> hi' }).text).toBe('<@9> hi')
  })

  it('takes messages and replies of people for said, and nothing else', () => {
    const types = Array.from({ length: 47 }, (_, type) => type)
    expect(types.filter((type) => isSaid({ type }))).toEqual([0, 19])
  })

  it('removes the bot’s own mention and keeps other ids beside their names', () => {
    const mentions = [{ id: '7', username: 'bob', global_name: null }]
    const { text, chat } = read({ content: '<@1> ask <@7> and <@!7>', mentions })
    expect(text).toBe('ask @bob (<@7>) and @bob (<@7>)')
    expect(chat.isAddressed).toBe(true)
  })

  it('inserts a name unchanged, and replaces nothing inside it', () => {
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

  it('detects the addressee by mention or reply; takes all messages if configured, but not from bots', () => {
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
    expect(read(forward).text).toBe('(forwarded)\n> the tide is in')
    expect(attachmentsOf({ ...base, ...forward } as unknown as APIMessage)).toHaveLength(1)
    const embeds = [{ title: 'Build 7', description: 'is green' }]
    expect(read({ embeds }).text).toBe('Build 7\nis green')
    expect(read({ content: 'look', embeds }).text).toBe('look')
  })

  it('reports unsupported parts and the time of the last edit', () => {
    const says = (fields: object) => read(fields).unsupported
    const voice = 'I cannot listen to voice messages; please write it.'
    expect(says({ flags: 1 << 13, poll: {}, sticker_items: [{}] })).toBe(voice)
    expect(says({ poll: {}, sticker_items: [{}] })).toBe('I cannot read polls; please write it.')
    expect(says({ sticker_items: [{}] })).toBe('I cannot see stickers; please write it.')
    expect(says({ flags: 1 << 12, sticker_items: [] })).toBeUndefined()
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
    await take(async (incoming) => {
      expect(incoming).toEqual({
        ...{ key: 'interaction-77', address: '20', text: '/status' },
        chat: { kind: 'private', id: '20', isAddressed: true },
        sender: { id: '5', name: 'ada', isBot: false },
        attachments: expect.any(Function),
      })
      expect(await incoming.attachments()).toEqual([])
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

describe('discordFailure', () => {
  const request = { files: undefined, body: undefined }
  const refused = (status: number, code: number) =>
    new DiscordAPIError({ code, message: 'no' }, code, status, 'POST', 'https://d.example', request)

  it.each<[string, unknown, string]>([
    ['an unknown message', refused(404, 10_008), 'gone'],
    ['a wrong token', refused(401, 0), 'outage'],
    ['a rate limit of its own', refused(429, 0), 'outage'],
    ['a missing permission', refused(403, 50_013), 'final'],
    ['an invalid message', refused(400, 50_035), 'final'],
    [
      'a server error',
      new HTTPError(502, 'Bad Gateway', 'POST', 'https://d.example', request),
      'outage',
    ],
    ['a broken connection', new Error('socket'), 'outage'],
  ])('classifies %s', (_, error, why) => {
    expect(discordFailure(error)).toEqual({ kind: 'failed', why, text: expect.any(String) })
  })

  it('says what Discord answered, without the request', () => {
    expect(discordFailure(refused(403, 50_013)).text).toBe('Discord answered 403 (code 50013)')
    expect(discordFailure(new HTTPError(502, '', 'POST', '', request)).text).toBe(
      'Discord answered 502',
    )
    expect(discordFailure(new Error('secret')).text).toBe('no connection')
  })

  it('waits for the longer of the two times of a rate limit', () => {
    const limited = (retryAfter: number, sublimitTimeout: number) =>
      new RateLimitError({ retryAfter, sublimitTimeout } as ConstructorParameters<
        typeof RateLimitError
      >[0])
    const text = 'Discord asks for fewer messages'
    const rate = (retryAfterMs: number) => ({ kind: 'failed', why: 'rate', retryAfterMs, text })
    expect(discordFailure(limited(500, 2_000))).toEqual(rate(2_000))
    expect(discordFailure(limited(700, 0))).toEqual(rate(700))
  })

  it('recognizes a channel that cannot be read, now or later', () => {
    const statuses = [400, 401, 403, 404, 405, 500]
    expect(statuses.filter((status) => isInaccessible(refused(status, 0)))).toEqual([403, 404])
    expect(isInaccessible(new Error('socket'))).toBe(false)
  })
})

describe('why Discord ended the connection', () => {
  it('is said with what an operator can do', () => {
    expect(refusalText(4004)).toBe(
      'Discord refuses the token of the bot: put a new one where the configuration says.',
    )
    expect(refusalText(4014)).toBe(
      'Discord refuses what the bot wants to read: switch on "Message Content Intent" for it.',
    )
    expect(refusalText(4011)).toBe('Discord closed the connection for good (code 4011).')
  })

  it('is known of a token before there is a connection', () => {
    expect(isTokenInvalid(Object.assign(new Error('x'), { code: 'TokenInvalid' }))).toBe(true)
    expect(isTokenInvalid(Object.assign(new Error('x'), { code: 'Other' }))).toBe(false)
    expect([new Error('x'), { code: 'TokenInvalid' }].map(isTokenInvalid)).toEqual([false, false])
  })
})

describe('slash commands of Discord', () => {
  const command = {
    ...{ type: 2, id: '11', token: 't', channel: { id: '22' }, member: {} },
    data: { type: 1, name: 'pin', options: [{ name: 'name', type: 3, value: ' a ' }] },
  }

  it('are offered with their options', () => {
    const command = (name: string, description: string, ...options: readonly object[]) => ({
      ...{ name, description, type: 1, options: options.map((each) => ({ ...each, type: 3 })) },
    })
    const words = { name: 'words', description: 'what to look for', required: true }
    expect(commandList()).toEqual([
      command('stop', 'stop the running turn'),
      command('compact', 'compact this conversation now', {
        ...{ name: 'focus', description: 'what the summary should be about' },
      }),
      command('undo', 'undo the newest compaction; the older messages are back'),
      command('new', 'start a new session; the old one stays'),
      command('status', 'show how full the context is and what is running'),
      command('search', 'search this conversation, compacted parts included', words),
      command(
        ...(['pin', 'keep a text word for word; - removes it'] as const),
        { name: 'name', description: 'a short name for the text' },
        { name: 'text', description: 'the text to keep; - removes it' },
      ),
      command('help', 'this list'),
    ])
  })

  it.each<[string, object, boolean]>([
    ['a command', {}, true],
    ['one in a private chat', { member: undefined }, true],
    ['one without options', { data: { type: 1, name: 'stop' } }, true],
    ['a button', { type: 3 }, false],
    ['one without an id', { id: 'x' }, false],
    ['one without a token', { token: undefined }, false],
    ['one without a channel', { channel: undefined }, false],
    ['one whose channel has no id', { channel: { id: 'x' } }, false],
    ['one of an unreadable member', { member: 'x' }, false],
    ['one without data', { data: null }, false],
    ['one of a menu', { data: { type: 2, name: 'pin' } }, false],
    ['one without a name', { data: { type: 1 } }, false],
    ['one with unreadable options', { data: { type: 1, name: 'pin', options: 'x' } }, false],
    [
      'one with an unreadable option',
      { data: { type: 1, name: 'pin', options: [{}, 'x'] } },
      false,
    ],
  ])('differ from other interactions: %s', (_, changed, expected) => {
    expect(isCommand({ ...command, ...changed })).toBe(expected)
  })

  it('are no text, and nothing at all', () => {
    expect([isCommand('x'), isCommand(null)]).toEqual([false, false])
  })

  it('read as if they had been typed', () => {
    const typed = (options?: readonly object[]) =>
      typedForm({ data: { type: 1, name: 'pin', ...(options && { options }) } } as never)
    const options = [
      { type: 3, value: ' a ' },
      { type: 4, value: 'b' },
      { type: 3, value: 5 },
    ]
    expect(typed([...options, { type: 3, value: 'c d' }])).toBe('/pin a c d')
    expect(typed()).toBe('/pin')
  })
})

describe('findLastToolCall', () => {
  const reply = (at: number, ...names: readonly string[]) => {
    const parts = names.map((name) => ({ type: 'tool-call', name }))
    return { kind: 'assistant', at, body: JSON.stringify({ parts }) }
  }
  const find = (sessions: Readonly<Record<string, readonly object[]>>, bots = ['b1', 'b2']) => {
    const ranges: [number, number][] = []
    const store = {
      findRoute: async ({ agent, channel, address }: Record<string, string>) => {
        const id = `${agent} ${channel} ${address}`
        return sessions[id] && { sessionId: id }
      },
      findSession: async (id: string) => sessions[id] && { tail: sessions[id].length },
      readEntries: async (query: { sessionId: string; from: number; to: number }) => {
        ranges.push([query.from, query.to])
        return sessions[query.sessionId]?.slice(query.from - 1, query.to) ?? []
      },
    }
    const channel = { agents: ['main', 'other'], bots, address: '9' }
    return findLastToolCall(store as never, channel).then((at) => ({ at, ranges }))
  }

  it('is the newest tool call in any session of the channel', async () => {
    const sessions = {
      'main discord:b1 9': [reply(1, 'read'), reply(7, 'read'), reply(8)],
      'other discord:b2 9': [reply(5, 'read')],
      'main discord:b1 10': [reply(99, 'read')],
    }
    expect((await find(sessions)).at).toBe(7)
    expect((await find(sessions, ['b2'])).at).toBe(5)
  })

  it('never takes a message for an act', async () => {
    const entries = [
      ...[reply(1, 'send_message'), { kind: 'input', at: 2, body: reply(2, 'read').body }],
      ...[
        { kind: 'assistant', at: 3, body: null },
        { kind: 'assistant', at: 4, body: '"x"' },
      ],
      { kind: 'assistant', at: 5, body: '{"parts":[{"type":"text"},"x"]}' },
    ]
    expect((await find({ 'main discord:b1 9': entries })).at).toBeNull()
    expect(
      (await find({ 'main discord:b1 9': [...entries, reply(6, 'send_message', 'read')] })).at,
    ).toBe(6)
  })

  it('is absent without a session, and reads the last 128 entries only', async () => {
    expect(await find({})).toEqual({ at: null, ranges: [] })
    const long = [reply(1, 'read'), ...Array.from({ length: 128 }, (_, at) => reply(at + 2))]
    expect(await find({ 'main discord:b1 9': long })).toEqual({ at: null, ranges: [[2, 129]] })
    expect((await find({ 'main discord:b1 9': long.slice(0, 3) })).ranges).toEqual([[1, 3]])
  })
})

describe('fetchAttachments', () => {
  const serve = async (use: (host: string) => Promise<void>) => {
    const server = createServer((request, response) => {
      const [, status = '', bytes = ''] = request.url?.split('/') ?? []
      response.writeHead(Number(status), { location: '/200/1' })
      response.end('x'.repeat(Number(bytes)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      await use(`127.0.0.1:${(server.address() as AddressInfo).port}`)
    } finally {
      server.close()
    }
  }
  const file = (url: string, changed: Partial<APIAttachment> = {}) =>
    ({ url, filename: 'a.txt', size: 1, content_type: 'text/plain', ...changed }) as APIAttachment
  const texts = (parts: Awaited<ReturnType<typeof fetchAttachments>>) =>
    parts.map((part) => (part.type === 'text' ? part.text : part.type))

  it('takes files up to the limit, and names those that are not here', async () => {
    await serve(async (host) => {
      const take = async (...files: readonly APIAttachment[]) =>
        texts(await fetchAttachments(files, { hosts: [host], bytesMax: 2_048 }))
      const at = (path: string) => `http://${host}/${path}`
      expect(await take(file(at('200/2048')))).toEqual(['file'])
      const tooLarge = '[a.txt was attached and is not here: it is larger than 2 KiB]'
      expect(await take(file(at('200/2049')))).toEqual([tooLarge])
      expect(await take(file(at('200/1'), { size: 2_049 }))).toEqual([tooLarge])
      expect(await take(file(at('200/1'), { size: 2_048 }))).toEqual(['file'])
      expect(await take(file(at('200/1000')), file(at('200/1049')))).toEqual([
        'file',
        '[a.txt was attached and is not here: it is larger than 1 KiB]',
      ])
      expect(await take(file(at('404/0')))).toEqual([
        '[a.txt was attached and is not here: the host answered 404]',
      ])
      expect(await take(file(at('302/0')))).toEqual([
        '[a.txt was attached and is not here: the host could not be reached]',
      ])
    })
  })

  it('asks no host but those it was given, and no unsafe one', async () => {
    const refused =
      '[a.txt was attached and is not here: it is not on a host that files are taken from]'
    const take = async (url: string, hosts: readonly string[]) =>
      texts(await fetchAttachments([file(url)], { hosts, bytesMax: 9 }))
    expect(await take('https://other.example/a', ['cdn.example'])).toEqual([refused])
    expect(await take('http://cdn.example/a', ['cdn.example'])).toEqual([refused])
    expect(await take('no address', ['cdn.example'])).toEqual([refused])
  })

  it('takes ten files at most, and keeps name and type', async () => {
    await serve(async (host) => {
      const url = `http://${host}/200/3`
      const terms = { hosts: [host], bytesMax: 99 }
      const many = await fetchAttachments(
        Array.from({ length: 12 }, () => file(url)),
        terms,
      )
      expect(texts(many).slice(9)).toEqual(['file', '[2 more attachments are not here]'])
      const ten = await fetchAttachments(
        Array.from({ length: 10 }, () => file(url)),
        terms,
      )
      expect(ten).toHaveLength(10)
      const source = { kind: 'base64', mediaType: 'text/plain', data: 'eHh4' }
      expect(ten[0]).toEqual({ type: 'file', name: 'a.txt', source })
    })
  })
})
