import { expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { chatWire } from './chat.ts'

/** A stream of Chat that broke off: what of it may be kept. */
function reply(...events: readonly JsonObject[]) {
  const reader = chatWire.openReply()
  for (const event of events) reader.take(event)
  return reader.reply()
}

const piece = (delta: JsonObject, rest: JsonObject = {}): JsonObject => ({
  choices: [{ index: 0, delta, ...rest }],
})
const call = (index: number, id: string, name: string, args: string): JsonObject =>
  piece({ tool_calls: [{ index, id, function: { name, arguments: args } }] })
const more = (index: number, args: string): JsonObject =>
  piece({ tool_calls: [{ index, function: { arguments: args } }] })
const end = piece({}, { finish_reason: 'tool_calls' })

const brief = ({ units }: ReturnType<typeof reply>) =>
  units.map((unit) => (unit.kind === 'call' ? `${unit.name} ${unit.id}` : unit.kind))

it('joins the pieces of each call by its index', () => {
  const whole = reply(call(0, 'a', 'read', '{"p":'), call(1, 'b', 'list', '{}'), more(0, '1}'), end)
  expect(whole.isWhole).toBe(true)
  expect(brief(whole)).toEqual(['read a', 'list b'])
})

it('drops a call that broke off, and keeps the one before it and the words', () => {
  const torn = reply(
    piece({ content: 'I look.' }),
    call(0, 'a', 'read', '{}'),
    call(1, 'b', 'list', '{"p"'),
  )
  expect(torn.isWhole).toBe(false)
  expect(brief(torn).slice(1)).toEqual(['read a'])
})

it('keeps a call with broken arguments if the provider said that it was done', () => {
  expect(brief(reply(call(0, 'a', 'read', '{"p"'), end))).toEqual(['read a'])
})
