import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { fromOf, parseMailBody, readRecentEvents } from './recent-events.ts'

const OTHER = sessionId('other')
const from = (id: string, more: object = {}) => ({ agent: 'bo', sessionId: id, tokens: 7, ...more })

it.each([
  [{ from: from('s1') }, from('s1')],
  [{ from: from('s1', { tokens: '7' }) }, null],
  [{ from: from('s1', { agent: 1 }) }, null],
  [{ from: { agent: 'bo', tokens: 7 } }, null],
  [{ from: 'bo' }, null],
  [{}, null],
])('of the body %j the sender is %j', (body, sender) => {
  expect(fromOf(body)).toEqual(sender)
})

it('a body that is no object says nothing', () => {
  expect(['{"a":1}', '"x"', '[1]', 'null'].map(parseMailBody)).toEqual([{ a: 1 }, {}, {}, {}])
  expect(parseMailBody(null)).toEqual({})
})

it('reads the newest mail and entries as signs', async () => {
  const asked: unknown[] = []
  const item = (at: number, body: object, lane = 'notification') => ({
    ...{ at, lane, body: JSON.stringify(body) },
  })
  const mail = [
    item(1, { from: from('other') }),
    item(2, { from: from('s3') }),
    item(3, { text: 'hi' }, 'user'),
    item(4, {}, 'control'),
  ]
  const said = (at: number, calls: readonly string[], ...parts: unknown[]) => ({
    ...{ at, kind: 'assistant', meta: { calls }, body: JSON.stringify({ parts }) },
  })
  const call = (name: string) => ({ type: 'tool-call', id: 'c', name })
  const entries = [
    said(11, ['c'], call('read')),
    said(12, ['c'], call('send_message')),
    said(13, ['c', 'd'], call('send_message'), call('read')),
    said(14, [], call('read')),
    said(15, ['c'], { type: 'text', name: 'read' }, 'x'),
    { at: 16, kind: 'assistant', meta: { calls: ['c'] }, body: '{}' },
    { at: 17, kind: 'result', meta: { calls: ['c'] }, body: '{}' },
  ]
  const store = {
    listMail: async (query: unknown) => asked.push(query) && mail,
    readEntries: async (query: unknown) => asked.push(query) && entries,
  }
  const read = (session: object) =>
    readRecentEvents(store as never, { id: 'own', ...session } as never, OTHER)
  const events = await read({ mail: 100, tail: 1_000 })
  expect(events).toEqual({
    mail,
    signs: [
      { at: 1, kind: 'message', tokens: 7 },
      { at: 2, kind: 'third', tokens: 7 },
      { at: 3, kind: 'other' },
      { at: 11, kind: 'other' },
      { at: 13, kind: 'other' },
    ],
  })
  await read({ mail: 3, tail: 5 })
  expect(asked).toEqual([
    { sessionId: 'own', after: 36, limit: 64 },
    { sessionId: 'own', from: 873, to: 1_000 },
    { sessionId: 'own', after: 0, limit: 64 },
    { sessionId: 'own', from: 1, to: 5 },
  ])
})
