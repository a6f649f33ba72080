import type { SessionId } from '../../base/ids.ts'
import type { AuditRow, Entry, EntryHead, SessionRow } from '../rows.ts'
import { canonicalJson, sha256 } from './canonical.ts'

/**
 * The chain that makes history evident. An entry's hash covers its head, the hash of its body and
 * the hash of its predecessor; the body is hashed with a salt of its own, so that erasing body and
 * salt leaves a chain that still checks and a hash that cannot be guessed back.
 */
export function firstHash(sessionId: SessionId): string {
  return sha256(`throughline session ${sessionId}`)
}

/** The salt has a fixed length, so salt and body cannot be shifted against each other. */
export function hashBody(salt: string, body: string): string {
  return sha256(`${salt}${body}`)
}

/** Salts of one commit come from one random seed that is stored nowhere. */
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

/** The audit records it and outlives the title: hence the salt. Null: no title. */
export function hashTitle({ title, titleSalt }: Titled): string | null {
  return title === null ? null : hashBody(titleSalt ?? '', title)
}

export type EntryDamage = 'body' | 'head' | 'order'

export const ENTRY_DAMAGE: Readonly<Record<EntryDamage, string>> = {
  body: 'has a body that does not match its hash',
  head: 'does not match its own hash',
  order: 'does not follow its predecessor',
}

/** The fault of one entry, given its predecessor's hash; undefined: none. */
export function checkEntry(prevHash: string, entry: Entry): EntryDamage | undefined {
  if (entry.prevHash !== prevHash) return 'order'
  if (hashEntry(entry.prevHash, entry, entry.bodyHash) !== entry.hash) return 'head'
  if (entry.body === null || entry.salt === null) return undefined
  return hashBody(entry.salt, entry.body) === entry.bodyHash ? undefined : 'body'
}

/** Audit rows form one chain over the whole store; the anchor file remembers a place in it. */
export function hashAudit(prevHash: string, row: Omit<AuditRow, 'hash'>): string {
  const { cursor, at, sessionId, kind, operation, phase, facts } = row
  return sha256(canonicalJson([prevHash, cursor, at, sessionId, kind, operation, phase, facts]))
}
