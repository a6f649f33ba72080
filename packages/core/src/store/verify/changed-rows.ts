import { NOT_AS_WRITTEN } from '../integrity/damaged-row.ts'
import type { StoreFinding } from '../queries.ts'

/** Tables whose rows carry a hash of themselves, and the columns of their keys. */
export const SEALED_KEYS = {
  route: ['agent', 'channel', 'address'],
  note: ['agent', 'scope', 'id'],
  schedule: ['id'],
  token: ['id'],
  runner: ['id'],
} as const

/** Checked only if the whole store is: these tables have a row for each answer and each message. */
export const MANY_SEALED_KEYS = { reply: ['session', 'number'], intake: ['key_hash'] } as const

const NAMES: Readonly<Record<string, string>> = { schedule: 'reminder', intake: 'known key' }

/**
 * Without the findings that only say that a session's row was changed, where another one says what
 * was changed in it.
 */
export function withoutRepeats(findings: readonly StoreFinding[]): readonly StoreFinding[] {
  const isOfRow = ({ problem }: StoreFinding) => problem.startsWith(`${CHANGED_SESSION} `)
  const vague = `${CHANGED_SESSION} ${NOT_AS_WRITTEN}`
  const told = new Set(
    findings
      .filter((each) => isOfRow(each) && each.problem !== vague)
      .map((each) => each.sessionId),
  )
  return findings.filter(({ sessionId, problem }) => problem !== vague || !told.has(sessionId))
}

/** What a finding calls a row of a session, or of what belongs to it. */
export const CHANGED_SESSION = 'session row'
export const changedOperation = (id: unknown) => `operation ${id}`
export const changedBlob = (hash: string) => `the row of blob ${hash}`
export const CHANGED_SENDER = 'the count of waiting messages of a sender'

export function changedRow(table: string, key: readonly unknown[]): StoreFinding {
  const problem = `${NAMES[table] ?? table} ${key.join(' ')} ${NOT_AS_WRITTEN}`
  return { sessionId: null, entry: null, problem }
}
