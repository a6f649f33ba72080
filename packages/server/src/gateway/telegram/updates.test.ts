import fc from 'fast-check'
import type { Message, Update, UserFromGetMe } from 'grammy/types'
import { expect, it } from 'vitest'
import { tries } from '../../../../../test/support/seeded-random.ts'
import {
  checkUpdate,
  type RemoteFile,
  readMove,
  readTelegramAddress,
  readUpdate,
} from './updates.ts'

const me = { id: 7, is_bot: true, first_name: 'Bot', username: 'Our_Bot' } as UserFromGetMe
const from = { id: 5, is_bot: false, first_name: 'Ann', last_name: 'Lee' }
const dm = { id: 5, type: 'private', first_name: 'Ann' } as const
const group = { id: -100, type: 'supergroup', title: 'Team' } as const

function update(message: object, kind: 'message' | 'edited_message' = 'message'): Update {
  return { update_id: 9, [kind]: { message_id: 3, date: 1, from, chat: dm, ...message } } as Update
}

const read = (message: object, kind?: 'message' | 'edited_message') =>
  readUpdate(update(message, kind), me, async () => [])

it('reads a message of a person', () => {
  expect(read({ text: 'Hello.' })).toEqual({
    ...{ key: '5:3', address: '5', text: 'Hello.', attachments: expect.any(Function) },
    chat: { kind: 'private', id: '5', isAddressed: false },
    sender: { id: '5', name: 'Ann Lee', isBot: false },
  })
  expect(read({ caption: 'Look.', photo: [{ file_id: 'f' }] })?.text).toBe('Look.')
  expect(read({ photo: [] })).toBeNull()
  expect(read({ voice: {} })?.text).toBe('')
  const edit = read({ text: 'Hello!', edit_date: 77 }, 'edited_message')
  expect([edit?.key, edit?.edit]).toEqual(['5:3', '770000000009'])
  expect(read({ text: 'a' }, 'edited_message')?.edit).toBe('00000000009')
  expect(read({ text: 'a', chat: { ...group, type: 'channel' } })?.chat.kind).toBe('group')
})

it('ignores an update without a chat, text or file, or one that names another bot', () => {
  expect(readUpdate({ update_id: 9 } as Update, me, async () => [])).toBeNull()
  expect(read({})).toBeNull()
  expect(read({ text: '/stop@Their_Bot' })).toBeNull()
})

it('distinguishes and orders the edits of one message', () => {
  const edits = [
    [9, 100],
    [10, 100],
    [11, 101],
    [1_234_567_890, 101],
  ].map(([id, edit_date]) => {
    const changed = { ...update({ text: 'a', edit_date }, 'edited_message'), update_id: id ?? 0 }
    return BigInt(readUpdate(changed, me, async () => [])?.edit ?? '')
  })
  expect(edits).toEqual(edits.toSorted((a, b) => (a < b ? -1 : 1)))
  expect(new Set(edits).size).toBe(4)
})

it('gives each topic its own address, and parses it back', () => {
  const topic = { chat: group, text: 'a', message_thread_id: 12 }
  expect(read({ ...topic, is_topic_message: true })?.address).toBe('-100/12')
  expect(read(topic)?.address).toBe('-100')
  expect(readTelegramAddress('-100/12')).toEqual({ chat: -100, thread: 12 })
  expect(readTelegramAddress('-100')).toEqual({ chat: -100 })
})

it.each<readonly [string, Partial<Message> | object, boolean]>([
  ['plain words', { text: 'Hello.' }, false],
  ['a command of ours', { text: '/status' }, true],
  ['the first command', { text: '/start' }, true],
  ['a command of somebody', { text: '/weather' }, false],
  ['a command that names us', { text: '/weather@our_bot now' }, true],
  [
    'our name',
    { text: 'Hi @our_bot', entities: [{ type: 'mention', offset: 3, length: 8 }] },
    true,
  ],
  [
    'another name',
    { text: 'Hi @his_bot', entities: [{ type: 'mention', offset: 3, length: 8 }] },
    false,
  ],
  [
    'us, by a link',
    { text: 'Hi', entities: [{ type: 'text_mention', offset: 0, length: 2, user: me }] },
    true,
  ],
  [
    'us in bold',
    { text: 'Hi @our_bot', entities: [{ type: 'bold', offset: 3, length: 8 }] },
    false,
  ],
  [
    'another, by a link',
    { text: 'Hi', entities: [{ type: 'text_mention', offset: 0, length: 2, user: from }] },
    false,
  ],
  [
    'our name below a picture',
    {
      ...{ photo: [{ file_id: 'f' }], caption: 'Hi @our_bot' },
      caption_entities: [{ type: 'mention', offset: 3, length: 8 }],
    },
    true,
  ],
  ['nothing to read', { voice: {} }, false],
  ['an answer to us', { text: 'Yes', reply_to_message: { from: me, text: 'Sure?' } }, true],
  ['an answer to another', { text: 'Yes', reply_to_message: { from, text: 'Sure?' } }, false],
])('detects in a group whether it is addressed: %s', (_what, message, isAddressed) => {
  expect(read({ chat: group, ...message })?.chat).toEqual({
    kind: 'group',
    id: '-100',
    isAddressed,
  })
})

it('removes our name from the text', () => {
  expect(read({ text: '/status@Our_Bot please' })?.text).toBe('/status please')
  expect(read({ text: '@our_bot, hello' })?.text).toBe('hello')
  expect(read({ text: '@our_bot: hello' })?.text).toBe('hello')
  expect(read({ text: '@our_bot' })?.text).toBe('')
  expect(read({ text: '/status@our_bot' })?.text).toBe('/status')
  expect(read({ text: '/@our_bot x' })?.text).toBe('/ x')
  expect(read({ text: '@his_bot hello' })?.text).toBe('@his_bot hello')
  expect(read({ text: '/a b@our_bot' })?.text).toBe('/a b@our_bot')
  expect(read({ text: 'hello @our_bot' })?.text).toBe('hello @our_bot')
})

it('quotes the answered message, but not the opening of a topic', () => {
  const asked = { text: 'Yes', reply_to_message: { from, text: 'Sure?' } }
  expect(read(asked)?.answers).toBe('Sure?')
  expect(read({ ...asked, quote: { text: 'Su' } })?.answers).toBe('Su')
  expect(read({ text: 'Yes', reply_to_message: { from, caption: 'A picture' } })?.answers).toBe(
    'A picture',
  )
  const opening = { from: me, forum_topic_created: { name: 'a' }, text: 'a' }
  const first = read({ chat: group, text: 'Yes', reply_to_message: opening })
  expect(first).not.toHaveProperty('answers')
  expect(first?.chat.isAddressed).toBe(false)
})

it.each([
  [{ type: 'user', sender_user: from }, 'Ann Lee'],
  [{ type: 'hidden_user', sender_user_name: 'Someone' }, 'Someone'],
  [{ type: 'chat', sender_chat: group }, 'Team'],
  [{ type: 'channel', chat: { title: 'News' } }, 'News'],
  [{ type: 'of-next-year' }, 'elsewhere'],
])('marks a forwarded message, and runs no command in it', (forward_origin, name) => {
  const said = read({ text: '/stop', forward_origin })
  expect(said?.text).toBe(`(forwarded)\n> From ${name}:\n> /stop`)
  expect(said?.chat.isAddressed).toBe(false)
})

it('recognizes the sender: a person, a bot, a channel, a group', () => {
  const sender = (message: object) => read({ text: 'a', ...message })?.sender
  expect(sender({ from: { id: 8, is_bot: true, first_name: 'B' } })).toEqual({
    ...{ id: '8', name: 'B', isBot: true },
  })
  expect(sender({ sender_chat: group })).toEqual({ id: '-100', name: 'Team', isBot: false })
  expect(sender({ sender_chat: { id: 4, type: 'private' } })?.name).toBe('4')
  expect(sender({ sender_chat: { id: 4, type: 'channel', title: undefined } })?.name).toBe('')
  expect(sender({ from: undefined })).toEqual({ id: '5', name: '', isBot: false })
})

it('fetches the largest picture and the file, with their metadata', async () => {
  const seen: (readonly RemoteFile[])[] = []
  const fetchFiles = async (files: readonly RemoteFile[]) => {
    seen.push(files)
    return []
  }
  const photo = [
    { file_id: 'small', file_size: 1 },
    { file_id: 'large', file_size: 9 },
  ]
  for (const document of [
    { file_id: 'f', file_name: 'a.pdf', mime_type: 'application/pdf', file_size: 4 },
    { file_id: 'g' },
  ]) {
    await readUpdate(update({ photo, document }), me, fetchFiles)?.attachments()
  }
  const large = { id: 'large', mediaType: 'image/jpeg', bytes: 9 }
  expect(seen).toEqual([
    [large, { id: 'f', name: 'a.pdf', mediaType: 'application/pdf', bytes: 4 }],
    [large, { id: 'g', mediaType: 'application/octet-stream', bytes: undefined }],
  ])
})

it.each([
  ['voice', 'Voice messages'],
  ['audio', 'Audio'],
  ['video', 'Videos'],
  ['video_note', 'Video messages'],
  ['sticker', 'Stickers'],
  ['poll', 'Polls'],
  ['location', 'Places'],
  ['contact', 'Contacts'],
  ['dice', 'Dice'],
  ['story', 'Stories'],
  ['paid_media', 'Paid pictures'],
  ['game', 'Games'],
  ['checklist', 'Checklists'],
])('says of %s that it cannot be read', (kind, name) => {
  expect(read({ [kind]: {} })?.unsupported).toBe(
    `${name} cannot be read here. Text, pictures and files can.`,
  )
})

it('follows a group that became a supergroup, whichever chat reports it', () => {
  const moved = { from: '-5', to: '-1005' }
  const small = { id: -5, type: 'group', title: 'a' }
  expect(readMove(update({ chat: small, migrate_to_chat_id: -1005 }))).toEqual(moved)
  const large = { id: -1005, type: 'supergroup', title: 'a' }
  expect(readMove(update({ chat: large, migrate_from_chat_id: -5 }))).toEqual(moved)
  expect(readMove(update({ text: 'a' }))).toBeNull()
  expect(readMove({ update_id: 1 } as Update)).toBeNull()
})

it.each<[string, object]>([
  ['no id of its own', { message_id: '3' }],
  ['a broken number', { message_id: 1.5 }],
  ['no chat', { chat: null }],
  ['a chat without a number', { chat: { id: '5' } }],
  ['a sender that is none', { from: 'Ann' }],
  ['a sender without a number', { from: { id: '5' } }],
  ['a channel without a number', { sender_chat: {} }],
  ['a topic that is no number', { message_thread_id: 'x' }],
  ['a new id that is no number', { migrate_to_chat_id: '-1005' }],
  ['an earlier id that is no number', { migrate_from_chat_id: '-5' }],
  ['a text that is none', { text: 7 }],
  ['a caption that is none', { caption: null }],
  ['a quote that is none', { quote: { text: 7 } }],
  ['an answered text that is none', { reply_to_message: { text: 7 } }],
  ['an answered caption that is none', { reply_to_message: { caption: 7 } }],
])('refuses a message with %s, in an edit as well', (_what, fields) => {
  for (const kind of ['message', 'edited_message'] as const) {
    expect(() => checkUpdate(update({ text: 'Hello.', ...fields }, kind))).toThrow(
      expect.objectContaining({ name: 'UnreadableUpdateError' }),
    )
  }
})

it('accepts every field of the type that Telegram documents, and what is not given', () => {
  const ids = { message_thread_id: 12, migrate_to_chat_id: -1, migrate_from_chat_id: -2 }
  const answered = { text: 'a', caption: 'b' }
  const fields = { ...ids, sender_chat: group, quote: { text: 'a' }, reply_to_message: answered }
  for (const each of [fields, { from: undefined }, { quote: 7, reply_to_message: 'x' }]) {
    expect(() => checkUpdate(update({ text: 'Hello.', ...each }))).not.toThrow()
  }
  expect(() => checkUpdate({ update_id: 1 } as Update)).not.toThrow()
  for (const message of [7, 'x', []]) {
    expect(() => checkUpdate({ update_id: 1, message } as unknown as Update)).toThrow()
  }
})

it('finds every value of a wrong type before it is used as a text or an id', () => {
  const field = fc.constantFrom(
    ...['text', 'caption', 'chat', 'from', 'sender_chat', 'message_id', 'quote', 'document'],
    ...['reply_to_message', 'forward_origin', 'entities', 'photo', 'migrate_to_chat_id', 'voice'],
  )
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({ id: ['5'] }))
  fc.assert(
    fc.property(fc.dictionary(field, value, { minKeys: 1 }), (fields) => {
      const changed = update({ text: 'Hello.', ...fields })
      const readable = () => {
        try {
          checkUpdate(changed)
          return { move: readMove(changed), incoming: readUpdate(changed, me, async () => []) }
        } catch {
          return null
        }
      }
      const { move = null, incoming = null } = readable() ?? {}
      if (move !== null) expect([move.from, move.to].join()).toMatch(/^-?\d+,-?\d+$/)
      if (incoming === null) return
      const { address, chat, sender, text, answers = '' } = incoming
      expect([address, chat.id, sender.id].join()).toMatch(/^-?\d+,-?\d+,-?\d+$/)
      for (const each of [text, answers, sender.name]) expect(typeof each).toBe('string')
    }),
    { numRuns: tries(4_000) },
  )
})
