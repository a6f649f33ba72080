import { describe, expect, it } from 'vitest'
import type { JsonValue } from '#core/base/json'
import { addKinds, changedKinds, kindsOfEntry, kindsOfRow, NO_KINDS } from './kinds.ts'
import { importRoutes } from './routes.ts'
import { RowIds } from './row-ids.ts'

const list = (...parts: readonly object[]) => `\0json:${JSON.stringify(parts)}`
const kinds = (calls: number, results = 0, pictures = 0) => ({ calls, results, pictures })

describe('kindsOfRow', () => {
  const call = { id: '1', function: { name: 'read' } }
  it.each<[string, { [key: string]: JsonValue }, object]>([
    ['words', { role: 'user', content: 'hello' }, NO_KINDS],
    ['calls', { role: 'assistant', tool_calls: JSON.stringify([call, call]) }, kinds(2)],
    [
      'calls without a name',
      { role: 'assistant', tool_calls: '[{"function":{}},{"id":"1"},5]' },
      kinds(0),
    ],
    ['calls of a person', { role: 'user', tool_calls: JSON.stringify([call]) }, kinds(0)],
    ['calls that cannot be read', { role: 'assistant', tool_calls: '[{' }, kinds(0)],
    [
      'calls of custom tools',
      { role: 'assistant', tool_calls: '[{"id": "1", "type": "custom", "custom": {"name": "f"}}]' },
      kinds(1),
    ],
    ['a result', { role: 'tool', content: 'x' }, kinds(0, 1)],
    ['a result in the old role', { role: 'function', content: 'x' }, kinds(0, 1)],
    [
      'pictures of each form',
      {
        role: 'user',
        content: list(
          { type: 'image_url', image_url: { url: 'a' } },
          { type: 'input_image', image_url: 'b' },
          { type: 'image', source: {} },
        ),
      },
      kinds(0, 0, 3),
    ],
    [
      'what only looks like one',
      {
        role: 'user',
        content: list(
          { type: 'image' },
          { type: 'image_url' },
          { type: 'text', image_url: 'x' },
          { image_url: 'x' },
        ),
      },
      NO_KINDS,
    ],
    [
      'a picture in a result',
      { role: 'tool', content: list({ type: 'image', source: {} }) },
      kinds(0, 1, 1),
    ],
    [
      'a picture of the system',
      { role: 'system', content: list({ type: 'image', source: {} }) },
      NO_KINDS,
    ],
    [
      'a list without its mark',
      { role: 'user', content: '[{"type":"image","source":{}}]' },
      NO_KINDS,
    ],
  ])('counts %s', (_, row, expected) => {
    expect(kindsOfRow(row)).toEqual(expected)
  })
})

describe('kindsOfEntry', () => {
  const entry = (kind: string, body: JsonValue, row = 7) =>
    kindsOfEntry({ kind, body, row } as never)
  const parts = [
    { type: 'text' },
    { type: 'tool-call' },
    { type: 'image' },
    { type: 'tool-result', output: [{ type: 'image' }] },
  ]

  it('counts in messages, asides, parts and results', () => {
    expect(entry('input', { message: { parts } })).toEqual(kinds(1, 1, 2))
    expect(entry('input', { aside: { parts } })).toEqual(kinds(1, 1, 2))
    expect(entry('assistant', { parts })).toEqual(kinds(1, 1, 2))
    expect(entry('result', [{ type: 'text' }, { type: 'image' }])).toEqual(kinds(0, 1, 1))
    expect(entry('turn', {})).toEqual(NO_KINDS)
  })

  it('counts only the row that a handoff keeps', () => {
    const kept = (at: number) => ({ message: { origin: { at }, parts: [{ type: 'image' }] } })
    const body = {
      preserved: [kept(7), kept(8), { other: 1 }, { message: { parts: [{ type: 'image' }] } }],
    }
    expect(entry('compaction', body)).toEqual(kinds(0, 0, 1))
    expect(entry('compaction', body, 9)).toEqual(NO_KINDS)
  })

  it('adds up, and counts the rows that became another kind', () => {
    expect(addKinds([kinds(1, 2, 3), kinds(10, 20, 30)])).toEqual(kinds(11, 22, 33))
    expect(addKinds([])).toEqual(NO_KINDS)
    expect(changedKinds({ given: kinds(3, 2, 1), made: kinds(1, 2, 4) })).toBe(5)
    expect(changedKinds({ given: kinds(3, 2, 1), made: kinds(3, 2, 1) })).toBe(0)
  })
})

describe('RowIds', () => {
  it.each([0, 1, 3, 50])(
    'keeps the ids of each session in order, whatever was expected (%i)',
    (expected) => {
      const ids = new RowIds(expected)
      const given = [
        ['a', 5],
        ['b', 2],
        ['a', 1],
        ['c', 9],
        ['b', 7],
        ['a', 8],
      ] as const
      for (const [session, id] of given) ids.add(session, id)
      ids.end()
      expect([...ids.names()]).toEqual(['a', 'b', 'c'])
      expect(['a', 'b', 'c', 'd'].map((name) => [...ids.of(name)])).toEqual([
        [5, 1, 8],
        [2, 7],
        [9],
        [],
      ])
    },
  )

  it('holds one session, and none', () => {
    const one = new RowIds(1)
    for (const id of [3, 4, 5]) one.add('a', id)
    one.end()
    expect([...one.of('a')]).toEqual([3, 4, 5])
    const none = new RowIds(4)
    none.end()
    expect([...none.names()]).toEqual([])
  })
})

describe('importRoutes', () => {
  const home = (outcome: string) => ({ ids: ['h1', 'h2'], sessionId: 's1', outcome })
  const imported = async (
    route: object,
    {
      outcome = 'new',
      present,
      pointed = 'pointed',
      torn = [] as readonly object[],
    }: { outcome?: string; present?: string; pointed?: string; torn?: readonly object[] } = {},
  ) => {
    const asked: unknown[] = []
    const request = {
      ...{ agent: 'main', torn, conversations: [home(outcome)] },
      reads: {
        findRoute: async () => (present === undefined ? undefined : { sessionId: present }),
      },
      store: {
        pointRoute: async (query: unknown) => {
          asked.push(query)
          return { kind: pointed }
        },
      },
    }
    const given = {
      key: 'agent:main:telegram:dm:1001',
      sessionId: 'h2',
      entry: {},
      from: 'f',
      ...route,
    }
    const reports = await importRoutes([given] as never, request as never)
    return { reports, asked }
  }

  it('points each route to the one session, whichever of its ids it named', async () => {
    const { reports, asked } = await imported({})
    const route = { channel: 'telegram', address: 'dm:1001' }
    expect(reports).toEqual([
      { key: 'agent:main:telegram:dm:1001', sessionId: 's1', route, outcome: 'pointed' },
    ])
    expect(asked).toEqual([{ route: { agent: 'main', ...route }, sessionId: 's1', version: 0 }])
  })

  it.each<[string, object, object, string]>([
    ['of an unknown session', { sessionId: 'x' }, {}, 'nowhere'],
    ['without an address', { key: 'telegram' }, {}, 'not-brought'],
    ['without a channel', { key: ':x' }, {}, 'not-brought'],
    ['of a conversation that was refused', {}, { outcome: 'refused' }, 'not-brought'],
    ['of one that continued', {}, { outcome: 'continued' }, 'pointed'],
    ['of one that did not change', {}, { outcome: 'unchanged' }, 'pointed'],
    ['that is there', {}, { present: 's1' }, 'unchanged'],
    ['that is taken', {}, { present: 's2' }, 'taken'],
    ['that was taken meanwhile', {}, { pointed: 'conflict' }, 'taken'],
  ])('judges a route %s', async (_, route, world, outcome) => {
    expect((await imported(route, world)).reports).toMatchObject([{ outcome }])
  })

  it('uses the platform of the entry as the channel, and accepts keys of any form', async () => {
    const route = async (given: object) => (await imported(given)).reports[0]?.route
    expect(await route({ entry: { platform: 'discord' } })).toEqual({
      channel: 'discord',
      address: 'dm:1001',
    })
    expect(await route({ entry: { platform: '' } })).toEqual({
      channel: 'telegram',
      address: 'dm:1001',
    })
    expect(await route({ key: 'slack:C1:T2' })).toEqual({ channel: 'slack', address: 'C1:T2' })
  })

  it('reports torn routes last, by their key or by their file', async () => {
    const torn = [
      { key: 'k', from: 'f' },
      { key: null, from: 'f' },
    ]
    const { reports } = await imported({}, { torn })
    expect(reports.slice(1)).toEqual([
      { key: 'k', sessionId: '', route: null, outcome: 'torn' },
      { key: 'f', sessionId: '', route: null, outcome: 'torn' },
    ])
  })
})
