import type { AssistantMessage } from '#core/message/message'
import { uniqueNames } from '#core/message/pairing'
import type { FinishReason } from '../model/outcomes/outcome.ts'

/** What to do with a finished answer. */
export type AnswerVerdict =
  | { readonly kind: 'take'; readonly message: AssistantMessage }
  /** No text and no calls: only whitespace or reasoning. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'give-up'; readonly reason: string }

/**
 * A cut-off answer keeps its text with a note that it was cut, for the person and for the model,
 * which will read it again. Its calls are not run: a partial input may look complete.
 */
export function judgeAnswer(
  finish: FinishReason,
  reply: AssistantMessage | null,
  outputTokensMax: number,
): AnswerVerdict {
  switch (finish) {
    case 'length': {
      const limit = `its limit of ${outputTokensMax} tokens`
      return cutShort(reply, {
        note: `[The answer reached ${limit} and ends here.]`,
        reason: `The answer reached ${limit} before anything was said; raise outputTokensMax.`,
      })
    }
    case 'content-filter':
      return cutShort(reply, {
        note: "[The provider's content filter ended the answer here.]",
        reason: "The provider's content filter ended the answer before anything was said.",
      })
    case 'stop':
    case 'tool-calls':
    case 'other':
      return reply !== null && (hasWords(reply) || hasCalls(reply))
        ? { kind: 'take', message: withUniqueCalls(reply) }
        : { kind: 'empty' }
    default:
      return finish satisfies never
  }
}

function cutShort(
  reply: AssistantMessage | null,
  { note, reason }: { readonly note: string; readonly reason: string },
): AnswerVerdict {
  if (reply === null || !hasWords(reply)) return { kind: 'give-up', reason }
  const { parts } = withoutCalls(reply)
  const message = { ...reply, parts: [...parts, { type: 'text', text: note } as const] }
  return { kind: 'take', message }
}

/** Text, or anything else that a person is shown. */
function hasWords({ parts }: AssistantMessage): boolean {
  return parts.some((part) =>
    part.type === 'text' ? part.text.trim() !== '' : part.type === 'image' || part.type === 'file',
  )
}

function hasCalls({ parts }: AssistantMessage): boolean {
  return parts.some((part) => part.type === 'tool-call')
}

export function withoutCalls(message: AssistantMessage): AssistantMessage {
  return { ...message, parts: message.parts.filter((part) => part.type !== 'tool-call') }
}

const CALL_ID_MAX = 128

/** The store identifies a call by its id, but some servers give all calls the same id, or none. */
function withUniqueCalls(message: AssistantMessage): AssistantMessage {
  const uniqueName = uniqueNames(CALL_ID_MAX)
  const parts = message.parts.map((part) => {
    if (part.type !== 'tool-call') return part
    const id = uniqueName(part.id)
    return id === part.id ? part : { ...part, id }
  })
  return { ...message, parts }
}
