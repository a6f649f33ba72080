import { describe, expect, it } from 'vitest'
import { parseItem, readBody } from './body.ts'

const bytes = (text: string) => Buffer.from(text)

describe('readBody', () => {
  it('finds the place of every item, with any content of strings', () => {
    const items = [
      { a: 'brace } bracket ] quote " back\\' },
      { b: ['x', { c: '\\"' }] },
      { d: 1.0 },
    ]
    const text = JSON.stringify(
      { model: 'm', messages: items, tools: [{ messages: [1] }] },
      null,
      1,
    )
    const body = readBody(bytes(text), 'messages')
    expect(body?.items.map((_, index) => body && parseItem(body, index))).toEqual(items)
    expect(body?.fields).toEqual({ model: 'm', messages: [], tools: [{ messages: [1] }] })
  })

  it('does not look again at items that begin both bodies', () => {
    const one = bytes('{"messages":[{"n":1},{"n":2},{"n":3,"cache":1}],"system":"s"}')
    const two = bytes('{"messages":[{"n":1},{"n":2},{"n":3},{"n":4}],"system":"s"}')
    const first = readBody(one, 'messages')
    const second = readBody(two, 'messages', first)
    expect(second?.known).toBe(2)
    expect(second?.items).toEqual(readBody(two, 'messages')?.items)
    // The rest of the body is the same, and so is what was read of it.
    expect(second?.fields).toBe(first?.fields)
  })

  it('does not look again at items far behind the beginning, nor at an equal body', () => {
    const items = Array.from({ length: 9 }, (_, n) => ({ n, text: 'x'.repeat(20_000) }))
    const bodyOf = (list: readonly object[]) => bytes(JSON.stringify({ messages: list }))
    const first = readBody(bodyOf(items), 'messages')
    expect(readBody(bodyOf(items), 'messages', first)?.known).toBe(9)
    const changed = bodyOf(items.with(7, { n: 7, text: 'y' }))
    const second = readBody(changed, 'messages', first)
    expect(second?.known).toBe(7)
    expect(second?.items).toEqual(readBody(changed, 'messages')?.items)
  })

  it('treats an item as known only if it ends in the same place', () => {
    const first = readBody(bytes('{"messages":[{"n":1}'.concat(']}')), 'messages')
    const second = readBody(bytes('{"messages":[{"n":12}]}'), 'messages', first)
    expect(second?.known).toBe(0)
    expect(second && parseItem(second, 0)).toEqual({ n: 12 })
  })

  it.each([
    '',
    '[]',
    '{',
    '{"messages":[',
    '{"messages":[{]}',
    '{"messages":{}}',
    '{"a":1}',
    'null',
    '{"a" 1,"messages":[]}',
    '{a:1,"messages":[]}',
    '{"messages":[],"a',
    '{"messages":[],"a":}',
    '{"messages":[],"a":1',
    '{"messages":[,"a"',
    '{"messages":[1]} x',
    '{"messages":"x"}',
  ])('gives nothing for %j, so that it is forwarded as it came', (text) =>
    expect(readBody(bytes(text), 'messages')).toBeUndefined(),
  )

  it('gives nothing for a list that is named twice: each reader means another one', () => {
    expect(readBody(bytes('{"messages":[],"messages":[1]}'), 'messages')).toBeUndefined()
  })

  it('needs no stack for deep nesting', () => {
    const deep = `{"messages":[${'['.repeat(200_000)}${']'.repeat(200_000)}],"model":"m"}`
    expect(readBody(bytes(deep), 'messages')?.items).toHaveLength(1)
  })
})
