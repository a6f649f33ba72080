import type { SessionId } from '../../base/ids.ts'
import type { DamagedRowError } from '../errors.ts'
import { hashEntry } from '../integrity/chain.ts'
import { damagedColumn } from '../integrity/damaged-row.ts'
import { type ForkRow, keeperOf, lineOf } from '../lineage.ts'
import type { AuditRow, Entry, SessionRow } from '../tables/rows.ts'

/**
 * Whether the store records the erasures that its rows show. A session that is being erased or gone,
 * and an entry without text, look the same after an erasure and after damage, so each needs a record
 * that a hash chain protects: a line of the audit or an erasure entry. Without it nothing is erased,
 * and the rows are reported as damaged.
 */
type AuditLine = Pick<AuditRow, 'kind' | 'facts'>

/** `deletion`: the newest line about the session's deletion; `creation`: its first line. */
export function isDeletionRecorded(
  state: SessionRow['state'],
  deletion: AuditLine | undefined,
  creation: AuditLine | undefined,
): boolean {
  if (state === 'open') return true
  if (deletion !== undefined) return state === 'erasing' || deletion.facts['state'] === 'gone'
  return state === 'gone' && importedState(creation) !== 'open'
}

/** Undefined: an import of an earlier version, which recorded neither state nor erased entries. */
function importedState(creation: AuditLine | undefined): unknown {
  return isImport(creation) ? creation.facts['state'] : 'open'
}

function isImport(creation: AuditLine | undefined): creation is AuditLine {
  return creation?.kind === 'session created' && creation.facts['birth'] === 'imported'
}

export function notDeleted({ id, state }: Pick<SessionRow, 'id' | 'state'>): DamagedRowError {
  return damagedColumn(id, 'state', `is ${state}, ${NO_DELETION}`)
}

export const NO_DELETION = 'but the audit has no deletion'
export const NO_ERASURE = 'has lost its text, and no erasure of it is recorded'

/** An entry without text, and the session that stores it. */
export interface EmptiedEntry {
  readonly keeper: SessionId
  readonly number: number
}

/**
 * The recorded erasures of sessions with one root. The session that erased an entry recorded it in
 * its own transcript, and so did each open fork that read the entry.
 */
export class ErasureRecord {
  readonly #sessions: ReadonlyMap<SessionId, ForkRow>
  readonly #named = new Map<SessionId, Set<number>>()
  readonly #believed = new Set<SessionId>()

  constructor(sessions: readonly ForkRow[]) {
    this.#sessions = new Map(sessions.map((row) => [row.id, row]))
  }

  /** An entry that was changed records nothing. */
  addEntry(sessionId: SessionId, entry: Entry): void {
    if (entry.kind !== 'erasure') return
    if (hashEntry(entry.prevHash, entry, entry.bodyHash) !== entry.hash) return
    this.#name(sessionId, entry.meta.entries)
  }

  addAudit(sessionId: SessionId, line: AuditLine): void {
    if (line.kind === 'entries erased') this.#name(sessionId, line.facts['entries'])
    if (!isImport(line)) return
    if (importedState(line) === undefined) this.#believed.add(sessionId)
    else this.#name(sessionId, line.facts['erased'])
  }

  #name(sessionId: SessionId, numbers: unknown): void {
    const named = this.#named.get(sessionId) ?? new Set()
    this.#named.set(sessionId, named)
    if (Array.isArray(numbers)) for (const number of numbers) named.add(number)
  }

  isMissing = ({ keeper, number }: EmptiedEntry): boolean => {
    if (this.#believed.has(keeper) || this.#named.get(keeper)?.has(number)) return false
    return ![...this.#named].some(([id, named]) => {
      const session = this.#sessions.get(id)
      if (session === undefined || !named.has(number)) return false
      const line = lineOf(session, (origin) => this.#sessions.get(origin))
      return keeperOf(line, number)?.id === keeper
    })
  }
}
