import { isObject, type JsonValue } from '#core/base/json'
import type { Logger } from '#core/base/logger'
import type { Edge } from '../../runtime/runtime.ts'
import type { ReplyPresenter } from './reply-presenter.ts'

/** Sends the complete replies of a platform's sessions from the outbox to their chats. */
export function outboxEdge(parts: {
  readonly name: string
  readonly presenter: ReplyPresenter
  readonly problems: () => readonly string[]
  readonly logger: Logger
}): Edge {
  return {
    name: parts.name,
    problems: parts.problems,
    async send({ sessionId, key, address, body }) {
      // An erased reply has no text; its preview is removed too.
      const text = textIn(body)
      const result = await parts.presenter.show({ sessionId, key, address, text, isFinal: true })
      if (result.kind === 'presented') return { kind: 'sent', receipt: result.receipt }
      const { why: reason, ...failure } = result
      if (failure.isFinal) {
        parts.logger.warn({ sessionId, address, reason }, 'reply will never be taken')
      }
      return failure
    },
  }
}

function textIn(body: string | null): string {
  const value = body === null ? null : (JSON.parse(body) as JsonValue)
  const text = isObject(value) ? value['text'] : value
  return typeof text === 'string' ? text : ''
}
