import type { APIMessage } from 'discord.js'
import { describe, expect, it } from 'vitest'
import type { MailNumber, SessionId } from '../../base/ids.ts'
import { LOOP_RULE } from '../../tools/send-message/loop.ts'
import { Acquaintance } from './acquaintance.ts'
import { accountOf, DiscordTokenError } from './failure.ts'
import { readMessage } from './incoming.ts'
import { findMark, snowflakeAt } from './marks.ts'

describe('readMessage', () => {
  const author = { id: '5', username: 'ada', global_name: 'Ada' }
  const base = {
    ...{ id: '10', channel_id: '20', author, content: '', type: 0, mentions: [] },
    edited_timestamp: null,
  }
  const where = { isPrivate: false, chat: '20' }
  const read = (fields: object, answersAll = false) =>
    readMessage({ ...base, ...fields } as unknown as APIMessage, { self: '1', where, answersAll })

  it('takes our name out and leaves the numbers of others beside their names', () => {
    const mentions = [{ id: '7', username: 'bob', global_name: null }]
    const { text, place } = read({ content: '<@1> ask <@7> and <@!7>', mentions })
    expect(text).toBe('ask @bob (<@7>) and @bob (<@7>)')
    expect(place.isAddressed).toBe(true)
  })

  it('knows who is meant: by name or reply; everybody where all is wanted, but no bot', () => {
    const answered = { referenced_message: { author: { id: '1' }, content: 'x' } }
    const bot = { author: { ...author, bot: true } }
    expect(read({ content: 'hi' }).place.isAddressed).toBe(false)
    expect(read(answered).place.isAddressed).toBe(true)
    expect(read({ content: 'hi' }, true).place.isAddressed).toBe(true)
    expect(read({ content: 'hi', ...bot }, true).place.isAddressed).toBe(false)
  })

  it('says what it cannot take, and when it was changed', () => {
    expect(read({ flags: 1 << 13 }).unsupported).toContain('voice')
    expect(read({ sticker_items: [{}] }).unsupported).toContain('stickers')
    expect(read({ edited_timestamp: '1970-01-01T00:00:01Z' }).edit).toBe('1000')
    expect(read({})).not.toHaveProperty('edit')
  })
})

describe('accountOf', () => {
  it('reads the id of the bot from its token, and refuses another form', () => {
    expect(accountOf(`${Buffer.from('123456').toString('base64')}.x.y`)).toBe('123456')
    for (const token of ['', 'abc', '7001:AAF-x']) {
      expect(() => accountOf(token)).toThrow(DiscordTokenError)
    }
  })
})

describe('findMark', () => {
  const route = { agent: 'main', channel: 'discord:1', address: '20' }
  const store = (mail: readonly (readonly [source: string, key: string])[]) => ({
    findRoute: async () => ({ sessionId: 's' as SessionId }),
    findSession: async () => ({ mail: mail.length as MailNumber, createdAt: 1_500_000_000_000 }),
    listMail: async ({ after, limit }: { after: number; limit: number }) =>
      mail.slice(after, after + limit).map(([source, key]) => ({ source, key })),
  })

  it('is the newest message that the session got from this account', async () => {
    const mail = [
      ...(['9', '100', '99:edit:7', 'interaction-500'] as const).map(
        (key) => ['discord:1', key] as const,
      ),
      ...Array.from({ length: 450 }, (_, at) => ['agent:other', `${1_000 + at}`] as const),
    ]
    expect(await findMark(store(mail), route)).toBe('100')
  })

  it('is the beginning of a session that has got nothing yet, and nothing without a session', async () => {
    const mark = (await findMark(store([]), route)) ?? ''
    expect(BigInt(mark)).toBe(BigInt(snowflakeAt(1_500_000_000_000 - 60_000)))
    const none = { ...store([]), findRoute: async () => undefined }
    expect(await findMark(none, route)).toBe(null)
  })
})

describe('Acquaintance', () => {
  const long = 'word '.repeat(LOOP_RULE.tokensMin)

  function short(times: number, acquaintance: Acquaintance<number>): readonly string[] {
    return Array.from({ length: times }, (_, at) => acquaintance.bot('ok', at))
  }

  it('holds back what bots say once there were too many short words, ours included', () => {
    const acquaintance = new Acquaintance<number>()
    for (let time = 0; time < 3; time++) acquaintance.own('thanks')
    expect(short(5, acquaintance)).toEqual(['send', 'send', 'send', 'first-hold', 'hold'])
    expect(acquaintance.held).toEqual([3, 4])
    acquaintance.release(1)
    expect(acquaintance.held).toEqual([4])
  })

  it.each([
    ['a person', (it: Acquaintance<number>) => it.person()],
    ['a longer word of ours', (it: Acquaintance<number>) => it.own(long)],
    ['an answer of ours that has grown', (it: Acquaintance<number>) => it.ownGrew(long)],
    ['a longer word of theirs', (it: Acquaintance<number>) => void it.bot(long, 0)],
  ])('begins anew behind %s', (_what, happens) => {
    const acquaintance = new Acquaintance<number>()
    short(LOOP_RULE.messagesMax, acquaintance)
    happens(acquaintance)
    expect(acquaintance.bot('ok', 1)).toBe('send')
  })

  it('never holds anything without a rule', () => {
    const acquaintance = new Acquaintance<number>(null)
    expect(new Set(short(100, acquaintance))).toEqual(new Set(['send']))
  })
})
