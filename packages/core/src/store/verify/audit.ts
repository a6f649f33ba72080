import type { SessionId } from '../../base/ids.ts'
import { sha256 } from '../integrity/canonical.ts'
import { hashAudit, hashTitle } from '../integrity/chain.ts'
import type { StoreFinding } from '../queries.ts'
import type { AuditRow, SessionRow } from '../tables/rows.ts'
import { isDeletionRecorded, NO_DELETION } from './erasures.ts'

/** The columns of a session's row that the audit also records. */
export type Counted = Identified & Pick<SessionRow, 'birth' | 'state' | 'tail' | 'mail' | 'fence'>

/** The columns that identify a session and its owner. */
export type Identified = Pick<
  SessionRow,
  'id' | 'agent' | 'scope' | 'createdAt' | 'title' | 'titleSalt'
>

interface Told {
  isBorn: boolean
  agent: string | null
  /** Null: an earlier version did not record it. */
  scope: string | null
  createdAt: number | null
  entry: number
  mail: number
  fence: number
  /** Undefined: an earlier version set the title without recording its hash. */
  titleHash: string | null | undefined
  /** Entries were erased after it was set, possibly the title too. */
  mayLackTitle: boolean
  creation: AuditRow | undefined
  deletion: AuditRow | undefined
}

const NOTHING_TOLD: Told = {
  isBorn: false,
  agent: null,
  scope: null,
  createdAt: null,
  entry: 0,
  mail: 0,
  fence: 0,
  titleHash: null,
  mayLackTitle: false,
  creation: undefined,
  deletion: undefined,
}

/**
 * Checks the audit's chain and compares it with the sessions. A chain truncated at its end is
 * consistent in itself, but then sessions are ahead of it. A session row that was removed or
 * restored from an old state is behind it.
 */
export class AuditCheck {
  readonly #findings: StoreFinding[] = []
  readonly #told = new Map<SessionId, Told>()
  #cursor = 0
  /** Null after an unreadable row, because the next row's predecessor hash is then unknown. */
  #hash: string | null
  #isWhole = true

  constructor(storeId: string) {
    this.#hash = sha256(storeId)
  }

  /** `row` is null if it is too damaged to read. */
  add(cursor: number, row: AuditRow | null): void {
    const expected = this.#cursor + 1
    if (cursor !== expected) this.#miss(expected, cursor - 1, '')
    else if (row === null) {
      this.#isWhole = false
      this.#find(`audit row ${cursor} cannot be read`)
    } else if (this.#hash !== null && hashAudit(this.#hash, row) !== row.hash) {
      this.#find(`audit row ${cursor} does not match its hash`)
    }
    this.#cursor = cursor
    this.#hash = row?.hash ?? null
    if (row !== null) this.#hear(row)
  }

  /** A stored row that is not in the chain yet. */
  addUnlinked(row: AuditRow): void {
    this.#hear(row)
  }

  #hear(row: AuditRow): void {
    const told = this.#told.get(row.sessionId) ?? { ...NOTHING_TOLD }
    this.#told.set(row.sessionId, told)
    hear(told, row)
  }

  /** Compares the end of the chain with the store row. */
  endAt({ commits, hash }: { readonly commits: number; readonly hash: string }): void {
    if (this.#cursor < commits) this.#miss(this.#cursor + 1, commits, ' at the end')
    else if (this.#cursor > commits) {
      this.#find(`audit row ${commits + 1} stands behind the last one that the store knows`)
    } else if (this.#hash !== null && this.#hash !== hash) {
      this.#find(`audit row ${commits} has another hash than the store knows for its last one`)
    }
  }

  /** Compares with all sessions; with `only`, returns the findings about that one. */
  end(sessions: Iterable<Counted>, only?: SessionId): readonly StoreFinding[] {
    for (const session of sessions) {
      const told = this.#told.get(session.id)
      this.#told.delete(session.id)
      if (only === undefined || only === session.id) this.#compare(session, told)
    }
    for (const sessionId of this.#told.keys()) {
      if (only !== undefined && only !== sessionId) continue
      this.#find('session row is missing, but the audit mentions it', sessionId)
    }
    return this.#findings
  }

  #compare(session: Counted, told: Told | undefined): void {
    const { id, birth, tail } = session
    if (told?.isBorn !== true) {
      if (this.#isWhole) this.#find('session is there, and its birth is not in the audit', id)
      return
    }
    for (const problem of judgeIdentity(session, told, this.#isWhole)) {
      this.#find(`session row ${problem}`, id)
    }
    if (session.state === 'open' && told.deletion !== undefined) {
      this.#find('session row says state open, but the audit has its deletion', id)
    } else if (this.#isWhole && !isDeletionRecorded(session.state, told.deletion, told.creation)) {
      this.#findings.push(stateFinding(session))
    }
    if (told.entry > tail) {
      this.#find(`session row says tail ${tail}, the audit says entry ${told.entry}`, id)
    }
    for (const name of ['mail', 'fence'] as const) {
      // The history of an imported session is not in this audit, nor are rows lost in a gap.
      const mayKnowMore = birth === 'imported' || !this.#isWhole
      const isTold = mayKnowMore ? told[name] <= session[name] : told[name] === session[name]
      if (isTold) continue
      this.#find(`session row says ${name} ${session[name]}, the audit says ${told[name]}`, id)
    }
  }

  #miss(from: number, to: number, where: string): void {
    this.#isWhole = false
    this.#find(
      from === to
        ? `audit row ${from} is missing${where}`
        : `audit rows ${from} to ${to} are missing${where}`,
    )
  }

  #find(problem: string, sessionId: SessionId | null = null): void {
    this.#findings.push({ sessionId, entry: null, problem })
  }
}

function titleHashIn({ titleHash }: AuditRow['facts']): Told['titleHash'] {
  return typeof titleHash === 'string' || titleHash === null ? titleHash : undefined
}

/** The differences between a session's columns and the audit. */
export class IdentityCheck {
  readonly #told: Told = { ...NOTHING_TOLD }

  add(row: AuditRow): void {
    hear(this.#told, row)
  }

  end(session: Identified): readonly string[] {
    return judgeIdentity(session, this.#told, true)
  }
}

function judgeIdentity(session: Identified, told: Told, isWhole: boolean): readonly string[] {
  const { agent, scope, createdAt } = told
  const problems: string[] = []
  if (agent !== null && agent !== session.agent) {
    problems.push('names another agent than the one it was created with')
  }
  if (scope !== null && scope !== session.scope) {
    problems.push('names another scope than the one it was created in')
  }
  if (createdAt !== null && createdAt !== session.createdAt) {
    problems.push('has another creation time than the audit')
  }
  if (isWhole && !hasToldTitle(session, told)) {
    problems.push('has another title than the audit')
  }
  return problems
}

function hasToldTitle(session: Identified, { titleHash, mayLackTitle }: Told): boolean {
  if (titleHash === undefined || (session.title === null && mayLackTitle)) return true
  return hashTitle(session) === titleHash
}

function countOf(value: unknown): number {
  return numberIn(value) ?? 0
}

function numberIn(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** A session that its row calls erasing or gone, although nothing deleted it. */
export function stateFinding({ id, state }: Pick<SessionRow, 'id' | 'state'>): StoreFinding {
  const problem = `session row says state ${state}, ${NO_DELETION}`
  return { sessionId: id, entry: null, problem }
}

function hear(told: Told, row: AuditRow): void {
  const { kind, at, facts } = row
  told.entry = Math.max(told.entry, countOf(facts['entry']))
  switch (kind) {
    case 'session created':
      told.isBorn = true
      told.creation = row
      told.agent = textIn(facts['agent'])
      told.scope = textIn(facts['scope'])
      // An imported session is older than its row here.
      told.createdAt = facts['birth'] === 'imported' ? numberIn(facts['createdAt']) : at
      if (facts['birth'] === 'imported') told.titleHash = titleHashIn(facts)
      break
    case 'settings changed':
      if (facts['what'] !== 'title') break
      told.titleHash = titleHashIn(facts)
      told.mayLackTitle = false
      break
    case 'entries erased':
      told.mayLackTitle = true
      break
    case 'message admitted':
      told.mail = Math.max(told.mail, countOf(facts['mail']))
      break
    case 'message delivered':
    case 'entries adopted':
      told.entry = Math.max(told.entry, countOf(facts['to']))
      break
    case 'lease acquired':
    case 'session deleted':
      if (kind === 'session deleted') {
        told.mayLackTitle = true
        told.deletion = row
      }
      told.fence = Math.max(told.fence, countOf(facts['fence']))
      break
    default:
      break
  }
}
