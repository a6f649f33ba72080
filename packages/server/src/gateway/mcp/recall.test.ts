import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { user } from '../../../../../test/support/builders.ts'
import { buildMcpServer, type McpServerParts } from './server.ts'

const AT = '2026-11-17T10:00:00.000Z'

interface Page {
  readonly entries: readonly { readonly entry: number; readonly text: string }[]
  readonly newest: number
  readonly next: { readonly from: number; readonly offset: number } | null
}

/** Recalls from a session whose entries have these texts; an entry may be no message. */
async function recall(texts: readonly (string | object)[], asked: object): Promise<Page> {
  const entries = texts.map((text, index) => ({
    ...{ number: index + 1, kind: 'input', at: Date.parse(AT), isCovered: index === 0 },
    ...{ meta: {}, body: null },
    ...(typeof text === 'string' ? { message: user(text) } : { message: null, ...text }),
  }))
  const session = {
    summary: async () => ({ agent: 'main', entries: entries.length }),
    transcript: async ({ from, to }: { from: number; to: number }) => entries.slice(from - 1, to),
  }
  const parts = { runtime: { session: () => session }, agent: 'main', sessions: null }
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  const server = buildMcpServer({ ...parts, version: '1' } as unknown as McpServerParts)
  await Promise.all([server.connect(there), client.connect(here)])
  const request = { name: 'session_recall', arguments: { session: 's1', ...asked } }
  const { structuredContent } = await client.callTool(request)
  await client.close()
  return structuredContent as unknown as Page
}

/** Of a page: each entry with the length of its text, and where it goes on. */
async function sizes(texts: readonly string[], asked: object = {}) {
  const { entries, next } = await recall(texts, asked)
  return [entries.map(({ entry, text }) => `${entry}:${text.length}`).join(' '), next]
}

const many = (count: number, length = 1) => Array.from({ length: count }, () => 'x'.repeat(length))

describe('session_recall', () => {
  it.each<[string, readonly string[], object, string, Page['next']]>([
    [
      'the newest 20',
      many(22),
      {},
      many(20)
        .map((_, at) => `${at + 3}:1`)
        .join(' '),
      null,
    ],
    ['a range', many(9), { from: 3, to: 5 }, '3:1 4:1 5:1', null],
    ['a range beyond the end', many(4), { from: 3, to: 9 }, '3:1 4:1', null],
    ['nothing behind the end', many(4), { from: 5 }, '', null],
    ['nothing of an empty range', many(4), { from: 3, to: 2 }, '', null],
    ['20,000 characters', many(3, 10_000), {}, '1:10000 2:10000', { from: 3, offset: 0 }],
    ['20,000 characters at the end', many(2, 10_000), {}, '1:10000 2:10000', null],
    ['a part of an entry', many(2, 10_001), {}, '1:10001 2:9999', { from: 2, offset: 9_999 }],
    ['the rest of an entry', many(2, 30), { from: 1, offset: 10 }, '1:20 2:30', null],
    [
      'a part further on in an entry',
      ['x'.repeat(30_000)],
      { from: 1, offset: 5_000 },
      '1:20000',
      { from: 1, offset: 25_000 },
    ],
  ])('reads %s', async (_, texts, asked, found, next) => {
    expect(await sizes(texts, asked)).toEqual([found, next])
  })

  it('reads 200 entries at once', async () => {
    const { entries, next } = await recall(many(205), { from: 2 })
    expect([entries[0]?.entry, entries.at(-1)?.entry, next]).toEqual([
      2,
      201,
      { from: 202, offset: 0 },
    ])
    expect((await recall(many(201), { from: 2 })).next).toBeNull()
  })

  it('cuts through no character, neither at an end nor at a beginning', async () => {
    const text = `${'x'.repeat(19_999)}\u{1f469}y`
    const first = await recall([text], {})
    expect([first.entries[0]?.text.length, first.next]).toEqual([
      19_999,
      { from: 1, offset: 19_999 },
    ])
    expect((await recall([text], { from: 1, offset: 20_000 })).entries[0]?.text).toBe('\u{1f469}y')
  })

  it('says who said it and when, how much is left out, and whether it was compacted away', async () => {
    const lane = (name: string) => ({ message: user('x'), meta: { lane: name } })
    const { entries } = await recall(
      [
        ...['Hello.', lane('notification'), lane('user'), { kind: 'pin', body: 'Rule.' }],
        ...[{ kind: 'erasure' }, { kind: 'settings', body: { model: 'm' } }],
      ],
      {},
    )
    const whole = { at: AT, clippedCharacters: 0, isCompacted: false }
    expect(entries).toEqual([
      { ...whole, entry: 1, role: 'user', text: 'Hello.', isCompacted: true },
      { ...whole, entry: 2, role: 'notification', text: 'x' },
      { ...whole, entry: 3, role: 'user', text: 'x' },
      { ...whole, entry: 4, role: 'pin', text: 'Rule.' },
      { ...whole, entry: 5, role: 'erasure', text: '[erased]' },
      { ...whole, entry: 6, role: 'settings', text: '{"model":"m"}' },
    ])
    const [cut] = (await recall(['x'.repeat(20_007)], {})).entries
    expect(cut).toMatchObject({ clippedCharacters: 7 })
    const [rest] = (await recall(['x'.repeat(20_007)], { from: 1, offset: 4 })).entries
    expect(rest).toMatchObject({ clippedCharacters: 3 })
  })
})
