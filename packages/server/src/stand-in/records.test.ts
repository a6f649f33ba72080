import { expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import { handoffOf } from '../../../../test/support/builders.ts'
import { recordsOf, sentencesOf } from './records.ts'
import { checkSeals, seal, unseal } from './seal.ts'
import { asksForTitle, titleOf } from './title.ts'

const text = (words: string) => ({ type: 'text' as const, text: words })
const opaque = (value: unknown) => ({ type: 'opaque', value }) as never

it('knows every text of a request with its place', () => {
  const messages = [
    { role: 'system', parts: [text('Be brief.')] },
    { role: 'user', parts: [opaque({ type: 'compaction', content: 'The pier.' }), text('Hello.')] },
    {
      role: 'assistant',
      parts: [
        ...[
          opaque({ encrypted_content: seal('The mole.') }),
          opaque({ type: 'compaction', content: 7 }),
        ],
        ...[
          opaque(null),
          opaque({ encrypted_content: 'foreign' }),
          opaque({ type: 'other', content: 'x' }),
        ],
        text('Good day.'),
      ],
    },
    { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', output: [text('Found.')] }] },
  ] as unknown as readonly Message[]
  const where = 'the compaction'
  expect(recordsOf(messages)).toEqual([
    { where: 'the system prompt', who: 'system', text: 'Be brief.' },
    { where, who: 'handoff', text: 'The pier.' },
    { where: 'one of your messages', who: 'user', text: '[compaction]\nHello.' },
    { where, who: 'handoff', text: 'The mole.' },
    {
      ...{ where: 'one of my answers', who: 'assistant' },
      text: '[unknown]\n[compaction]\n[unknown]\n[unknown]\n[other]\nGood day.',
    },
    { where: 'the result of a tool', who: 'tool', text: 'Found.' },
  ])
})

it('knows each section of a handoff that says something', () => {
  const user = { role: 'user', parts: [text('Keep it.')] }
  const handoff = handoffOf({
    summary: 'All is well.',
    ledger: [{ kind: 'path', text: 'a.ts' }],
    files: [{ access: 'read', path: 'b.ts' }],
    tasks: [{ status: 'open', text: 'Tidy up.' }],
    preserved: [{ message: user }],
  } as never)
  const of = (name: string, told: string) => ({
    where: `the handoff's ${name}`,
    who: 'handoff',
    text: told,
  })
  expect(recordsOf([{ role: 'handoff', handoff }])).toEqual([
    of('summary', 'All is well.'),
    of('ledger', 'path: a.ts'),
    of('files', 'read the file b.ts'),
    of('tasks', 'open task: Tidy up.'),
    { where: 'one of your messages, kept in the handoff', who: 'user', text: 'Keep it.' },
  ])
  expect(recordsOf([{ role: 'handoff', handoff: handoffOf({ summary: 'x' }) }])).toEqual([
    of('summary', 'x'),
  ])
})

it('parts a text into sentences, and a long one into pieces that overlap', () => {
  expect(sentencesOf(' One. Two!  Three?\n\n four 4.5 ')).toEqual([
    'One.',
    'Two!',
    'Three?',
    'four 4.5',
  ])
  const digits = (count: number) => Array.from({ length: count }, (_, at) => at % 10).join('')
  expect(sentencesOf(digits(1_000))).toEqual([digits(1_000)])
  expect(sentencesOf(digits(1_001))).toEqual([digits(1_000), digits(1_001).slice(800)])
  expect(sentencesOf(digits(1_801)).map(({ length }) => length)).toEqual([1_000, 1_000, 201])
})

it('opens what it sealed, and refuses what was changed', () => {
  const sealed = seal('Hmm – ☕.')
  expect([unseal(sealed), unseal(`${sealed}A`), unseal('foreign'), unseal('standin.')]).toEqual([
    ...['Hmm – ☕.', undefined, undefined, undefined],
  ])
  const changed = `${sealed.slice(0, -1)}_`
  expect(() =>
    checkSeals([
      null,
      'x',
      { encrypted_content: sealed },
      { encrypted_content: 'foreign' },
      { content: 'x' },
    ]),
  ).not.toThrow()
  expect(() => checkSeals([{ content: ['x', { encrypted_content: changed }] }])).toThrow(
    'The encrypted content of an item could not be verified.',
  )
  expect(() => checkSeals([{ signature: sealed, thinking: 'Hmm – ☕.' }])).not.toThrow()
  expect(() =>
    checkSeals([{ content: [{ signature: sealed, content: 'Hmm – ☕.' }] }]),
  ).not.toThrow()
  for (const other of [{ thinking: 'Hm.' }, { content: 'Hm.' }, {}]) {
    expect(() => checkSeals([{ signature: sealed, ...other }])).toThrow('Invalid `signature`')
  }
})

it('names a conversation after the first eight words that somebody said', () => {
  const quoted =
    '===\n#1 user (old):\n\n  One two three  four five six seven eight nine.\nOther words.'
  expect(titleOf(quoted)).toBe('One two three four five six seven eight')
  expect([titleOf('Is it so?!\nNo.'), titleOf('==\nx'), titleOf('===')]).toEqual([
    'Is it so',
    '==',
    '',
  ])
  const asks = (role: string, words: string) =>
    asksForTitle([{ role, parts: [text(words)] } as never])
  expect([
    asks('system', 'Please name the conversation.'),
    asks('system', 'Name the quoted conversation'),
    asks('user', 'Name the conversation'),
    asks('system', 'rename the conversation'),
  ]).toEqual([true, true, false, false])
})
