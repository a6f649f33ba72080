import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../../test/support/seeded-random.ts'
import { BotLoopGuard } from './bot-loop-guard.ts'
import { checkMessage, unreadableAt } from './checked-message.ts'
import { attachmentsOf, isFromBot, isSaid, readDiscordMessage } from './incoming.ts'

const author = { id: '5', username: 'ada', global_name: 'Ada', bot: true }
const parts = {
  content: 'Hello <@7>.',
  embeds: [{ title: 'A', description: 'B' }],
  attachments: [{ url: 'https://host/a', filename: 'a.txt', size: 3, content_type: 'text/plain' }],
}
const whole = {
  ...{ id: '10', channel_id: '20', author, type: 19, flags: 1, edited_timestamp: null, ...parts },
  mentions: [{ id: '7', username: 'bob', global_name: null }],
  referenced_message: { author, content: 'before' },
  message_snapshots: [{ message: parts }],
  sticker_items: [{ id: '1' }],
}
/** Each value in it may be replaced by another, at any depth. */
const changed = fc
  .array(fc.tuple(fc.array(fc.nat(20), { maxLength: 4 }), fc.jsonValue({ maxDepth: 2 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((changes) =>
    changes.reduce((value, [path, put]) => replaced(value, path, put), whole as unknown),
  )

function replaced(value: unknown, [first, ...rest]: readonly number[], put: unknown): unknown {
  if (first === undefined || typeof value !== 'object' || value === null) return put
  const names = Object.keys(value)
  const name = names[first % Math.max(1, names.length)]
  if (name === undefined) return put
  const inner = replaced(Reflect.get(value, name), rest, put)
  return Array.isArray(value)
    ? value.map((each, index) => (String(index) === name ? inner : each))
    : { ...value, [name]: inner }
}

describe('checkMessage', () => {
  it('reads what Discord sends', () => {
    expect(checkMessage(whole)).toEqual(whole)
  })

  it('leaves out or replaces what it cannot read', () => {
    const [id, channel_id] = ['10', '20']
    const bare = { id, channel_id, author: { id: '5' }, content: '', type: 0 }
    const nothing = { content: '', embeds: [], attachments: [] }
    expect(checkMessage(bare)).toEqual({
      ...{ ...bare, ...nothing, mentions: [], message_snapshots: [], sticker_items: [] },
      author: { id: '5', username: '', global_name: null },
      ...{ edited_timestamp: null, referenced_message: null, flags: 0 },
    })
    const torn = {
      ...{ ...bare, edited_timestamp: 7, flags: '1', sticker_items: {} },
      author: { id: '5', username: 7, global_name: 7, bot: 'yes' },
      ...{ mentions: [7, { id: 'x' }, { id: '7', username: 'bob' }] },
      ...{ embeds: [7, { title: 7, description: 'B' }], attachments: [null, {}] },
      ...{ message_snapshots: [7, {}, { message: { content: 7 } }] },
      referenced_message: { author: { id: '6' } },
    }
    expect(checkMessage(torn)).toEqual({
      ...{ ...bare, edited_timestamp: null, flags: 0, sticker_items: [] },
      author: { id: '5', username: '', global_name: null },
      mentions: [{ id: '7', username: 'bob', global_name: null }],
      embeds: [{ title: '', description: 'B' }],
      attachments: [{ url: '', filename: 'file', size: 0 }],
      message_snapshots: [{ message: nothing }],
      referenced_message: {
        ...{ author: { id: '6', username: '', global_name: null }, content: '' },
      },
    })
    for (const referenced_message of [null, 7, { author: { id: 'x' } }]) {
      expect(checkMessage({ ...bare, referenced_message })?.referenced_message).toBeNull()
    }
  })

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'x'],
    ['one without an id', { ...whole, id: undefined }],
    ['one with an id of another kind', { ...whole, id: '1a' }],
    ['one with a longer id', { ...whole, id: '1'.repeat(21) }],
    ['one without a channel', { ...whole, channel_id: 20 }],
    ['one without an author', { ...whole, author: null }],
    ['one whose author has no id', { ...whole, author: { username: 'ada' } }],
    ['one without a type', { ...whole, type: '0' }],
    ['one without a text', { ...whole, content: null }],
  ])('refuses %s, and keeps its place if it has an id', (_what, value) => {
    expect(checkMessage(value)).toBeNull()
    const id = (value as { id?: unknown } | null)?.id
    const placed = {
      ...{ id: '10', channel_id: '30', author: { id: '', username: '' }, type: -1 },
      ...{ content: '', mentions: [], embeds: [], attachments: [], edited_timestamp: null },
    }
    expect(unreadableAt(value, '30')).toEqual(id === '10' ? placed : null)
  })

  it('accepts only messages that every reader can handle', () => {
    fc.assert(
      fc.property(changed, (value) => {
        const message = checkMessage(value) ?? unreadableAt(value, '20')
        if (message === null) return
        const guard = new BotLoopGuard({
          ...{ self: '1', bots: ['5'], rule: { messagesMax: 2, tokensMin: 20 } },
        })
        guard.note(message)
        guard.judge(message)
        if (!isSaid(message)) return
        isFromBot(message)
        const where = { isPrivate: false, chat: '20' }
        const read = readDiscordMessage(message, { self: '1', where, answersAll: false })
        const { key, edit = '', address, sender, text, answers = '' } = read
        for (const each of [key, edit, address, sender.id, sender.name, text, answers]) {
          expect(typeof each).toBe('string')
        }
        for (const { url, filename, size, content_type: type = '' } of attachmentsOf(message)) {
          expect([url, filename, size, type].map((each) => typeof each)).toEqual([
            ...['string', 'string', 'number', 'string'],
          ])
        }
      }),
      { numRuns: tries(4_000) },
    )
  })
})
