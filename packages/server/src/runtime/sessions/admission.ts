import type { SessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import type { UserMessage, UserPart } from '#core/message/message'
import { stageParts } from '#core/session/blobs'
import type { AdmitOutcome } from '#core/store/commits'
import type { Store } from '#core/store/contract'
import type { Admission, NewMessage } from '../runtime.ts'

/** The parts needed to admit a message to a mailbox. */
export interface AdmissionDependencies {
  readonly store: Store
  readonly countMessage: (sessionId: SessionId, message: UserMessage) => number
  /** Makes the session show its agent's current notes. */
  readonly refreshMemory: (sessionId: SessionId) => Promise<void>
  /** The session has new mail; wake its runner. */
  readonly wake: (sessionId: SessionId) => void
}

export async function admitMessage(
  deps: AdmissionDependencies,
  sessionId: SessionId,
  request: NewMessage,
): Promise<Admission> {
  const { source, key, lane = 'user', replyTo } = request
  await deps.refreshMemory(sessionId)
  const staged = await stageParts(deps.store, sessionId, request.parts)
  if (staged.kind !== 'staged') return staged
  const message: UserMessage = { role: 'user', parts: staged.parts as readonly UserPart[] }
  const body = { message, ...(replyTo !== undefined && { replyTo }) } as unknown as JsonValue
  const outcome = await deps.store.admit({
    to: { sessionId },
    source,
    key,
    lane,
    body,
    // The size includes its images, which the body holds by reference.
    tokens: deps.countMessage(sessionId, { role: 'user', parts: request.parts }),
    blobs: staged.hashes,
  })
  return admissionOf(outcome, deps.wake)
}

/**
 * The message goes to exactly this session. An earlier message with the same key in another session
 * is not a repetition: if this one were acknowledged as such, it would be lost.
 */
export function conflictUnlessIn<Outcome extends Admission | AdmitOutcome>(
  id: SessionId,
  outcome: Outcome,
): Outcome | Extract<Admission, { kind: 'conflict' }> {
  if (outcome.kind !== 'duplicate' || outcome.sessionId === id) return outcome
  const { sessionId, mail } = outcome
  return { kind: 'conflict', sessionId, mail }
}

export function admissionOf(outcome: AdmitOutcome, wake: (id: SessionId) => void): Admission {
  switch (outcome.kind) {
    case 'admitted':
    case 'duplicate': {
      const { kind, sessionId, mail } = outcome
      wake(sessionId)
      return { kind, sessionId, mail }
    }
    case 'conflict':
      return { kind: 'conflict', sessionId: outcome.sessionId, mail: outcome.mail }
    case 'full':
      return { kind: 'full', limit: outcome.limit }
    case 'blob-missing':
      throw new Error('A blob that was staged just now is gone.')
    default:
      return outcome
  }
}
