import { isObject, type JsonValue } from '../../base/json.ts'
import type { Edge } from '../../runtime/runtime.ts'
import type { Showing } from './showing.ts'

/** The whole replies of a platform's sessions, from the outbox into their chats. */
export function outboxEdge(parts: {
  readonly name: string
  readonly showing: Showing
  readonly problems: () => readonly string[]
}): Edge {
  return {
    name: parts.name,
    problems: parts.problems,
    async send({ sessionId, key, address, body }) {
      const text = textIn(body)
      // Erased meanwhile: there is nothing left to say.
      if (text === '') return { kind: 'sent', receipt: '' }
      const shown = await parts.showing.show({ sessionId, key, address, text, isFinal: true })
      return shown.kind === 'shown' ? { kind: 'sent', receipt: shown.receipt } : shown
    },
  }
}

function textIn(body: string | null): string {
  const value = body === null ? null : (JSON.parse(body) as JsonValue)
  const text = isObject(value) ? value['text'] : value
  return typeof text === 'string' ? text : ''
}
