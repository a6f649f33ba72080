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
    expect(checkMessage(whole)).toMatchObject(whole)
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
