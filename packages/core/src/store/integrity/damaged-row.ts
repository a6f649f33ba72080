import type { SessionId } from '../../base/ids.ts'
import { isObject, type JsonValue } from '../../base/json.ts'
import { DamagedRowError } from '../errors.ts'
import { isCount } from '../measure.ts'
import type { SessionRow } from '../tables/rows.ts'
import type { Values } from '../tables/table.ts'

/**
 * Checks rows as read from disk. A flipped byte can leave a column unreadable or impossible. Every
 * verb starts from the session row, so that row is checked on each read: a wrong count would be
 * written back, and too large a tail would reach into other sessions' entries.
 */
export function parseColumn(text: unknown, column: string, row: () => string): unknown {
  try {
    return JSON.parse(text as string)
  } catch {
    throw new DamagedRowError({ row: row(), column, problem: 'holds no JSON' })
  }
}

/** The body of an entry or a mail item; null if it has none or was erased. */
export function parseBody(
  what: 'entry' | 'mail',
  { number, body }: { readonly number: number; readonly body: string | null },
): JsonValue {
  return body === null ? null : (parseColumn(body, 'body', () => `${what} ${number}`) as JsonValue)
}

/** Null for a damaged row. Other errors are thrown: a shorter list must not hide them. */
export function unlessDamaged<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof DamagedRowError) return null
    throw error
  }
}

/** For checks: a row that cannot be read, for any reason, is one finding and stops nothing else. */
export function orUnreadable<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** The highest number of an entry or mail item. */
const NUMBER_MAX = 2 ** 31 - 1

const NUMBERS = [
  'tail',
  'base',
  'seen',
  'effective',
  'covers',
  'mail',
  'settings',
  'tasks',
  'forkedAt',
  'retained',
] as const
const INPUT_LANES = ['user', 'notification'] as const
const LIMITS = [
  'hardTokens',
  'pinTokens',
  'handoffTokens',
  'inputTokens',
  'stepTokens',
  'outputTokens',
  'laneMailMax',
  'sourceMailMax',
] as const satisfies readonly (keyof SessionRow['limits'])[]

/** Returns the row if every count in it is possible. */
export function checkSession(session: SessionRow): SessionRow {
  for (const name of NUMBERS) {
    const found = session[name]
    if (!isCount(found) || found > NUMBER_MAX) {
      throw damagedSession(session, name, `holds ${found}, which is no number of an entry or mail`)
    }
  }
  if (!Array.isArray(session.openCalls)) throw shapeless(session, 'open_calls')
  if (!hasCounts(session.delivered, INPUT_LANES)) throw shapeless(session, 'delivered')
  if (!hasCounts(session.settled, INPUT_LANES)) throw shapeless(session, 'settled')
  if (!hasCounts(session.pending, ['control', ...INPUT_LANES])) throw shapeless(session, 'pending')
  if (!hasCounts(session.limits, LIMITS)) throw shapeless(session, 'limits')
  if (typeof session.scope !== 'string') throw shapeless(session, 'scope')
  if (!Array.isArray(session.owed)) throw shapeless(session, 'owed')
  if (!isObject(session.pins)) throw shapeless(session, 'pins')
  return session
}

function hasCounts(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'number')
}

function shapeless(session: SessionRow, column: string): DamagedRowError {
  return damagedSession(session, column, 'holds something else than it should')
}

function damagedSession({ id }: SessionRow, column: string, problem: string): DamagedRowError {
  return damagedColumn(id, column, problem)
}

export function damagedColumn(id: SessionId, column: string, problem: string): DamagedRowError {
  return new DamagedRowError({ row: `session ${id}`, sessionId: id, column, problem })
}

export function damagedEntry(id: SessionId, number: number, problem: string): DamagedRowError {
  return new DamagedRowError({ row: `entry ${number} of session ${id}`, sessionId: id, problem })
}

export function damagedMail(id: SessionId, number: number, problem: string): DamagedRowError {
  return new DamagedRowError({ row: `mail ${number} of session ${id}`, sessionId: id, problem })
}

/** A route leads words to a session, so a changed one is not followed. The address names a person. */
export function damagedRoute({
  agent,
  channel,
}: {
  agent: string
  channel: string
}): DamagedRowError {
  const row = `a route of agent ${agent} on channel ${channel}`
  return new DamagedRowError({ row, problem: NOT_AS_WRITTEN })
}

export const NOT_AS_WRITTEN = 'is not as it was written'

/** The errors for rows whose seal does not match. Sources and keys may name people. */
export const CHANGED = {
  session: ({ id }) => changed(`session ${id}`, id),
  mail: ({ sessionId, number }) => changed(`mail ${number} of session ${sessionId}`, sessionId),
  operation: ({ sessionId, id }) => changed(`operation ${id} of session ${sessionId}`, sessionId),
  blob: ({ sessionId, hash }) => changed(`blob ${hash} of session ${sessionId}`, sessionId),
  sender: ({ sessionId }) => changed(`a sender to session ${sessionId}`, sessionId),
  // The session that it names may be what was changed.
  intake: ({ number }) => changed(`the known key of mail ${number}`),
} satisfies Record<string, (values: Values) => DamagedRowError>

function changed(row: string, sessionId?: unknown): DamagedRowError {
  const of = sessionId === undefined ? {} : { sessionId: String(sessionId) }
  return new DamagedRowError({ row, ...of, problem: NOT_AS_WRITTEN })
}
