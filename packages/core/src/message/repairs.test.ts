import { expect, it } from 'vitest'
import { assistant, image, toolCall, user } from '../../../../test/support/builders.ts'
import type { Message, ToolResultPart } from './message.ts'
import { alignBack, alignForward, openCalls, repairPairs, uniqueNames } from './pairing.ts'

const result = (callId: string, text: string, more: object = {}): ToolResultPart => ({
  ...{ type: 'tool-result', callId, output: [{ type: 'text', text }], ...more },
})
const results = (...parts: ToolResultPart[]): Message => ({ role: 'tool', parts })

const LONG = 'x'.repeat(70)
const item = { type: 'opaque', provider: 'other', value: { a: 1 } } as const

/** Everything that can be wrong with calls and their results, in one conversation. */
const BROKEN: readonly Message[] = [
  user('Go.'),
  results(result('lost', 'Of no call.', { name: 'read', output: [item, image] })),
  toolCall('', {}, 'look'),
  results(result('', 'Seen.', { name: 'look', isError: true })),
  toolCall('a'),
  toolCall('a', {}, LONG),
  results(result('a', 'One.'), result('a', 'Two.'), result('a', 'Three.', { name: '' })),
  toolCall('b'),
  user('Wait.'),
  results(result('b', 'Late.')),
  toolCall(LONG, {}, 'read'),
]

it('every repair is told in one sentence, in the order of the messages', () => {
  const { repairs } = repairPairs(BROKEN)
  const clipped = `"${'x'.repeat(60)}…"`
  expect(repairs).toEqual([
    {
      ...{ kind: 'orphan-result', at: 1 },
      explanation: 'No call "lost" precedes this result; it was kept as a note in the user role.',
    },
    {
      ...{ kind: 'empty-call-id', at: 2 },
      explanation: 'A call of "look" had no id and got "call".',
    },
    {
      ...{ kind: 'duplicate-call-id', at: 5 },
      explanation: 'The call id "a" was used before; this call and its result are now "a_2".',
    },
    {
      ...{ kind: 'duplicate-result', at: 6 },
      explanation:
        'The call "a" already has a result; this one was kept as a note in the user\'s place.',
    },
    {
      ...{ kind: 'late-result', at: 9 },
      explanation: 'The result of call "b" was moved directly behind its call.',
    },
    {
      ...{ kind: 'unanswered-call', at: 10 },
      explanation: `The call ${clipped} of "read" has no result; one that says so was put behind it.`,
    },
  ])
})

it('a repaired conversation has each result behind its call, and a note for each other one', () => {
  const note = (text: string) => ({ type: 'text', text }) as const
  expect(repairPairs(BROKEN).messages).toEqual([
    user('Go.'),
    {
      ...{ role: 'user', synthetic: true },
      parts: [
        note(
          '[Output of the tool "read", whose call is no longer part of this conversation. It is not a request.]',
        ),
        ...[note('{"a":1}'), image],
      ],
    },
    toolCall('call', {}, 'look'),
    results(result('call', 'Seen.', { name: 'look', isError: true })),
    ...[toolCall('a'), toolCall('a_2', {}, LONG)],
    results(result('a', 'One.'), result('a_2', 'Two.')),
    {
      ...{ role: 'user', synthetic: true },
      parts: [
        note(
          '[Output of a tool, recorded in addition to the result that its call already has. It is not a request.]',
        ),
        note('Three.'),
      ],
    },
    ...[toolCall('b'), results(result('b', 'Late.')), user('Wait.')],
    toolCall(LONG, {}, 'read'),
    results(
      result(LONG, 'No result was recorded for this call: it may or may not have run.', {
        ...{ name: 'read', isError: true },
      }),
    ),
  ])
  expect(openCalls(BROKEN)).toEqual([
    { at: 10, call: { type: 'tool-call', id: LONG, name: 'read', input: {} } },
  ])
})

it('names are unique within their length, and the same whatever comes after them', () => {
  const names = (wanted: readonly string[], lengthMax?: number) =>
    wanted.map(uniqueNames(lengthMax))
  expect(names(['a', '', 'a', 'b', 'a', '', 'a_2', 'call'])).toEqual([
    ...['a', 'call', 'a_2', 'b', 'a_3', 'call_2', 'a_2_2', 'call_3'],
  ])
  expect(names(['abcdefghijkl', 'abcdefghijkm', 'abcdefghij', 'ab', 'abx'], 10)).toEqual([
    ...['abcdefghij', 'ab_2', 'ab_3', 'ab', 'abx'],
  ])
})

const thought: Message = {
  role: 'assistant',
  parts: [{ type: 'reasoning', text: 'hm' }, item],
}

it.each<[string, readonly Message[], readonly number[], readonly number[]]>([
  ['none', [], [0, 0], [0, 0]],
  ['talk', [user('a'), assistant('b'), user('c')], [0, 0, 1, 2, 3, 3], [0, 0, 1, 2, 3, 3]],
  [
    'a call and its result',
    [user('a'), toolCall('x'), results(result('x', 'y')), assistant('b')],
    [0, 0, 1, 1, 3, 4, 4],
    [0, 0, 1, 3, 3, 4, 4],
  ],
  [
    'a thought, its reply, two calls and two results',
    [
      ...[user('a'), thought, toolCall('x'), toolCall('z')],
      ...[results(result('x', 'y')), results(result('z', 'y')), user('b')],
    ],
    [0, 0, 1, 1, 1, 1, 1, 6, 7, 7],
    [0, 0, 1, 6, 6, 6, 6, 6, 7, 7],
  ],
  [
    'two replies, the first of which is answered at once',
    [toolCall('x'), results(result('x', 'y')), toolCall('z'), results(result('z', 'y'))],
    [0, 0, 0, 2, 2, 4, 4],
    [0, 0, 2, 2, 4, 4, 4],
  ],
  [
    'an empty reply',
    [{ role: 'assistant', parts: [] }, assistant('a')],
    [0, 0, 1, 2, 2],
    [0, 0, 1, 2, 2],
  ],
  ['a thought at the end', [user('a'), thought], [0, 0, 1, 2, 2], [0, 0, 1, 2, 2]],
])('the clean cuts of %s, before and behind each place', (_, messages, back, forward) => {
  const places = Array.from({ length: messages.length + 3 }, (_, at) => at - 1)
  const ends = messages.length === 0 ? places.slice(0, 2) : places
  expect(ends.map((at) => alignBack(messages, at))).toEqual(back)
  expect(ends.map((at) => alignForward(messages, at))).toEqual(forward)
})
