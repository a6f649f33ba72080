import { type Client, DiscordAPIError } from 'discord.js'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { Channels } from './channels.ts'

const NOW = 1_700_000_000_000

interface Channel {
  readonly parentId?: string | null
  readonly isDirect?: boolean
  readonly isVoice?: boolean
}

function open(
  channels: Readonly<Record<string, Channel>>,
  {
    chats = [] as readonly string[],
    users = [] as readonly string[],
    marks = {} as Readonly<Record<string, string>>,
    status = 0,
  } = {},
) {
  const asked: unknown[] = []
  const made = Object.entries(channels).map(([id, { parentId, isDirect, isVoice }]) => ({
    ...{ id, parentId: parentId ?? null, isThread: () => parentId !== undefined },
    ...{ isDMBased: () => isDirect === true, isTextBased: () => isVoice !== true },
  }))
  const request = { files: undefined, body: undefined }
  const failed = new DiscordAPIError({ code: 1, message: 'no' }, 1, status, 'GET', 'u', request)
  const client = {
    channels: {
      cache: new Map(made.map((each) => [each.id, each])),
      fetch: async (id: string, terms: unknown) => {
        asked.push([id, terms])
        if (status !== 0) throw failed
        return made.find((each) => each.id === id) ?? null
      },
    },
    rest: {
      post: async (path: string, { body }: { body: { recipient_id: string } }) => {
        asked.push([path, body])
        if (body.recipient_id === 'gone') throw failed
        return { id: `dm-${body.recipient_id}` }
      },
    },
  } as unknown as Client
  let marked = 0
  const watching = new Channels(client, {
    ...{ allow: { chats, users }, clock: { ...systemClock, now: () => NOW } },
    findMark: async (address) => {
      marked++
      return marks[address] ?? null
    },
  })
  return { watching, asked, failed, marked: () => marked }
}

describe('Channels', () => {
  it('knows channels, threads and direct messages, and asks once for each', async () => {
    const { watching, asked } = open({
      ...{ room: {}, thread: { parentId: 'room' }, orphan: { parentId: null } },
      ...{ dm: { isDirect: true } },
    })
    for (const _ of [1, 2]) {
      expect(await watching.where('room')).toEqual({ isPrivate: false, chat: 'room' })
      expect(await watching.where('thread')).toEqual({ isPrivate: false, chat: 'room' })
      expect(await watching.where('orphan')).toEqual({ isPrivate: false, chat: 'orphan' })
      expect(await watching.where('dm')).toEqual({ isPrivate: true, chat: 'dm' })
    }
    watching.noteDirect('other')
    expect(await watching.where('other')).toEqual({ isPrivate: true, chat: 'other' })
    const terms = { allowUnknownGuild: true }
    expect(asked).toEqual(['room', 'thread', 'orphan', 'dm'].map((id) => [id, terms]))
  })

  it('takes a channel that it may not see for itself, and asks again', async () => {
    for (const status of [403, 404, 0]) {
      const { watching, asked } = open({}, { status })
      for (const _ of [1, 2]) {
        expect(await watching.where('x')).toEqual({ isPrivate: false, chat: 'x' })
      }
      expect(asked).toHaveLength(2)
    }
    const { watching, failed } = open({}, { status: 500 })
    await expect(watching.where('x')).rejects.toBe(failed)
  })

  it('watches allowed channels, their threads, and the direct messages of allowed people', async () => {
    const { watching, asked } = open(
      {
        ...{ room: {}, thread: { parentId: 'room' }, other: {}, elsewhere: { parentId: 'other' } },
        ...{ orphan: { parentId: null }, voice: { isVoice: true } },
      },
      { chats: ['room', 'voice', 'orphan'], users: ['ada', 'gone', 'bob'] },
    )
    expect(await watching.watched()).toEqual(['room', 'thread', 'dm-ada', 'dm-bob'])
    expect(await watching.where('dm-ada')).toEqual({ isPrivate: true, chat: 'dm-ada' })
    const path = '/users/@me/channels'
    expect(asked).toEqual(['ada', 'gone', 'bob'].map((user) => [path, { recipient_id: user }]))
  })

  it('begins a minute before the newest message that is durable in any channel', async () => {
    const minute = BigInt(60_000) << 22n
    const marks = { a: '999999999999999999', b: '1000000000000000000', c: '5' }
    const { watching, marked } = open(
      { a: {}, b: {}, c: {}, d: {} },
      { chats: ['a', 'b', 'c', 'd'], marks },
    )
    expect(await watching.floor()).toBe(String(10n ** 18n - minute))
    expect(await watching.floor()).toBe(String(10n ** 18n - minute))
    expect(marked()).toBe(4)
  })

  it('begins now if nothing is durable, and looks again after a failure', async () => {
    const now = String(BigInt(NOW - 1_420_070_400_000) << 22n)
    expect(await open({}).watching.floor()).toBe(now)
    let failures = 1
    const client = { channels: { cache: new Map() }, rest: {} } as unknown as Client
    const watching = new Channels(client, {
      allow: {
        chats: [],
        get users(): readonly string[] {
          if (failures-- > 0) throw new Error('away')
          return []
        },
      },
      ...{ findMark: async () => null, clock: { ...systemClock, now: () => NOW } },
    })
    await expect(watching.floor()).rejects.toThrow('away')
    expect(await watching.floor()).toBe(now)
  })
})
