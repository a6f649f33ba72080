import { describe, expect, it } from 'vitest'
import { toolCall, toolResult, user } from '../../../../../test/support/builders.ts'
import type { JsonValue } from '../../base/json.ts'
import type { ToolMessage } from '../../message/message.ts'
import { findTasks } from './tasks.ts'

describe('findTasks', () => {
  it('reads the newest list, whatever the tool is called [S11]', () => {
    const messages = [
      toolCall('a', { todos: [{ content: 'old', status: 'pending' }] }, 'TodoWrite'),
      toolResult('a', 'ok'),
      toolCall(
        'b',
        {
          plan: [
            { step: 'read', status: 'completed' },
            { step: 'write', status: 'in_progress' },
            { step: 'test', status: 'pending' },
          ],
        },
        'update_plan',
      ),
      toolResult('b', 'ok'),
    ]
    expect(findTasks(messages)).toEqual([
      { text: 'write', status: 'running' },
      { text: 'test', status: 'pending' },
    ])
  })

  it('passes over a list that the tool refused', () => {
    const list = (id: string, content: string) =>
      toolCall(id, { tasks: [{ content, status: 'pending' }] }, 'tasks')
    const refusal: ToolMessage = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', output: [], isError: true }],
    }
    expect(findTasks([list('a', 'refused'), refusal])).toBeUndefined()
    // The same id again, in another step.
    const messages = [list('a', 'kept'), toolResult('a', 'ok'), list('a', 'refused'), refusal]
    expect(findTasks(messages)).toEqual([{ text: 'kept', status: 'pending' }])
  })

  it('tells an empty list from no list', () => {
    const done = toolCall('a', { todos: [{ content: 'x', status: 'done' }] })
    expect(findTasks([done])).toEqual([])
    expect(findTasks([user('hi'), toolCall('b', { command: 'ls' })])).toBeUndefined()
  })

  it('takes no other list of objects for tasks', () => {
    expect(findTasks([toolCall('a', { edits: [{ old: 'a', new: 'b' }] })])).toBeUndefined()
    expect(findTasks([toolCall('a', { todos: ['x', null, 3] })])).toBeUndefined()
  })

  const list = (...items: JsonValue[]) => [toolCall('a', { todos: items })]

  it.each(['content', 'step', 'text', 'title', 'task', 'subject', 'description', 'name'])(
    'reads the words of a task from %s, and its status from either name',
    (key) => {
      const tasks = list({ [key]: 'paint', status: 'pending' }, { [key]: 'dry', state: 'doing' })
      expect(findTasks(tasks)).toEqual([
        { text: 'paint', status: 'pending' },
        { text: 'dry', status: 'running' },
      ])
    },
  )

  it.each([
    ...['completed', 'complete', 'done', 'cancelled', 'canceled', 'deleted', 'DONE'].map(
      (status) => [status, []] as const,
    ),
    ...['in_progress', 'in-progress', 'running', 'active', 'doing', 'In_Progress'].map(
      (status) => [status, [{ text: 'paint', status: 'running' }]] as const,
    ),
    ['todo', [{ text: 'paint', status: 'pending' }]] as const,
  ])('a task that is %s is %j', (status, expected) => {
    expect(findTasks(list({ content: 'paint', status }))).toEqual(expected)
  })

  it('takes the words from the first name that has some, and needs words and a status', () => {
    expect(findTasks(list({ name: 'b', content: 'a', status: 'todo' }))).toEqual([
      { text: 'a', status: 'pending' },
    ])
    expect(findTasks(list({ name: 'b', content: 7, status: 'todo' }))).toEqual([
      { text: 'b', status: 'pending' },
    ])
    expect(findTasks(list({ content: 'a' }))).toBeUndefined()
    expect(findTasks(list({ status: 'todo' }))).toBeUndefined()
    expect(findTasks(list({ content: 'a', status: 'todo' }, { content: 'b' }))).toBeUndefined()
    expect(findTasks(list())).toBeUndefined()
    expect(findTasks([toolCall('a', 'text')])).toBeUndefined()
  })

  it('reads the first list of a call, and the last call of a message', () => {
    const task = (content: string) => [{ content, status: 'todo' }]
    const both = toolCall('a', { edits: [{ old: 'x' }], todos: task('b'), more: task('c') })
    expect(findTasks([both])).toEqual([{ text: 'b', status: 'pending' }])
    const [first, second] = [
      toolCall('a', { todos: task('a') }),
      toolCall('b', { todos: task('b') }),
    ]
    const message = { ...first, parts: [...first.parts, ...second.parts] }
    expect(findTasks([message])).toEqual([{ text: 'b', status: 'pending' }])
    expect(findTasks([message, toolCall('c', { path: 'x' })])).toEqual([
      { text: 'b', status: 'pending' },
    ])
  })
})
