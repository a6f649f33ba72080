import type { SessionId } from '#core/base/ids'
import type { JsonObject, JsonValue } from '#core/base/json'
import type { ResultPart } from '#core/message/message'
import { callKey } from '#core/session/step'

/**
 * Something an agent can do. A tool is called only for a call that is already in the transcript. It
 * answers with a value, even for a failure: an exception is a programmer's error.
 *
 * A tool never writes to a transcript. It admits changes in its own session (tasks, pins) or in
 * another (a message) as mail under the call's key, so that a repetition changes nothing.
 */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema, sent to the model unchanged; the input is checked against it before `run`. */
  readonly inputSchema: JsonObject
  /**
   * A foreign schema: its author checks the input, because checking it here could take any time.
   */
  readonly isForeign?: boolean
  /** Whether a call whose outcome is unknown may be made again under the same key. */
  readonly isRepeatable: boolean
  run(call: ToolCall, signal: AbortSignal): Promise<ToolAnswer>
}

export interface ToolCall {
  readonly sessionId: SessionId
  readonly agent: string
  readonly turn: number
  /** The entry that holds the call. */
  readonly entry: number
  /** The same for every repetition of this call. */
  readonly key: string
  readonly input: JsonValue
}

/** The id of the call in its entry, and of its result in a later one. */
export function callOf({
  sessionId,
  entry,
  key,
}: Pick<ToolCall, 'sessionId' | 'entry' | 'key'>): string {
  return key.slice(callKey(sessionId, entry, '').length)
}

export interface ToolAnswer {
  readonly outcome: 'ok' | 'error' | 'interrupted'
  readonly output: string | readonly ResultPart[]
}
