import type { SessionId } from '../../base/ids.ts'
import { isObject, type JsonValue } from '../../base/json.ts'
import { DamagedRowError } from '../errors.ts'
import { isCount } from '../measure.ts'
import type { SessionRow } from '../rows.ts'

/**
 * Rows as they come from a disk. A byte that changed may leave a column that says nothing, or
 * something impossible; every verb begins at the session's row, so that one is looked at each time
 * it is read: believed, a wrong count would be written back, and a tail that is too large would reach
 * into other sessions' entries.
 */
export function parseColumn(text: unknown, column: string, row: () => string): unknown {
  try {
    return JSON.parse(text as string)
  } catch {
    throw new DamagedRowError({ row: row(), column, problem: 'holds no JSON' })
  }
}

/** The text of an entry or a mail item; null: it has none, or it was erased. */
export function parseBody(
  what: 'entry' | 'mail',
  { number, body }: { readonly number: number; readonly body: string | null },
): JsonValue {
  return body === null ? null : (parseColumn(body, 'body', () => `${what} ${number}`) as JsonValue)
}

/** Null for a row that is damaged. Any other failure is the store's, and hides behind no short list. */
export function unlessDamaged<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof DamagedRowError) return null
    throw error
  }
}

/** For checks: whatever it is that keeps a row from being read is a finding, and ends nothing else. */
export function orUnreadable<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** Entries and mail are numbered up to this. */
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

/** The row itself, once everything that is counted on is there. */
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
