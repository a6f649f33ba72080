import { describe, expect, it } from 'vitest'
import { sessionId } from '../../base/ids.ts'
import type { UserPart } from '../../message/message.ts'
import { create } from '../../store/contract-suite/bench.ts'
import { openMemoryStore } from '../../store/memory/open.ts'
import type { Entry } from '../../store/tables/rows.ts'
import { loadParts, stageParts } from '../blobs.ts'
import { entryView, findReply } from './transcript.ts'

const TEXT = { role: 'assistant', parts: [{ type: 'text', text: 'Yes.' }] }

function entry(kind: string, number: number, body: unknown, meta: object = {}): Entry {
  const row = { kind, number, at: 1_000 + number, tokens: 5, meta, body: JSON.stringify(body) }
  return { ...row, ...(body === null && { body: null }) } as unknown as Entry
}

describe('a view of an entry', () => {
  it.each<[string, string, unknown, unknown]>([
    ['a message from a person', 'input', { message: TEXT }, TEXT],
    ['a note for the model', 'input', { note: 'x' }, null],
    ['a text as input', 'input', 'x', null],
    ['a reply', 'assistant', TEXT, TEXT],
    ['a text as reply', 'assistant', 'x', null],
    ['an erased reply', 'assistant', null, null],
  ])('has the message of %s', (_, kind, body, message) => {
    const view = entryView(entry(kind, 3, body), 3)
    expect(view).toEqual({
      ...{ number: 3, kind, at: 1_003, tokens: 5, meta: {}, message, body: null, isCovered: true },
    })
  })

  it.each<[string, unknown, unknown]>([
    ['ok', 'Rain.', [{ type: 'text', text: 'Rain.' }]],
    ['error', { rain: true }, [{ type: 'text', text: '{"rain":true}' }]],
    ['interrupted', [{ type: 'text', text: 'Sun.' }], [{ type: 'text', text: 'Sun.' }]],
  ])('has the result of a call that ended %s', (outcome, body, output) => {
    const part = { type: 'tool-result', callId: 'c1', output }
    const isError = outcome !== 'ok'
    expect(entryView(entry('result', 3, body, { call: 'c1', outcome }), 2)).toMatchObject({
      ...{ message: { role: 'tool', parts: [isError ? { ...part, isError } : part] } },
      ...{ body: null, isCovered: false },
    })
  })

  it.each([
    [{ text: 'x' }, { text: 'x' }],
    ['x', 'x'],
    [[1, 2], '[1,2]'],
    [null, null],
  ])('has the body of another kind: %j', (body, shown) => {
    const view = entryView(entry('pin', 1, body), 9)
    expect(view).toMatchObject({ message: null, body: shown, isCovered: false })
  })
})

describe('the reply to an input', () => {
  const said = (number: number, upto: number, text: string) =>
    entry('assistant', number, { ...TEXT, parts: [{ type: 'text', text }] }, { upto })
  const end = (number: number, turn: number, ended = 'answered', body: unknown = {}) =>
    entry('turn', number, body, { turn, ended })
  const id = sessionId('ana')
  const none = { sessionId: id, reason: null }

  it('is the last word of the first turn that saw it', () => {
    const entries = [said(3, 1, 'To the one before.'), end(4, 1), said(5, 2, 'Wait.')]
    expect(findReply(id, 2, entries)).toBeUndefined()
    const more = [...entries, said(6, 2, 'Yes.'), end(7, 2), said(8, 7, 'More.'), end(9, 3)]
    expect(findReply(id, 2, more)).toEqual({
      ...{ ...none, turn: 2, entry: 6, ended: 'answered', text: 'Yes.' },
    })
  })

  it('is the end of a turn that failed, with its reason if there is one', () => {
    const failed = { sessionId: id, turn: 1, entry: 3, ended: 'failed', text: '' }
    const because = [end(3, 1, 'failed', { reason: 'no key' })]
    expect(findReply(id, 2, because)).toEqual({ ...failed, reason: 'no key' })
    expect(findReply(id, 2, [end(3, 1, 'failed', { reason: 5 })])).toEqual({
      ...{ ...failed, reason: null },
    })
    expect(findReply(id, 2, [end(3, 1, 'stopped')])).toBeUndefined()
    const before = [said(1, 1, 'To the one before.'), end(2, 0)]
    expect(findReply(id, 2, [...before, ...because])).toEqual({ ...failed, reason: 'no key' })
  })

  it('has no text once it was erased', () => {
    const entries = [entry('assistant', 3, null, { upto: 2 }), end(4, 1, 'stopped')]
    expect(findReply(id, 2, entries)).toEqual({
      ...{ ...none, turn: 1, entry: 3, ended: 'stopped', text: '' },
    })
  })
})

describe('images in messages', () => {
  it('are staged if they are large and spelt as usual, and are loaded again', async () => {
    const store = openMemoryStore()
    const id = sessionId('ana')
    const part = (data: string): UserPart => ({
      ...{ type: 'image', source: { kind: 'base64', mediaType: 'image/png', data } },
    })
    const data = Buffer.alloc(1_536, 7).toString('base64')
    const parts = [part(data), part(data.slice(4)), part(`${data}!`)]
    expect(await stageParts(store, id, parts)).toEqual({ kind: 'unknown' })
    await create(store, { id })
    const staged = await stageParts(store, id, parts)
    if (staged.kind !== 'staged') throw new Error(staged.kind)
    const [hash = ''] = staged.hashes
    const reference = { type: 'image', source: { kind: 'id', id: `blob:${hash}` } }
    expect(staged).toEqual({
      ...{ kind: 'staged', hashes: [hash], parts: [reference, ...parts.slice(1)] },
    })
    const message = { role: 'user' as const, parts: staged.parts }
    const other = { role: 'user' as const, parts: [part('AAAA')] }
    expect(await loadParts(store, id, [message, other])).toEqual([
      ...[{ role: 'user', parts }, other],
    ])
    // Of another session, and so not there.
    expect(await loadParts(store, sessionId('bo'), [message])).toEqual([
      {
        role: 'user',
        parts: [{ type: 'text', text: '[image or file: erased]' }, ...parts.slice(1)],
      },
    ])
    await store.close()
  })
})
