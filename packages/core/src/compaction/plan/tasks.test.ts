import { describe, expect, it } from 'vitest'
import { toolCall, toolResult, user } from '../../../../../test/support/builders.ts'
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
})
