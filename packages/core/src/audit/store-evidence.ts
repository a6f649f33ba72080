import type { SessionId } from '../base/ids.ts'
import type { Reads } from '../store/contract.ts'
import type { AuditRow, SessionRow } from '../store/tables/rows.ts'
import type { AuditLawName, Mark } from './laws/laws.ts'
import type { Prover, Vouching } from './laws/prover.ts'
import { RangeSet } from './laws/ranges.ts'
import type { SessionRecord } from './laws/session-record.ts'
import type { MailRange } from './log/line.ts'

/**
 * Compares the store's own audit rows, which are committed with the changes they report, with the
 * lines of the logs. Rows are read a page at a time.
 */
export type StoreEvidence = Pick<Reads, 'listSessions' | 'readAudit' | 'verify'>

const PAGE = 500

/** The store's rows about one session, in the order of its commits. */
class Account {
  birth: string | null = null
  readonly admitted = new RangeSet()
  readonly input = { user: new RangeSet(), notification: new RangeSet() }
  readonly delivered = new RangeSet()
  readonly withdrawn = new RangeSet()
  /** The newest entry in the context of any committed step. */
  seen = 0
  running: string | null = null
  /** Reports an end that is in no log, unless the next row explains it. */
  untold: (() => void) | null = null
}

/** The phases of one operation in the store's audit. */
interface Phases {
  started: boolean
  ended: boolean
}

export class EvidenceCheck implements Vouching {
  readonly #store: StoreEvidence
  readonly #prover: Prover
  readonly #accounts = new Map<string, Account>()
  readonly #phases = new Map<string, Phases>()

  constructor(store: StoreEvidence, prover: Prover) {
    this.#store = store
    this.#prover = prover
  }

  isBorn(sessionId: string): boolean {
    return (this.#accounts.get(sessionId)?.birth ?? null) !== null
  }

  withdrawnFrom(sessionId: string): Iterable<MailRange> {
    return this.#accounts.get(sessionId)?.withdrawn.ranges() ?? []
  }

  async run(onProgress: (rows: number) => void): Promise<void> {
    let after = 0
    for (;;) {
      const page = await this.#store.readAudit({ after, limit: PAGE })
      for (const row of page) this.#hear(row)
      after = page.at(-1)?.cursor ?? after
      onProgress(after)
      if (page.length === 0) break
    }
    for (const { untold } of this.#accounts.values()) untold?.()
    this.#compareOperations()
    await this.#compareSessions()
    for (const [sessionId, session] of this.#prover.sessions) {
      const account = this.#accounts.get(sessionId)
      if (account !== undefined) this.#compareMessages(sessionId, session, account)
    }
    for (const { sessionId, entry, problem } of await this.#store.verify({})) {
      const at = entry === null ? '' : ` (entry ${entry})`
      this.#broken('store-transcript', sessionId, `${problem}${at}`)
    }
  }

  #broken(
    law: AuditLawName,
    sessionId: string | null,
    problem: string,
    ...marks: readonly Mark[]
  ): void {
    this.#prover.findings.broken({ law, problem, sessionId, marks })
  }

  #hear(row: AuditRow): void {
    const account = this.#accounts.get(row.sessionId) ?? new Account()
    this.#accounts.set(row.sessionId, account)
    const { facts } = row
    // Deleting a session ends its compaction in the same commit, so its holder logs nothing.
    if (row.kind !== 'session deleted') account.untold?.()
    account.untold = null
    switch (row.kind) {
      case 'session created':
        account.birth = String(facts['birth'])
        // A fork counts its initial entries as seen.
        if (account.birth === 'forked') account.seen = countOf(facts['entry'])
        break
      case 'message admitted': {
        const mail = countOf(facts['mail'])
        const lane = facts['lane']
        account.admitted.add(mail, mail)
        if (lane === 'user' || lane === 'notification') account.input[lane].add(mail, mail)
        break
      }
      case 'message withdrawn':
        account.withdrawn.add(countOf(facts['mail']), countOf(facts['mail']))
        break
      case 'message delivered':
        for (const mail of listOf(facts['mail'])) account.delivered.add(mail, mail)
        break
      case 'lease acquired':
        if (account.running !== null) {
          const problem = `${account.running} ran on when fence ${countOf(facts['fence'])} was acquired`
          this.#broken('store-operations', row.sessionId, problem)
          account.running = null
        }
        break
      case 'step committed':
        account.seen = Math.max(account.seen, countOf(facts['upto']))
        break
      case 'entries adopted':
        // A turn that another program recorded: its model has seen all of it.
        if (facts['turn'] !== undefined) account.seen = Math.max(account.seen, countOf(facts['to']))
        break
      case 'turn ended':
        // A turn that was given up counts its input as seen (decision 14).
        if (facts['ended'] === 'failed')
          account.seen = Math.max(account.seen, countOf(facts['entry']))
        break
      default:
        if (row.kind.startsWith('compaction ')) this.#hearCompaction(row, account)
    }
  }

  #hearCompaction({ kind, sessionId, operation: id, facts }: AuditRow, account: Account): void {
    if (id === null) return
    const state = kind.slice('compaction '.length)
    const operation = this.#prover.operations.get(id)
    const fence = countOf(facts['fence'])
    const isCommitted = state === 'committed'
    if (isCommitted && account.birth !== 'imported' && countOf(facts['covers']) > account.seen) {
      const problem = `${id} covers entry ${countOf(facts['covers'])}, and no step has seen more than ${account.seen}`
      this.#broken('store-messages', sessionId, problem)
    }
    const phases = this.#phases.get(id) ?? { started: false, ended: false }
    this.#phases.set(id, phases)
    if (state === 'started') {
      phases.started = true
      if (account.running !== null) {
        const problem = `${id} started in the store while ${account.running} ran`
        this.#broken('store-operations', sessionId, problem)
      }
      account.running = id
    } else {
      phases.ended = true
      if (account.running === id) account.running = null
    }
    const told = state === 'started' ? operation?.started : operation?.ended
    if (operation === undefined || told === undefined || told === null) {
      account.untold = () => this.#missing(id, sessionId, fence, state)
      return
    }
    const pairs: (readonly [string, unknown, unknown])[] = [
      ['session', operation.sessionId, sessionId],
      ['fence', operation.fence, fence],
      ['base', operation.base, countOf(facts['base'])],
    ]
    if (state !== 'started') pairs.push(['end', operation.end, state])
    if (isCommitted) pairs.push(['entry', operation.entry, countOf(facts['entry'])])
    for (const [what, inLog, inStore] of pairs) {
      if (inLog === inStore) continue
      const problem = `the ${what} of ${id} is ${inLog} in the log and ${inStore} in the store`
      this.#broken('store-operations', sessionId, problem, told)
    }
  }

  /** Missing lines are excused only if the process died between the commit and its line. */
  #missing(id: string, sessionId: string, fence: number, state: string): void {
    const span = this.#prover.sessions.get(sessionId)?.spans.get(fence)
    if (span !== undefined && !span.isClean) {
      this.#prover.findings.open('store-operations', `${id} ${state}`)
    } else this.#broken('store-operations', sessionId, `no log records that ${id} ${saying(state)}`)
  }

  #compareOperations(): void {
    for (const [id, { sessionId, started, ended }] of this.#prover.operations) {
      const phases = this.#phases.get(id)
      if (started !== null && phases?.started !== true) {
        this.#broken('store-operations', sessionId, `the store has no start of ${id}`, started)
      }
      if (ended !== null && phases?.ended !== true) {
        this.#broken('store-operations', sessionId, `the store has no end of ${id}`, ended)
      }
    }
    for (const [id, { started }] of this.#phases) {
      if (!started)
        this.#broken('store-operations', null, `${id} ended in the store without a start`)
    }
  }

  async #compareSessions(): Promise<void> {
    const { sessions } = this.#prover
    const found = new Set<string>()
    for (let after: SessionId | null = null; ; ) {
      const query = { limit: PAGE, ...(after === null ? {} : { after }) }
      const page: readonly SessionRow[] = await this.#store.listSessions(query)
      for (const row of page) {
        found.add(row.id)
        if (!this.isBorn(row.id)) {
          this.#broken('store-sessions', row.id, 'the store has no row for its creation')
        }
        const session = sessions.get(row.id)
        if (session !== undefined) this.#compareSession(row, session)
      }
      after = page.at(-1)?.id ?? null
      if (after === null) break
    }
    for (const [sessionId, { first }] of sessions) {
      if (!found.has(sessionId)) {
        this.#broken('store-sessions', sessionId, 'it is not in the store', first)
      }
    }
  }

  /** A store behind its logs was restored or truncated; the missing commits were acknowledged. */
  #compareSession({ id, fence, tail }: SessionRow, session: SessionRecord): void {
    const newest = session.inOrder().at(-1)
    if (newest === undefined) return
    if (newest.fence > fence) {
      const problem = `its fence is ${newest.fence} in the log and ${fence} in the store`
      this.#broken('store-sessions', id, problem, newest.acquired)
    }
    if (newest.lastEntry > tail) {
      const problem = `its newest entry is ${newest.lastEntry} in the log and ${tail} in the store`
      this.#broken('store-transcript', id, problem, newest.last)
    }
  }

  #compareMessages(sessionId: string, session: SessionRecord, account: Account): void {
    const law = 'store-messages'
    // Mail admitted before an import is in the audit of another store.
    if (account.birth === 'imported') return
    const { findings } = this.#prover
    const lost = (problem: string, mail: number) =>
      findings.broken({ law, problem, sessionId, marks: [], mail })
    for (const lane of ['user', 'notification', 'control'] as const) {
      for (const { from } of session.admitted[lane].without(account.admitted)) {
        lost(`message ${from} was acknowledged and is not in the store`, from)
      }
    }
    for (const lane of ['user', 'notification'] as const) {
      for (const { from } of session.delivered[lane].without(account.delivered)) {
        lost(`message ${from} was delivered by the log and not by the store`, from)
      }
      const taken = new RangeSet()
      for (const { from, to } of account.delivered.ranges()) taken.add(from, to)
      const input = account.input[lane]
      const last = lastOf(input, account.delivered)
      for (const { from } of input.without(taken, account.withdrawn)) {
        if (from < last) lost(`message ${from} (${lane}) was passed over in the store`, from)
      }
    }
  }
}

/** The newest message of a lane that was delivered. */
function lastOf(input: RangeSet, delivered: RangeSet): number {
  const waiting = new RangeSet()
  for (const { from, to } of input.without(delivered)) waiting.add(from, to)
  let last = 0
  for (const { to } of input.without(waiting)) last = to
  return last
}

function saying(state: string): string {
  return state === 'started' ? 'started' : `was ${state}`
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function listOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : []
}
