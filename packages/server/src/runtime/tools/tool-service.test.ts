import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { open } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import { memoryTool } from '../../tools/memory/memory.ts'
import { noticeBody } from '../../tools/own-mail.ts'
import { processTool } from '../../tools/process/process.ts'
import { sendMessageTool } from '../../tools/send-message/send-message.ts'
import type { Tool } from '../../tools/tool.ts'

const one = sessionId('one')
const two = sessionId('two')

/** Two sessions of an agent with notes, and the notes that the first shows when it is woken. */
async function place() {
  const shown: string[] = []
  const { runtime, store, agent } = await open({
    agents: [],
    seams: {
      steps: () => ({
        run: async ({ sessionId: id, context }) => {
          if (id === one) shown.push(JSON.stringify(context))
          const message = { role: 'assistant', parts: [{ type: 'text', text: 'ok' }] } as const
          return { kind: 'replied', message, tokens: 5 }
        },
      }),
    },
  })
  let made: readonly Tool[] = []
  const program = { programs: [process.execPath], folder: tmpdir(), env: {} }
  const tools: NonNullable<typeof agent.tools> = (desk) => {
    made = [
      memoryTool({ ...desk, tokensMax: 500, isShared: true }),
      sendMessageTool({ ...desk, to: ['*'] }),
      processTool({ ...desk, ...program }),
    ]
    return made
  }
  runtime.reconfigure([{ ...agent, tools, sharesNotes: true }])
  for (const id of [one, two]) await runtime.createSession({ agent: 'main', id })
  const call = async (id: typeof one, name: string, input: JsonObject) => {
    const place = { sessionId: id, agent: 'main', turn: 1, entry: 1, key: `${id}-1-c` }
    const tool = made.find((each) => each.name === name)
    await tool?.run({ ...place, input }, new AbortController().signal)
  }
  await store.putNote({ agent: 'main', scope: '', id: 'n', text: 'QUARTZ', origin: null })
  return { store, call, shown }
}

describe('a session', () => {
  it.each([
    [
      'a reminder',
      ({ store }) => {
        const row = { id: 't-1', sessionId: one, dueAt: 1, repeat: null, tokens: 5 }
        return store.putSchedule({ ...row, body: noticeBody('look') })
      },
    ],
    [
      'a message from elsewhere',
      ({ call }) => call(two, 'send_message', { session: one, text: 'x' }),
    ],
    [
      'the end of a program',
      ({ call }) =>
        call(one, 'process', { action: 'start', program: process.execPath, args: ['-e', ''] }),
    ],
  ] satisfies [string, (at: Awaited<ReturnType<typeof place>>) => Promise<unknown>][])(
    'that is woken by %s is shown the notes of its agent as they are now',
    async (_, wake) => {
      const at = await place()
      await wake(at)
      await until(async () => at.shown.length > 0)
      expect(at.shown[0]).toContain('[n] QUARTZ')
    },
  )
})
