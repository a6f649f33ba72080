import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { Session } from '../../runtime/runtime.ts'
import { AnswerDisplay } from './answers.ts'

it('the terminal shows the warning that a compaction carries, and none without [S14]', async () => {
  const said: string[] = []
  const screen = { stream: () => {}, endAnswer: () => {}, say: (text: string) => said.push(text) }
  const answers = new AnswerDisplay({} as Session, screen)
  const stored = { type: 'stored', at: 0, sessionId: sessionId('s'), operationId: 'o' } as const
  for (const facts of [{}, { warning: 'Compacted 2 times.' }]) {
    await answers.show({ ...stored, cursor: 1, kind: 'compaction committed', facts })
  }
  expect(said.filter((text) => text.includes('2 times'))).toEqual(['(Compacted 2 times.)'])
})
