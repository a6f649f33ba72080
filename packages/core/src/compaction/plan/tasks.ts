import { isObject, type JsonValue } from '../../base/json.ts'
import type { Task } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'

/**
 * The open task list, read from the conversation: agents call a tool with the whole list each time,
 * under many names but in one shape, so the list is recognized by its shape. The newest list
 * counts, unless the tool refused it; finished tasks are left out.
 */
export function findTasks(messages: readonly Message[]): readonly Task[] | undefined {
  // Ids may recur, so each call takes the result that follows it.
  const refused = new Set<string>()
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role === 'tool') {
      for (const { callId, isError } of message.parts) if (isError) refused.add(callId)
    }
    if (message?.role !== 'assistant') continue
    for (const part of message.parts.toReversed()) {
      if (part.type !== 'tool-call' || refused.delete(part.id)) continue
      const tasks = readTasks(part.input)
      if (tasks !== undefined) return tasks
    }
  }
  return undefined
}

const TEXT_KEYS = ['content', 'step', 'text', 'title', 'task', 'subject', 'description', 'name']
const DONE = new Set(['completed', 'complete', 'done', 'cancelled', 'canceled', 'deleted'])
const RUNNING = new Set(['in_progress', 'in-progress', 'running', 'active', 'doing'])

function readTasks(input: JsonValue): Task[] | undefined {
  if (!isObject(input)) return undefined
  for (const value of Object.values(input)) {
    if (!Array.isArray(value) || value.length === 0) continue
    const tasks = value.map(readTask)
    if (tasks.every((task) => task !== undefined)) return tasks.filter((task) => task !== 'done')
  }
  return undefined
}

function readTask(value: JsonValue): Task | 'done' | undefined {
  if (!isObject(value)) return undefined
  const status = value['status'] ?? value['state']
  const text = TEXT_KEYS.map((key) => value[key]).find((found) => typeof found === 'string')
  if (typeof status !== 'string' || typeof text !== 'string') return undefined
  if (DONE.has(status.toLowerCase())) return 'done'
  return { text, status: RUNNING.has(status.toLowerCase()) ? 'running' : 'pending' }
}
