import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  blobHash,
  entryNumberText,
  eventCursor,
  focus,
  mailCursor,
  name,
  newCompaction,
  newFork,
  newMessage,
  newSessionSchema,
  noteText,
  pageSize,
  pinName,
  pinText,
  queryText,
  readableIdText,
  sessionIdText,
} from '../schemas.ts'

const takes = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success
const LONE = 'a\ud800'

describe('numbers in an address', () => {
  it.each<[string, z.ZodType, readonly string[], readonly string[]]>([
    [
      'of a page',
      pageSize(50),
      ['1', '50', '050'],
      ['0', '51', '-1', ' 1', '1e1', '1.0', '', '+1'],
    ],
    ['of an entry', entryNumberText, ['1', '2147483647'], ['0', '2147483648', 'x']],
    ['of mail, from none', mailCursor, ['0', '2147483647'], ['2147483648', '']],
    [
      'of an event',
      eventCursor,
      ['0', '9007199254740991'],
      ['9007199254740992', '12345678901234567'],
    ],
  ])('%s are digits within their bounds', (_, schema, good, bad) => {
    expect(good.filter((value) => !takes(schema, value))).toEqual([])
    expect(bad.filter((value) => takes(schema, value))).toEqual([])
  })

  it('become numbers, and may be left out where a page has a usual size', () => {
    expect(pageSize(50).parse('007')).toBe(7)
    expect(pageSize(50).parse(undefined)).toBeUndefined()
    expect(takes(entryNumberText, undefined)).toBe(false)
  })
})

describe('names and texts', () => {
  it.each<[string, z.ZodType, number]>([
    ['a name', name, 128],
    ['a focus', focus, 2_000],
    ['a question', queryText, 500],
    ['a pin', pinText, 100_000],
    ['a note', noteText, 600],
  ])('%s has at least one character, and no more than its limit', (_, schema, max) => {
    const lengths = [0, 1, max, max + 1]
    expect(lengths.map((length) => takes(schema, 'x'.repeat(length)))).toEqual([
      ...[false, true, true, false],
    ])
    expect(takes(schema, LONE)).toBe(false)
  })

  it('notes are more than white space', () => {
    expect([takes(noteText, ' \n'), takes(noteText, ' a ')]).toEqual([false, true])
  })

  it('ids have 1 to 64 letters, digits, lines and dashes', () => {
    const good = ['a', 'A-_9', 'x'.repeat(64)]
    const bad = ['', 'x'.repeat(65), 'a.b', 'a b', 'é', 'a.snapshot.5']
    for (const schema of [sessionIdText, pinName]) {
      expect(good.filter((id) => !takes(schema, id))).toEqual([])
      expect(bad.filter((id) => takes(schema, id))).toEqual([])
    }
  })

  it('what is read may be a snapshot', () => {
    expect(readableIdText.parse('a')).toEqual({ sessionId: 'a', compaction: null })
    expect(readableIdText.parse('a.snapshot.5')).toEqual({ sessionId: 'a', compaction: 5 })
    expect(
      ['a.snapshot.0', 'a.snapshot.', 'a.b', ''].filter((id) => takes(readableIdText, id)),
    ).toEqual([])
  })

  it('hashes have 64 hex digits', () => {
    expect(takes(blobHash, 'a1'.repeat(32))).toBe(true)
    expect(
      ['a1'.repeat(31), 'A1'.repeat(32), `${'a1'.repeat(32)}0`, 'g1'.repeat(32)].filter((each) =>
        takes(blobHash, each),
      ),
    ).toEqual([])
  })
})

describe('a new message', () => {
  const image = (source: object) => ({ parts: [{ type: 'image', source }] })
  const base64 = { kind: 'base64', mediaType: 'image/png', data: 'QUJD' }

  it('is a text or parts, for a person unless it says otherwise', () => {
    expect(newMessage.parse({ text: 'a' })).toEqual({
      parts: [{ type: 'text', text: 'a' }],
      lane: 'user',
    })
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image', source: base64 },
    ]
    expect(newMessage.parse({ parts, lane: 'notification' })).toEqual({
      parts,
      lane: 'notification',
    })
  })

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['both', { text: 'a', parts: [{ type: 'text', text: 'a' }] }],
    ['an empty text', { text: '' }],
    ['a lone surrogate', { text: LONE }],
    ['no parts', { parts: [] }],
    [
      'more than 100 parts',
      { parts: Array.from({ length: 101 }, () => ({ type: 'text', text: 'a' })) },
    ],
    ['another lane', { text: 'a', lane: 'control' }],
    ['an unknown name', { text: 'a', x: 1 }],
    ['an unknown part', { parts: [{ type: 'audio' }] }],
    ['a part with more', { parts: [{ type: 'text', text: 'a', x: 1 }] }],
    ['an image without a source', { parts: [{ type: 'image' }] }],
    ['bytes that are none', image({ ...base64, data: 'a b' })],
    ['no bytes', image({ ...base64, data: '' })],
    ['a strange type', image({ ...base64, mediaType: 'image/PNG' })],
    ['no type', image({ kind: 'base64', data: 'QUJD' })],
    ['an address without encryption', image({ kind: 'url', url: 'http://a.example' })],
    ['an address with a user', image({ kind: 'url', url: 'https://u@a.example' })],
    ['a long address', image({ kind: 'url', url: `https://${'a'.repeat(1_993)}` })],
  ])('is not %s', (_, body) => {
    expect(takes(newMessage, body)).toBe(false)
  })

  it('takes 100 parts, files with a name, and addresses of 2,000 characters', () => {
    expect(
      takes(newMessage, {
        parts: Array.from({ length: 100 }, () => ({ type: 'text', text: 'a' })),
      }),
    ).toBe(true)
    expect(takes(newMessage, { parts: [{ type: 'file', source: base64, name: 'a.txt' }] })).toBe(
      true,
    )
    expect(takes(newMessage, image({ kind: 'url', url: `https://${'a'.repeat(1_992)}` }))).toBe(
      true,
    )
  })
})

describe('a new session, fork or compaction', () => {
  const route = { channel: 'web', address: '1' }

  it.each<[object, boolean]>([
    [{ agent: 'main' }, true],
    [{}, false],
    [{ agent: 'main', id: 'a b' }, false],
    [{ agent: 'main', id: 'a', route }, true],
    [{ agent: 'main', route: { channel: 'web' } }, false],
    [{ agent: 'main', route: { channel: 'web', address: 'x'.repeat(512) } }, true],
    [{ agent: 'main', route: { channel: 'web', address: 'x'.repeat(513) } }, false],
    [{ agent: 'main', afresh: true }, false],
    [{ agent: 'main', afresh: true, route }, true],
    [{ agent: 'main', afresh: true, route, id: 'a' }, false],
    [{ agent: 'main', afresh: false, id: 'a' }, true],
    [{ agent: 'main', x: 1 }, false],
  ])('takes the session %j: %s', (body, expected) => {
    expect(takes(newSessionSchema, body)).toBe(expected)
  })

  it.each<[object, boolean]>([
    [{ at: 1 }, true],
    [{ at: 0 }, false],
    [{ at: 1.5 }, false],
    [{ at: '1' }, false],
    [{ at: 1, id: 'a' }, true],
    [{ at: 1, id: 'a.b' }, false],
  ])('takes the fork %j: %s', (body, expected) => {
    expect(takes(newFork, body)).toBe(expected)
  })

  it.each<[object, boolean]>([
    [{}, true],
    [{ focus: 'a', preview: true }, true],
    [{ install: { a: 1 } }, true],
    [{ install: { a: 1 }, preview: false }, true],
    [{ install: { a: 1 }, preview: true }, false],
    [{ install: { a: 1 }, focus: 'a' }, false],
    [{ install: 'x' }, false],
    [{ focus: '' }, false],
  ])('takes the compaction %j: %s', (body, expected) => {
    expect(takes(newCompaction, body)).toBe(expected)
  })
})
