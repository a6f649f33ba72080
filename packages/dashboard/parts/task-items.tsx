import type { TaskList } from '../../server/src/runtime/runtime.ts'

const MARKS = { pending: '○', running: '◐', done: '●', cancelled: '×' } as const
const WORDS = {
  pending: 'to do',
  running: 'in progress',
  done: 'done',
  cancelled: 'cancelled',
} as const

export function TaskItems({ tasks }: { readonly tasks: TaskList['tasks'] }) {
  return (
    <ul class="plain">
      {tasks.map(({ text, status }) => (
        <li class={`task ${status}`}>
          <span class="task-mark" aria-hidden="true">
            {MARKS[status]}
          </span>{' '}
          <span class="task-text">{text}</span> <span class="dim">{WORDS[status]}</span>
        </li>
      ))}
    </ul>
  )
}
