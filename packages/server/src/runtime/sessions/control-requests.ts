import { randomUUID } from 'node:crypto'
import { KnownError } from '#core/base/errors'
import type { MailNumber, SessionId } from '#core/base/ids'
import type { JsonObject, JsonValue } from '#core/base/json'
import { mailBody } from '#core/session/protocol/state'
import { ERASE_MAX, LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import type { MailItem } from '#core/store/queries'

/**
 * Only the holder of a session writes to it. Others request an erasure, and must learn if the
 * request was not admitted.
 */
export class ControlNotAdmittedError extends KnownError {
  override readonly name = 'ControlNotAdmittedError'
  readonly code = 'purge-not-asked'
  readonly retryable = true

  constructor(sessionId: SessionId, why: string) {
    super(`The mailbox of session ${sessionId} did not take the request (${why}); ask again later.`)
  }
}

/** Sends a request to the current or next holder of a session. Null: there is no such session. */
export async function ask(
  store: Store,
  sessionId: SessionId,
  mail: { readonly control: string; readonly body: JsonObject; readonly tokens: number },
): Promise<MailNumber | null> {
  const request = { source: 'purge', key: randomUUID(), lane: 'control', ...mail } as const
  const outcome = await store.admit({ to: { sessionId }, ...request })
  if (outcome.kind === 'gone' || outcome.kind === 'unknown') return null
  if (outcome.kind !== 'admitted') throw new ControlNotAdmittedError(sessionId, outcome.kind)
  return outcome.mail
}

/** Requests each entry once: an erasure that is already pending is not requested again. */
export async function askToErase(
  store: Store,
  sessionId: SessionId,
  numbers: readonly number[],
  reason: string,
): Promise<void> {
  if (numbers.length === 0) return
  const asked = new Set((await readControls(store, sessionId)).flatMap(({ erases }) => erases))
  const entries = numbers.filter((number) => !asked.has(number))
  for (let from = 0; from < entries.length; from += ERASE_MAX) {
    const body = { entries: entries.slice(from, from + ERASE_MAX), reason }
    await ask(store, sessionId, { control: 'erase', body, tokens: 0 })
  }
}

/** A pending control item: the pin that it sets, and the entries that it erases. */
export interface WaitingControl {
  readonly mail: MailNumber
  readonly pin: { readonly name: string; readonly text: string } | null
  readonly erases: readonly JsonValue[]
}

export async function readControls(
  store: Store,
  sessionId: SessionId,
): Promise<readonly WaitingControl[]> {
  const query = { sessionId, lane: 'control', state: 'pending', limit: LIST_MAX } as const
  return (await store.listMail(query)).map(controlOf)
}

function controlOf(item: MailItem): WaitingControl {
  const { control } = item
  const { name, text, entries } = mailBody(item)
  const isPin = control === 'pin' && typeof name === 'string' && typeof text === 'string'
  const erases = control === 'erase' && Array.isArray(entries) ? entries : []
  return { mail: item.number, pin: isPin ? { name, text } : null, erases }
}
