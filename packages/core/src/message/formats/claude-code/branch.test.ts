import { expect, it } from 'vitest'
import type { JsonObject } from '../../../base/json.ts'
import { activeLines, preservedIds, replyId, withQueuedPrompts } from './branch.ts'

type Fields = { readonly [name: string]: unknown }
const line = (uuid: string, parentUuid: string | null, fields: Fields = {}) =>
  ({
    type: 'user',
    uuid,
    parentUuid,
    message: { role: 'user', content: uuid },
    ...fields,
  }) as JsonObject
const reply = (uuid: string, parentUuid: string, id: string, calls: readonly string[] = []) =>
  line(uuid, parentUuid, {
    type: 'assistant',
    message: {
      role: 'assistant',
      id,
      content: calls.map((call) => ({ type: 'tool_use', id: call })),
    },
  })
const result = (uuid: string, parentUuid: string, ...calls: readonly string[]) =>
  line(uuid, parentUuid, {
    message: {
      role: 'user',
      content: calls.map((call) => ({ type: 'tool_result', tool_use_id: call })),
    },
  })
const boundary = (uuid: string, fields: Fields = {}) =>
  line(uuid, null, { type: 'system', subtype: 'compact_boundary', message: undefined, ...fields })
const keeping = (...uuids: readonly string[]) => ({
  compactMetadata: { preservedMessages: { uuids } },
})
const summary = (uuid: string, parentUuid: string | null) =>
  line(uuid, parentUuid, { isCompactSummary: true })
const note = (uuid: string, parentUuid: string) =>
  line(uuid, parentUuid, { type: 'system', message: undefined })
const prompt = { type: 'system', subtype: 'system_prompt', content: 'Rules.' }

it.each<[string, readonly JsonObject[], string]>([
  ['no lines', [], ''],
  ['lines without ids', [{ type: 'user', message: {} }, { type: 'summary' }], '?'],
  ['one chain', [line('a', null), line('b', 'a'), note('n', 'b'), line('c', 'n')], 'a b c'],
  ['a side chain', [line('a', null), line('s', 'a', { isSidechain: true }), line('b', 'a')], 'a b'],
  ['a branch that was left', [line('a', null), line('b', 'a'), line('c', 'a')], 'a c'],
  ['a lost parent', [line('a', null), line('b', 'a'), line('c', 'lost')], 'a b c'],
  ['a parent behind', [line('a', null), line('b', 'c'), line('c', 'b')], 'a b c'],
  [
    'a logical parent',
    [line('a', null), line('b', 'a'), line('c', null, { logicalParentUuid: 'a' })],
    'a c',
  ],
  ['another root', [line('a', null), line('b', null), line('c', 'b')], 'b c'],
  [
    'an error of the API',
    [line('a', null), { ...reply('b', 'a', 'm'), isApiErrorMessage: true }, line('c', 'b')],
    'a c',
  ],
  [
    'a system prompt, which comes first',
    [line('a', null), { ...prompt, uuid: 'p', parentUuid: 'a' } as JsonObject, line('b', 'p')],
    'p a b',
  ],
  ['a compaction', [line('a', null), boundary('b'), summary('s', 'b'), line('c', 's')], 's c'],
  ['a summary without a boundary', [line('a', null), summary('s', 'a'), line('c', 's')], 's c'],
  [
    'a reply marked as a summary',
    [line('a', null), { ...reply('b', 'a', 'm'), isCompactSummary: true }, line('c', 'b')],
    'a b c',
  ],
  [
    'two compactions, the newer of which keeps lines',
    [
      ...[line('a', null), boundary('b', keeping('a')), summary('s', 'b'), line('c', 's')],
      ...[
        note('n', 'c'),
        boundary('d', keeping('n', 'c', 'e', 'lost')),
        summary('t', 'd'),
        line('e', 't'),
      ],
    ],
    't c e',
  ],
  [
    'a boundary of a branch that was left',
    [line('a', null), line('b', 'a'), boundary('x', keeping('b')), line('c', 'a')],
    'a c',
  ],
  [
    'calls that ran in parallel',
    [
      ...[line('a', null), reply('b', 'a', 'm', ['1']), reply('c', 'b', 'm', ['2'])],
      ...[result('d', 'b', '1'), result('e', 'c', '2'), line('f', 'e')],
    ],
    'a b c d e f',
  ],
  [
    'a result that came twice, and one of no call here',
    [
      ...[line('a', null), reply('b', 'a', 'm', ['1']), result('c', 'b', '1', '1')],
      ...[result('x', 'b', '1'), result('y', 'a', '9'), line('f', 'c')],
    ],
    'a b c f',
  ],
  [
    'another part of a reply, and one before the compaction',
    [
      ...[reply('x', 'lost', 'm'), summary('s', null), reply('b', 's', 'm')],
      ...[reply('c', 'lost', 'm'), reply('d', 'lost', 'other'), line('e', 'b')],
    ],
    's b c e',
  ],
])('of %s the model is given this', (_, lines, given) => {
  expect(
    activeLines(lines)
      .map(({ uuid }) => uuid ?? '?')
      .join(' '),
  ).toBe(given)
})

it('a compaction lists the lines that it keeps', () => {
  expect([...preservedIds(undefined)]).toEqual([])
  expect([...preservedIds(boundary('b'))]).toEqual([])
  expect([...preservedIds(boundary('b', { compactMetadata: { preservedMessages: 7 } }))]).toEqual(
    [],
  )
  expect([...preservedIds(boundary('b', keeping('a', 'c')))]).toEqual(['a', 'c'])
})

it('the lines of one reply share its id', () => {
  expect(replyId(reply('a', 'b', 'm'))).toBe('m')
  expect(replyId(line('a', 'b', { message: { id: 'm' } }))).toBeUndefined()
  expect(replyId(line('a', 'b', { type: 'assistant', message: 7 }))).toBeUndefined()
  expect(replyId(line('a', 'b', { type: 'assistant', message: { id: 7 } }))).toBeUndefined()
})

it('a prompt that waited is read as a line of the user, once', () => {
  const queued = (uuid: string, attachment: Fields, fields: Fields = {}) =>
    ({
      type: 'attachment',
      uuid,
      attachment: { type: 'queued_command', ...attachment },
      ...fields,
    }) as JsonObject
  const read = (uuid: string, content: string, more: Fields = {}) => ({
    ...{ uuid, type: 'user', message: { role: 'user', content }, ...more },
  })
  const lines = [
    line('u', null),
    queued('a', { prompt: 'x' }, { rendered: 'r', renderedRole: 'user', cwd: '/' }),
    queued('b', { prompt: 'x', commandMode: 'prompt', origin: { kind: 'human' } }),
    queued('c', { prompt: 'x', commandMode: 'bash' }),
    queued('d', { prompt: 'x', origin: { kind: 'program' } }),
    queued('e', { prompt: 'x', origin: {} }),
    queued('f', { prompt: 'x', isMeta: true }),
    queued('g', { prompt: 'x', source_uuid: 'u' }),
    queued('h', { prompt: 'x', source_uuid: 'lost' }),
    queued('i', { prompt: null }),
    queued('j', {}),
    queued('k', { type: 'file', prompt: 'x' }),
    { type: 'attachment', uuid: 'l', attachment: 7 },
  ]
  const meta = { isMeta: true }
  expect(withQueuedPrompts(lines)).toEqual([
    lines[0],
    ...[read('a', 'x', { cwd: '/' }), read('b', 'x'), read('c', 'x', meta), read('d', 'x', meta)],
    ...[read('e', 'x'), read('f', 'x', meta), lines[7], read('h', 'x')],
    ...lines.slice(9),
  ])
})
