import type { TaskList } from '../../server/src/runtime/runtime.ts'
import { call, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { useReading } from '../data/reading.ts'
import { TaskItems } from '../parts/task-items.tsx'

/**
 * The list that every compaction carries. The agent keeps it with its own tool; whoever wants it
 * changed says so, like anything else, and it is for the agent to follow.
 */
export function TasksPanel(props: {
  readonly conversation: Conversation
  readonly onChange: (text: string) => void
}) {
  const { conversation, onChange } = props
  const { id } = conversation
  const { value: list, problem } = useReading(
    (signal) => call<TaskList>(sessionPath(id, '/tasks'), { signal }),
    [id, conversation.tail.value],
  )
  const tasks = list?.tasks ?? []
  const change = () => {
    const lines = tasks
      .filter(({ status }) => status === 'pending' || status === 'running')
      .map(({ text }) => `- ${text}`)
    onChange(`Change your task list to:\n${lines.join('\n')}\n- `)
  }
  return (
    <section class="panel" aria-label="Tasks">
      <p class="dim">
        What the agent has noted to do; a compaction carries it on as it stands. The list is the
        agent's own: a change is asked for in a message, which you see before it is sent, and the
        agent makes it.
      </p>
      {problem !== null && <p role="alert">{problem}</p>}
      {list !== null && tasks.length === 0 && <p>It has noted nothing.</p>}
      <TaskItems tasks={tasks} />
      <div class="verbs">
        <button type="button" onClick={change}>
          Ask for a change…
        </button>
      </div>
    </section>
  )
}
