import { describe, expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import { planEntries, rewindBody, sharedDepth, unitsOf } from './entry-plan.ts'
import { hashUnit, type Unit } from './unit.ts'
import { UnitTree } from './unit-tree.ts'

const text = (role: 'user' | 'assistant', words: string): Unit => ({
  kind: 'text',
  role,
  text: words,
})
const call = (id: string, more: object = {}): Unit => ({
  ...{ kind: 'call', id, name: 'f', input: { x: 1 } },
  ...more,
})
const result = (id: string, isError = false): Unit => ({
  ...{ kind: 'result', id, output: [{ type: 'text', text: 'out' }], isError },
})
const odd = { type: 'opaque', provider: 'openai', value: { a: 1 } } as const
const block = (role: 'user' | 'assistant'): Unit => ({ kind: 'block', role, part: odd })
const words = (value: string) => ({ type: 'text', text: value })
const message = (role: string, ...parts: readonly object[]) => ({ role, parts })

/** The messages that record these units behind what a tree knows; `known`: entries of one unit. */
function plan(
  units: readonly Unit[],
  given: {
    readonly known?: readonly Unit[]
    readonly at?: number
    readonly isPartial?: boolean
  } = {},
) {
  const { known = [], at = known.length, isPartial = false } = given
  const tree = new UnitTree()
  const nodes = [tree.root, ...known.map((unit, index) => tree.add(index + 1, [hashUnit(unit)]))]
  const node = nodes[at] ?? tree.root
  const planned = planEntries(tree, node, units, { isPartial })
  expect(sharedDepth(node)).toBe(at)
  expect(planned.entries.flatMap(({ hashes }) => hashes)).toEqual(units.map(hashUnit))
  return { planned, messages: planned.entries.map((entry) => entry.message) }
}

const SUMMARY = 'This session is being continued from a previous conversation.'
const LEFT = '[handoff 0123456789ab by=digest] So far.'
const summary = (value: string, more: object = { synthetic: true }) => ({
  ...{ ...message('user', words(value)), isSummary: true },
  ...more,
})

describe('planEntries', () => {
  it('records words and pictures together, a reply with its calls, and each result', () => {
    const units = [
      ...[text('user', 'a'), block('user'), text('assistant', 'b'), call('1')],
      ...[call('2', { inputText: '{' }), block('assistant'), result('1'), result('2', true)],
      ...[text('user', 'c'), text('assistant', 'd')],
    ]
    const { planned, messages } = plan(units)
    expect(messages).toEqual([
      message('user', words('a'), odd),
      message(
        'assistant',
        words('b'),
        { type: 'tool-call', id: '1', name: 'f', input: { x: 1 } },
        { type: 'tool-call', id: '2', name: 'f', input: { x: 1 }, inputText: '{' },
        odd,
      ),
      message('tool', { type: 'tool-result', callId: '1', output: [words('out')] }),
      message('tool', { type: 'tool-result', callId: '2', output: [words('out')], isError: true }),
      message('user', words('c')),
      message('assistant', words('d')),
    ])
    expect([planned.rewindTo, rewindBody(planned)]).toEqual([null, null])
  })

  it('marks the replies of an answer that was cut off', () => {
    const { messages } = plan([text('user', 'a'), text('assistant', 'b')], { isPartial: true })
    expect(messages).toEqual([
      message('user', words('a')),
      { ...message('assistant', words('b')), isPartial: true },
    ])
  })

  const known = [text('user', 'a'), text('assistant', 'b')]

  it.each<[string, Parameters<typeof plan>, number | null, readonly object[], object | null]>([
    ['nothing new', [[], { known }], null, [], null],
    ['more', [[text('user', 'c')], { known }], null, [message('user', words('c'))], null],
    [
      'another end, because the person went back',
      [[text('user', 'c')], { known, at: 1 }],
      1,
      [message('user', words('c'))],
      null,
    ],
    [
      'a summary of the client',
      [[text('user', SUMMARY), text('user', 'c')], { known, at: 0 }],
      0,
      [summary(SUMMARY), message('user', words('c'))],
      { by: 'client compaction' },
    ],
    [
      'a summary behind a message that the client kept',
      [[text('user', 'kept'), text('user', SUMMARY), text('user', 'c')], { known, at: 0 }],
      0,
      [message('user', words('kept')), summary(SUMMARY), message('user', words('c'))],
      { by: 'client compaction' },
    ],
    [
      'our own handoff',
      [[text('user', LEFT), text('assistant', 'c')], { known, at: 1 }],
      1,
      [summary(LEFT, {}), message('assistant', words('c'))],
      { by: 'leave' },
    ],
    [
      'words like a summary at the end of the same history',
      [[text('user', SUMMARY)], { known }],
      null,
      [message('user', words(SUMMARY))],
      null,
    ],
    [
      'words like a summary behind a reply',
      [[text('assistant', 'c'), text('user', SUMMARY)], { known, at: 1 }],
      1,
      [message('assistant', words('c')), message('user', words(SUMMARY))],
      null,
    ],
    [
      'a summary at the beginning of everything',
      [[text('user', SUMMARY)], {}],
      null,
      [summary(SUMMARY)],
      { by: 'client compaction' },
    ],
  ])('plans %s', (_, given, rewindTo, expected, body) => {
    const { planned, messages } = plan(...given)
    expect([planned.rewindTo, messages, rewindBody(planned)]).toEqual([rewindTo, expected, body])
  })
})

describe('unitsOf', () => {
  it.each<[string, object, readonly Unit[]]>([
    ['a message', message('user', words('a'), odd), [text('user', 'a'), block('user')]],
    [
      'a reply',
      message(
        'assistant',
        { type: 'reasoning', text: 'hm' },
        words('b'),
        { type: 'tool-call', id: '1', name: 'f', input: { x: 1 } },
        { type: 'tool-call', id: '2', name: 'f', input: { x: 1 }, inputText: '{' },
        odd,
      ),
      [text('assistant', 'b'), call('1'), call('2', { inputText: '{' }), block('assistant')],
    ],
    [
      'results',
      message(
        'tool',
        { type: 'tool-result', callId: '1', output: [words('out')] },
        { type: 'tool-result', callId: '2', output: [words('out')], isError: true },
      ),
      [result('1'), result('2', true)],
    ],
    ['a handoff', { role: 'handoff', handoff: {} }, []],
  ])('reads back %s', (_, stored, units) => {
    expect(unitsOf(stored as unknown as Message)).toEqual(units)
  })
})
