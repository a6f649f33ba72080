import { describe, expect, it } from 'vitest'
import {
  assistant,
  handoff,
  handoffOf,
  system,
  toolCall,
  toolResult,
  user,
} from '../../../../test/support/builders.ts'
import type { UserRule } from '../message/handoff/handoff.ts'
import { pinnedMessage } from '../message/handoff/pinned.ts'
import type { Message } from '../message/message.ts'
import { findLayout, headNumbers, isFinalReply } from './layout.ts'
import { keepHostBlocks } from './own-words/keep-host-blocks.ts'
import { asItReads } from './redact/as-it-reads.ts'
import { keepRules } from './rules/keep-rules.ts'
import { cutSummary } from './summary/cut-summary.ts'

/** A token is a character. */
const countTokens = (text: string) => text.length

describe('a summary that is cut', () => {
  const NOTE =
    '[Cut: this summary was too long. The full text is in messages 1 to 7 of the transcript; search it with recall.]'
  const cut = (text: string, tokens: number) =>
    cutSummary(text, { tokensMax: NOTE.length + 1 + tokens, countTokens, covers: 7 })
  const points = (count: number, from = 0) =>
    Array.from({ length: count }, (_, at) => `- point ${from + at}`)
  const section = (title: string, count: number) => [`## ${title}`, ...points(count)].join('\n')

  it.each<[string, string, number, readonly string[]]>([
    ['all of it, if it fits', section('A', 3), 34, [section('A', 3)]],
    [
      'two points from the beginning for each from the end',
      section('A', 10),
      82,
      ['## A', ...points(4), '[… 5 points cut]', '- point 9'],
    ],
    [
      'one more if there is room for it',
      section('A', 10),
      83,
      ['## A', ...points(4), '[… 4 points cut]', ...points(2, 8)],
    ],
    [
      'short sections whole',
      [section('A', 10), section('B', 2)].join('\n'),
      107,
      ['## A', ...points(4), '[… 4 points cut]', ...points(2, 8), section('B', 2)],
    ],
    ['a single point', section('A', 10), 40, ['## A', ...points(1), '[… 9 points cut]']],
    [
      'text before the first heading',
      `Once.\nMore.\n${section('A', 9)}`,
      82,
      ['Once.', 'More.', '## A', ...points(3), '[… 5 points cut]', '- point 8'],
    ],
    [
      'points with their indented lines',
      ['## A', '- one', '  and on', '- two', '', '- three', '- four', '- five', '- six'].join('\n'),
      47,
      ['## A', '- one', '  and on', '- two', '[… 4 points cut]'],
    ],
  ])('keeps %s', (_, text, tokens, lines) => {
    expect(cut(text, tokens)).toBe([...lines, NOTE].join('\n'))
  })

  it('is clipped if no point fits', () => {
    const long = `## A\n${'- a long point. '.repeat(30)}`
    expect(cut(long, 60)).toBe(
      `## A\n- a long point. - \n[… 451 characters cut]\nong point.\n${NOTE}`,
    )
    expect(cutSummary(long, { tokensMax: NOTE.length, countTokens, covers: 7 })).toBe(NOTE)
  })
})

describe('the rules that are kept', () => {
  const keep = (
    texts: readonly (string | readonly [text: string, lifts: true])[],
    {
      earlier = [],
      tokensMax = 10_000,
    }: { earlier?: readonly UserRule[]; tokensMax?: number } = {},
  ) => {
    const said = texts.map((each, at) => ({
      message: { ...user('x'), ...(at === 1 && { at: '2026-01-02' }) },
      number: 10 + at,
      found: [
        typeof each === 'string' ? { text: each, lifts: false } : { text: each[0], lifts: true },
      ],
    }))
    const handoff = handoffOf({ rules: earlier })
    return keepRules({ said: said as never, earlier: handoff, tokensMax, countTokens }).map(
      ({ text, number, at, supersededBy }) =>
        `${number}${at === undefined ? '' : ` ${at}`}${supersededBy === undefined ? '' : ` <${supersededBy}`}: ${text}`,
    )
  }

  it.each<[string, readonly (string | readonly [string, true])[], readonly string[]]>([
    ['unrelated', ['Use tabs.', 'Be kind.'], ['10: Use tabs.', '11 2026-01-02: Be kind.']],
    [
      'the same twice',
      ['Use tabs.', 'Be kind.', 'use TABS'],
      ['11 2026-01-02: Be kind.', '12: use TABS'],
    ],
    [
      'the opposite',
      ['Push to main.', 'Never push to main.'],
      ['10 <11: Push to main.', '11 2026-01-02: Never push to main.'],
    ],
    [
      'another amount',
      ['Write at most 20 lines.', 'Write at most 30 lines.'],
      ['10 <11: Write at most 20 lines.', '11 2026-01-02: Write at most 30 lines.'],
    ],
    [
      'another name of something',
      ['Use port 8080.', 'Use port 9090.'],
      ['10: Use port 8080.', '11 2026-01-02: Use port 9090.'],
    ],
    [
      'another language',
      ['Answer in German.', 'Answer in French.'],
      ['10 <11: Answer in German.', '11 2026-01-02: Answer in French.'],
    ],
    [
      'another address',
      ['Call me Ann.', 'Address me Doctor Lee.'],
      ['10 <11: Call me Ann.', '11 2026-01-02: Address me Doctor Lee.'],
    ],
    [
      'no address',
      ['Call me Ann.', 'Call me before noon.'],
      ['10: Call me Ann.', '11 2026-01-02: Call me before noon.'],
    ],
    [
      'a revocation',
      ['Never touch web-1.', 'Never touch web-2.', ['You may touch web-2 again.', true]],
      [
        '10: Never touch web-1.',
        '11 2026-01-02 <12: Never touch web-2.',
        '12: You may touch web-2 again.',
      ],
    ],
    ['a revocation of nothing', ['Use tabs.', ['You may sing again.', true]], ['10: Use tabs.']],
    [
      'a rule after it was superseded',
      ['Push to main.', 'Never push to main.', 'Push to main.'],
      ['11 2026-01-02 <12: Never push to main.', '12: Push to main.'],
    ],
  ])('are, of %s', (_, said, kept) => {
    expect(keep(said)).toEqual(kept)
  })

  it('begin with those of the earlier handoff, and a later rule supersedes no newer one', () => {
    const earlier = [
      { text: 'Use tabs.', number: 3, at: '2025' },
      { text: 'Push to main.', number: 12 },
    ]
    expect(keep(['Never push to main.'], { earlier })).toEqual([
      ...['3 2025: Use tabs.', '12: Push to main.', '10: Never push to main.'],
    ])
  })

  it('drop those that were superseded, and then the oldest, if there is no room', () => {
    const said = ['Be kind.', 'Push to main.', 'Never push to main.', 'Use tabs.']
    const kept = (tokensMax: number) => keep(said, { tokensMax }).map((line) => line.slice(0, 2))
    const rooms = [1_000, 203, 202, 151, 150, 135, 134, 108, 107, 0]
    expect(rooms.map((room) => kept(room).join(' '))).toEqual([
      ...[
        '10 11 12 13',
        '10 11 12 13',
        '10 12 13',
        '10 12 13',
        '12 13',
        '12 13',
        '13',
        '13',
        '',
        '',
      ],
    ])
  })

  it('are a thousand at most', () => {
    const earlier = Array.from({ length: 1_000 }, (_, at) => ({ text: `Rule r${at}.`, number: at }))
    const kept = keep(['One more.'], { earlier, tokensMax: 1e9 })
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([1_000, '1: Rule r1.', '10: One more.'])
  })
})

describe('the blocks of a host program that are kept', () => {
  const block = (name: string, text: string) => `<${name}>\n${text}\n</${name}>`
  const keep = (head: readonly Message[], tokensMax = 1_000, earlier = handoffOf()) =>
    keepHostBlocks({ head, numberOf: (index) => index + 5, earlier, tokensMax, countTokens })

  it('are the newest of each kind', () => {
    const reminder = (text: string) => block('system-reminder', text)
    const found = keep(
      [user(`${reminder('a')}\nDo it.`), assistant(reminder('b')), user(`${reminder('c')} ok`)],
      1_000,
      handoffOf({
        host: [
          { name: 'system-reminder', text: 'old', number: 1 },
          { name: 'other', text: 'kept', number: 2 },
        ],
      }),
    )
    expect(found).toEqual([
      { name: 'other', text: 'kept', number: 2 },
      { name: 'system-reminder', text: reminder('c'), number: 7 },
    ])
  })

  it('are eight, each with an equal share of the room', () => {
    const host = Array.from({ length: 10 }, (_, at) => ({
      ...{ name: `b${at}`, text: `${at}`.repeat(100), number: at },
    }))
    const earlier = handoffOf({ host })
    const whole = keep([], 8 * 112, earlier)
    expect(whole).toEqual(host.slice(2))
    const less = keep([], 8 * 112 - 1, earlier)
    expect(less.map(({ name }) => name)).toEqual(host.slice(2).map(({ name }) => name))
    expect(less[0]?.text).toBe(`${'2'.repeat(42)}\n[… 37 characters left out …]\n${'2'.repeat(21)}`)
    expect(keep([], 8 * 42, earlier)).toHaveLength(8)
    expect(keep([], 8 * 42 - 1, earlier)).toEqual([])
    expect(keep([], 1_000)).toEqual([])
  })
})

describe('the layout of a context', () => {
  const pin = pinnedMessage('p', 'x')
  const talk = [user('a'), toolCall('c'), toolResult('c', 'r'), assistant('b'), user('d')]

  it.each<[string, readonly Message[], number, object]>([
    ['of nothing', [], 0, { fixedTo: 0, headFrom: 0, firstNumber: 1 }],
    ['of leading messages', [system('s'), pin], 0, { fixedTo: 2, headFrom: 2, firstNumber: 1 }],
    ['of a talk', [system('s'), pin, ...talk], 0, { fixedTo: 2, headFrom: 2, firstNumber: 1 }],
    ['that protects one', [system('s'), ...talk], 1, { fixedTo: 2, headFrom: 2, firstNumber: 2 }],
    [
      'that protects a step',
      [system('s'), ...talk],
      2,
      { fixedTo: 4, headFrom: 4, firstNumber: 4 },
    ],
    ['that protects all', talk, 9, { fixedTo: 5, headFrom: 5, firstNumber: 6 }],
    [
      'with a handoff',
      [system('s'), user('a'), handoff({ covers: 30 }), ...talk],
      3,
      { fixedTo: 2, handoffAt: 2, headFrom: 3, firstNumber: 31 },
    ],
  ])('%s', (_, messages, protectFirst, layout) => {
    expect(findLayout(messages, protectFirst)).toEqual(layout)
  })

  it('numbers its messages by position, or by the entries of a session', () => {
    const layout = { fixedTo: 1, headFrom: 1, firstNumber: 4 }
    const position = headNumbers(layout)
    expect([position(0), position(2), position(0, 1)]).toEqual([4, 6, 4])
    const entry = headNumbers({ ...layout, entries: [[1], [7], [8, 9]] })
    expect([entry(0), entry(1), entry(1, 0), entry(1, 1), entry(1, 2), entry(2)]).toEqual([
      ...[7, 9, 8, 9, 5, 6],
    ])
  })

  it('knows a reply that ends a turn', () => {
    const call = toolCall('c').parts[0] as never
    const text = { type: 'text', text: 'b' } as const
    const reply = (parts: readonly object[], more: object = {}) =>
      isFinalReply({ role: 'assistant', parts, ...more } as Message)
    expect([reply([text]), reply([text, call]), reply([call]), reply([])]).toEqual([
      ...[true, false, false, false],
    ])
    expect(reply([{ type: 'text', text: ' \n' }])).toBe(false)
    expect(reply([text], { isPartial: true })).toBe(false)
    expect(isFinalReply(user('b'))).toBe(false)
  })
})

it('a text reads without what hides in it, and each character has its place', () => {
  expect(asItReads('plain')).toBeUndefined()
  const read = asItReads('a\u200bbc%3Dd\\u00ade')
  expect(read?.text).toBe('abc=de')
  expect([0, 1, 2, 3, 4, 5].map((index) => read?.at(index))).toEqual([0, 2, 3, 4, 7, 14])
  expect(asItReads('\x1b[31mred\x1b[0m')?.text).toBe('red')
})
