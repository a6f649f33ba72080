import { expect, it } from 'vitest'
import { assistant, user } from '../../../../../../test/support/builders.ts'
import type { Session } from '../../../runtime/runtime.ts'
import { noPaint } from '../../terminal/colours.ts'
import { recentLines } from './recent.ts'

it('says below the messages of a turn that it was stopped, and nothing below an answer', async () => {
  const ended = (end: string) => ({ kind: 'turn', meta: { turn: 1, ended: end }, message: null })
  const entries = [
    { kind: 'input', meta: {}, message: user('What is the word?') },
    { kind: 'assistant', meta: {}, message: assistant('BASALT.') },
    ended('answered'),
    { kind: 'input', meta: {}, message: user('Count to a million.') },
    { kind: 'assistant', meta: {}, message: assistant('One, two') },
    ended('stopped'),
  ]
  const session = {
    summary: async () => ({ title: 'Words', entries: entries.length }),
    transcript: async () => entries.map((entry) => ({ ...entry, at: Date.now() })),
  } as unknown as Session
  const style = { columns: 80, paint: noPaint, agent: 'main' }
  const [, ...lines] = await recentLines(session, style)
  expect(lines).toEqual([
    ...['', '> What is the word?', '', 'main', 'BASALT.'],
    ...['', '> Count to a million.', '', 'main', 'One, two'],
    '(The turn was stopped; there is no complete answer.)',
  ])
})
