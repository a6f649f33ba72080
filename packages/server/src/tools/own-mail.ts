import { createHash } from 'node:crypto'
import type { SessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { AdmitOutcome } from '#core/store/commits'
import type { Commits } from '#core/store/contract'
import { ok, refuse } from './define-tool.ts'
import type { ToolAnswer, ToolCall } from './tool.ts'

/**
 * A change that a tool requests in its own session, under the call's key: a repetition changes
 * nothing.
 */
export async function admitControl(
  store: Pick<Commits, 'admit'>,
  call: Pick<ToolCall, 'sessionId' | 'agent' | 'key'>,
  mail: { readonly control: string; readonly body: JsonObject; readonly tokens: number },
): Promise<AdmitOutcome> {
  return await store.admit({
    to: { sessionId: call.sessionId },
    source: `tool:${call.agent}`,
    key: call.key,
    lane: 'control',
    ...mail,
  })
}

/** Confirms, or explains the refusal. */
export function answerTo(outcome: AdmitOutcome, done: string): ToolAnswer {
  switch (outcome.kind) {
    case 'admitted':
    case 'duplicate':
    // A repetition with the same key may find another state; the first request counts.
    case 'conflict':
      return ok(done)
    case 'full':
      return refuse(`The mailbox takes nothing now (${outcome.limit} wait). Try again later.`)
    case 'too-large':
      return refuse(`That has ${outcome.bytes} bytes; ${outcome.limit} are the limit.`)
    case 'blob-missing':
    case 'unknown':
      return refuse('There is no such session.')
    case 'gone':
      return refuse('That session was deleted.')
    default:
      return outcome satisfies never
  }
}

/** An id unique to one call and the same for every repetition of it. */
export function callScopedId(prefix: string, { key }: Pick<ToolCall, 'key'>): string {
  return `${prefix}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`
}

/** The body of a notification, as the session reads it. */
export function noticeBody(text: string, more: JsonObject = {}): JsonObject {
  return { ...more, message: { role: 'user', parts: [{ type: 'text', text }] } }
}

export interface Counting {
  /** As exact as the runtime can count; the session's limits use the same counter. */
  readonly countTokens: (sessionId: SessionId, text: string) => number
}
