import { GrammyError } from 'grammy'
import type { Sent } from '../chat/platform.ts'

type Failed = Extract<Sent, { kind: 'failed' }>

/**
 * The meaning of Telegram's errors. An unknown error is treated as an outage: it is retried without
 * end, and the waiting reply shows it to the operator.
 */
export function readTelegramFailure(error: unknown): Failed {
  if (!(error instanceof GrammyError)) return failed('outage', 'Telegram cannot be reached.')
  const { error_code: code, description, parameters } = error
  const text = `Telegram refused with ${code}: ${description}`
  const seconds = parameters.retry_after
  if (seconds !== undefined) return { ...failed('rate', text), retryAfterMs: seconds * 1_000 }
  if (code === 429) return failed('rate', text)
  // Blocked by the person, removed from the group, no such chat: a retry cannot help.
  if (code === 403 || code === 400) return failed(isGone(description) ? 'gone' : 'final', text)
  return failed('outage', text)
}

function failed(why: Failed['why'], text: string): Failed {
  return { kind: 'failed', why, text }
}

// A group that becomes a supergroup leaves its old messages behind.
const GONE =
  /message to (?:edit|delete) not found|message can't be edited|MESSAGE_ID_INVALID|upgraded to a supergroup/i

function isGone(description: string): boolean {
  return GONE.test(description)
}

/** The group has become a supergroup, with this id. */
export function movedTo(error: unknown): number | undefined {
  return error instanceof GrammyError ? error.parameters.migrate_to_chat_id : undefined
}

/** The message already has this text. */
export function isUnchanged(error: unknown): boolean {
  return error instanceof GrammyError && /message is not modified/i.test(error.description)
}

/** Telegram refused the markup, not the chat, so plain text may be accepted. */
export function isAboutMarkup(error: unknown): boolean {
  if (!(error instanceof GrammyError) || error.error_code !== 400) return false
  return /parse entities|text is empty|too long|ENTITY|ENTITIES/i.test(error.description)
}

export function isConflict(error: unknown): boolean {
  return error instanceof GrammyError && error.error_code === 409
}

/** The token is wrong or was revoked. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof GrammyError && (error.error_code === 401 || error.error_code === 404)
}
