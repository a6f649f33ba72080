import { z } from 'zod'
import type { Commits } from '#core/store/contract'
import { defineTool } from './define-tool.ts'
import { admitControl, answerTo, type Counting } from './own-mail.ts'
import type { Tool } from './tool.ts'

const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const

const input = z.strictObject({
  tasks: z
    .array(z.strictObject({ content: z.string().min(1).max(500), status: z.enum(STATUSES) }))
    .min(1)
    .max(100)
    .describe('All tasks, the finished ones too. To empty the list, send its tasks as completed.'),
})

/**
 * The task list that a compaction keeps. It is read from the newest call, so each call has the
 * whole list.
 */
export function tasksTool({
  store,
  countTokens,
}: { store: Pick<Commits, 'admit'> } & Counting): Tool {
  return defineTool({
    name: 'tasks',
    description:
      'Keep the list of what is to be done. Send the whole list each time; it replaces the last one. ' +
      'It stays with you when the conversation is compacted.',
    input,
    isRepeatable: true,
    run: async (call) => {
      const { tasks } = call.input
      const body = { tasks: tasks.map(({ content, status }) => ({ content, status })) }
      const tokens = countTokens(call.sessionId, JSON.stringify(body))
      const isOpen = ({ status }: (typeof tasks)[number]) =>
        status === 'pending' || status === 'in_progress'
      const open = tasks.filter(isOpen).length
      return answerTo(
        await admitControl(store, call, { control: 'tasks', body, tokens }),
        `Kept: ${open} open, ${tasks.length - open} finished.`,
      )
    },
  })
}
