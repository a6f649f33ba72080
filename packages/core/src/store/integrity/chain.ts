import type { SessionId } from '../../base/ids.ts'
import type { AuditRow, Entry, EntryHead, SessionRow } from '../tables/rows.ts'
import { canonicalJson, sha256 } from './canonical.ts'

/**
 * The hash chain that reveals changes to history. An entry's hash covers its head, its body's hash
 * and its predecessor's hash. The body is hashed with its own salt, so that after both are erased
 * the chain still checks and the body cannot be guessed from its hash.
 */
export function firstHash(sessionId: SessionId): string {
  return sha256(`throughline session ${sessionId}`)
}

/** The salt has a fixed length, so no other split into salt and body has the same hash. */
export function hashBody(salt: string, body: string): string {
  return sha256(`${salt}${body}`)
}

/** A commit derives its salts from one random seed, which is not stored. */
export function saltFor(seed: string, number: number): string {
  return sha256(`${seed} ${number}`).slice(0, 32)
}

export function hashEntry(prevHash: string, head: EntryHead, bodyHash: string): string {
  const { number, kind, operation, fence, at, tokens, meta } = head
  return sha256(
    canonicalJson([prevHash, number, kind, operation, fence, at, tokens, meta, bodyHash]),
  )
}

export type Titled = Pick<SessionRow, 'title' | 'titleSalt'>

/** Salted, because the audit row outlives the title. Null: no title. */
export function hashTitle({ title, titleSalt }: Titled): string | null {
  return title === null ? null : hashBody(titleSalt ?? '', title)
}

export type EntryDamage = 'body' | 'head' | 'order'

export const ENTRY_DAMAGE: Readonly<Record<EntryDamage, string>> = {
  body: 'has a body that does not match its hash',
  head: 'does not match its own hash',
  order: 'does not follow its predecessor',
}

/** What is wrong with an entry, given its predecessor's hash; undefined if nothing is. */
export function checkEntry(prevHash: string, entry: Entry): EntryDamage | undefined {
  if (entry.prevHash !== prevHash) return 'order'
  if (hashEntry(entry.prevHash, entry, entry.bodyHash) !== entry.hash) return 'head'
  if (entry.body === null && entry.salt === null) return undefined
  if (entry.body === null || entry.salt === null) return 'body'
  return hashBody(entry.salt, entry.body) === entry.bodyHash ? undefined : 'body'
}

/** Audit rows form one chain over the whole store; the anchor file names a position in it. */
export function hashAudit(prevHash: string, row: Omit<AuditRow, 'hash'>): string {
  const { cursor, at, sessionId, kind, operation, phase, facts } = row
  return sha256(canonicalJson([prevHash, cursor, at, sessionId, kind, operation, phase, facts]))
}
