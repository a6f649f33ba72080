import type { TaskList } from '../../server/src/runtime/runtime.ts'
import { call, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { useServerData } from '../data/reading.ts'
import { TaskItems } from '../parts/task-items.tsx'

/**
 * The task list that every compaction keeps. The agent maintains it with a tool; a person who wants a
 * change sends the agent a message.
 */
export function TasksPanel(props: {
  readonly conversation: Conversation
  readonly onChange: (text: string) => void
}) {
  const { conversation, onChange } = props
  const { id } = conversation
  const { value: list, problem } = useServerData(
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
        The agent's to-do list. Compaction keeps it unchanged. Only the agent edits it: to change
        it, send the agent a message. The button below drafts one for you.
      </p>
      {problem !== null && <p role="alert">{problem}</p>}
      {list !== null && tasks.length === 0 && <p>The list is empty.</p>}
      <TaskItems tasks={tasks} />
      <div class="verbs">
        <button type="button" onClick={change}>
          Ask for a change…
        </button>
      </div>
    </section>
  )
}
