import { expect, it } from 'vitest'
import { mailNumber } from '#core/base/ids'
import { awaitReply } from './await-reply.ts'
import type { ChatSession } from './conversation.ts'

it('reports why an answer does not come once, and then each try that fails', async () => {
  const nextTries = [1, 1, 2]
  const said: string[] = []
  const over = new AbortController()
  const session: Pick<ChatSession, 'reply' | 'summary'> = {
    reply: (_, signal) =>
      new Promise((resolve) => signal?.addEventListener('abort', () => resolve(null))),
    summary: async () => {
      const nextTryAt = nextTries.shift()
      if (nextTryAt === undefined) over.abort()
      const wait = { text: 'The model is away.', nextTryAt: nextTryAt ?? 2 }
      return { state: 'waiting', wait } as unknown as Awaited<ReturnType<ChatSession['summary']>>
    },
  }
  await awaitReply(session, mailNumber(1), {
    signal: over.signal,
    onWait: (text) => said.push(text),
  })
  expect(said).toEqual(['The model is away. Trying again.', 'That failed, too. Trying again.'])
})
