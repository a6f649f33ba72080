import { expect, it } from 'vitest'
import { assistant, user } from '../../../../../test/support/builders.ts'
import type { Message } from '../../message/message.ts'
import { compact } from '../compact.ts'
import type { CompactOptions } from '../compact-options.ts'
import type { SummaryRequest } from './prompt.ts'
import { SummaryFailedError, type SummaryReply, WriterOverflowError } from './summary-writer.ts'

const ASK = 'Run the step which is next, and write down that it was done and when it was done.'
const TALK: readonly Message[] = [
  ...Array.from({ length: 20 }, (_, at) => [
    user(`${at}: ${ASK}`),
    assistant(
      `The step ${at} of the work was done, and it is in the list with the time of the day.`,
    ),
  ]).flat(),
  user('What is next?'),
]
const GOOD = `## Progress and decisions
- The agent has done the steps 0 to 18 of the work, and each of them is in the list with its time.
- The user wants that each step is run and that it is written down when it was done.
## What remains
- The user asked what is next.`
const GERMAN = `## Progress and decisions
- Der Nutzer hat jeden Schritt verlangt, und der Agent hat ihn ausgeführt; es wurde nicht alles auf dem Server geprüft.
- Die Ausgabe war mit der ersten gleich, und das ist auch für den Nutzer nicht neu.
## What remains
- Der Nutzer fragt, was als Nächstes für den Server zu tun ist, und das wird er auch bitte prüfen.`

const reply = (text: string, more: Partial<SummaryReply> = {}): SummaryReply => ({
  ...{ text, finish: 'stop', ...more },
})

/** What the writer was asked, in short, and what came of it. */
async function run(
  answers: readonly (SummaryReply | Error)[],
  options: CompactOptions = {},
  messages = TALK,
) {
  const asked: string[] = []
  const summarize = async (request: SummaryRequest) => {
    const { tokensMax, piece, shortens, ask } = request
    const words = [
      piece && `piece ${piece.number} of ${piece.of}`,
      shortens && 'shorten',
      ask.includes('the colour of the sea') && 'about the sea',
      `to ${tokensMax}`,
    ]
    asked.push(words.filter(Boolean).join(', '))
    const answer = answers[asked.length - 1] ?? answers.at(-1)
    if (answer === undefined || answer instanceof Error) throw answer
    return answer
  }
  const {
    outcome,
    reason,
    explanation,
    warnings,
    messages: after,
  } = await compact(messages, {
    ...{
      family: 'generic',
      budget: { windowTokens: 8_000, targetTokens: 700, keepTokens: 50 },
      summarize,
      ...options,
    },
  })
  const handoff = after.find((message) => message.role === 'handoff')
  const { by, summary } = handoff?.role === 'handoff' ? handoff.handoff : { by: '-', summary: '' }
  return { asked, end: [outcome, reason, by], explanation, warnings, summary }
}

const LONG = [
  GOOD,
  ...Array.from(
    { length: 400 },
    (_, at) => `- Step ${at} had its own command and number ${at * 7}.`,
  ),
].join('\n')
const none = async () => {
  throw new Error('none left')
}
const MODEL = ['compacted', 'requested', 'model']
const DIGEST = ['compacted', 'requested', 'digest']
const COVERED = '39 messages went into a handoff, 2 stay word for word.'
const unusable = (fault: string) =>
  `The writer answered with a text that is no summary (${fault}); the digest takes its place.`

it.each<[string, readonly (SummaryReply | Error)[], readonly string[], string]>([
  ['a good one', [reply(GOOD)], ['to 182'], GOOD],
  ['a good one after a bad one', [reply('Ok.'), reply(GOOD)], ['to 182', 'to 182'], GOOD],
  [
    'another way that the writer knows',
    [reply('Ok.', { next: async (fault) => reply(`${GOOD}\n- ${fault}`) })],
    ...([['to 182'], `${GOOD}\n- too-short`] as const),
  ],
  ['one in another language, twice', [reply(GERMAN)], ['to 182', 'to 182'], GERMAN],
  [
    'one in another language, and a bad one',
    [reply(GERMAN), reply('Ok.')],
    ['to 182', 'to 182'],
    GERMAN,
  ],
  [
    'one in another language, and a good one',
    [reply(GERMAN), reply(GOOD)],
    ['to 182', 'to 182'],
    GOOD,
  ],
  [
    'one in another language, and no other way',
    [reply(GERMAN, { next: none })],
    ['to 182'],
    GERMAN,
  ],
  [
    'one too long, and a shorter one',
    [reply(LONG), reply(GOOD)],
    ['to 182', 'shorten, to 205'],
    GOOD,
  ],
  [
    'one after its model could not read so much',
    [new WriterOverflowError(4_000), reply(GOOD)],
    ...([['to 182', 'piece 1 of 1, to 182', 'to 182'], GOOD] as const),
  ],
])('the summary is %s', async (_, answers, asked, summary) => {
  expect(await run(answers)).toEqual({
    ...{ asked, end: MODEL, explanation: COVERED, warnings: [], summary },
  })
})

it('an answer that is no summary gives way to the digest, with a warning', async () => {
  for (const [answers, asked, fault] of [
    [[reply('Ok.')], ['to 182', 'to 182'], 'too-short'],
    [[reply('')], ['to 182', 'to 182'], 'too-short'],
    [[new SummaryFailedError('unusable:refusal')], ['to 182'], 'refusal'],
  ] as const) {
    const found = await run(answers)
    expect(found).toEqual({
      ...{ asked, end: DIGEST, explanation: COVERED, warnings: [unusable(fault)] },
      summary: expect.stringMatching(/^## Progress and decisions\n- #28 The step 13 of the work/),
    })
  }
})

it('an answer that is cut off, and a writer that fails, change nothing', async () => {
  const cut = 'The result was refused and nothing changed: the summary ended with "length".'
  const failed = (why: string) => `The summary could not be written: ${why}`
  for (const [answer, reason, explanation] of [
    [reply(GOOD, { finish: 'length' }), 'incomplete-summary', cut],
    [reply('Ok.', { finish: 'length' }), 'incomplete-summary', cut],
    [new Error('no key'), 'summary-failed', failed('no key.')],
    [new Error('No key.'), 'summary-failed', failed('No key.')],
    [
      ...[new SummaryFailedError('no-model'), 'summary-failed'],
      failed('No model wrote the summary (no-model).'),
    ],
    [reply('Ok.', { next: none }), 'summary-failed', failed('none left.')],
  ] as [SummaryReply | Error, string, string][]) {
    expect(await run([answer])).toEqual({
      ...{
        asked: ['to 182'],
        end: ['refused', reason, '-'],
        explanation,
        warnings: [],
        summary: '',
      },
    })
  }
})

it('a summary that stays too long is cut, with a warning', async () => {
  const { asked, end, warnings, summary } = await run([reply(LONG)])
  expect([asked, end]).toEqual([['to 182', 'shorten, to 205'], MODEL])
  expect(warnings).toEqual([
    'The summary was still too long after one request to shorten it, so it was cut between its points.',
  ])
  expect(summary).toMatch(
    /\n\[Cut: this summary was too long\. The full text is in messages 1 to 39 of the transcript; search it with recall\.\]$/,
  )
})

it('the writer is told what to attend to, also when it shortens', async () => {
  const { asked } = await run([reply(LONG), reply(GOOD)], { focus: 'the colour of the sea' })
  expect(asked).toEqual(['about the sea, to 182', 'shorten, about the sea, to 205'])
})

it('secrets in an answer are masked', async () => {
  const { summary } = await run([
    reply(`${GOOD}\n- The key is sk-ant-api03-${'a1B2c3D4'.repeat(10)}.`),
  ])
  expect(summary).toBe(`${GOOD}\n- The key is [secret:anthropic].`)
})

it('errors of a writer name their reason', () => {
  const overflow = new WriterOverflowError(9)
  expect([overflow.name, overflow.code, overflow.retryable, overflow.limitTokens]).toEqual([
    ...['WriterOverflowError', 'writer-overflow', false, 9],
  ])
  expect(overflow.message).toBe(
    'The model that writes summaries takes less than it was asked to read.',
  )
  const failed = new SummaryFailedError('unusable:refusal')
  expect([failed.name, failed.code, failed.retryable, failed.reason, failed.fault]).toEqual([
    ...['SummaryFailedError', 'summary-failed', true, 'unusable:refusal', 'refusal'],
  ])
  expect(new SummaryFailedError('no-model').fault).toBeUndefined()
})
