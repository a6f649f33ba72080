import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../../base/ids.ts'
import type { ErasedUpTo } from '../commits.ts'
import type { NoteKey, NoteRow, ScheduleRow, TokenRow } from '../operational-rows.ts'
import type { ReplyHead, ReplyKey } from '../retention-commits.ts'
import type { ForkPrefix, RemainingRows, Rows } from '../rules/ruling.ts'
import type {
  AttemptRow,
  Entry,
  EntryHead,
  InputLane,
  IntakeRow,
  MailRow,
  OperationRow,
  ReplyRow,
  Route,
  RouteRow,
  RunnerRow,
  SessionRow,
} from '../tables/rows.ts'
import type { EmbeddedRow } from '../vector-rows.ts'
import type { LoanedClient, Query } from './connections/connections.ts'
import type { Args, Lookup } from './lookup.ts'
import { LOOKUP_NAMES, LOOKUPS, type LookupName } from './lookups.ts'
import type { Columns } from './tables.ts'

/** A row, or a list of rows, that a rule asks for. */
export type LookupRequest = readonly [name: LookupName, ...args: Args]

/** Verbs that change a runner or a route take the stronger lock from the start. */
export interface Strengths {
  readonly runner: 'runner' | 'runnerToRenew' | 'runnerToChange'
  readonly route: 'route' | 'routeToChange'
}

/**
 * The rules' view of the tables while the rows are still on the server. A rule is synchronous and
 * pure: a missing row is noted and answered with nothing, then fetched, and the rule runs again
 * until nothing is missing. Only the last run counts.
 */
export class Snapshot implements Rows {
  readonly #strengths: Strengths
  readonly #values = new Map<string, unknown>()
  readonly #locked = new Set<string>()
  /** What was looked up, by key. */
  readonly #asked = new Map<string, LookupRequest>()
  #missed = new Map<string, LookupRequest>()

  constructor(strengths: Strengths) {
    this.#strengths = strengths
  }

  /** Returns and clears the lookups that the last run missed; the caller loads them. */
  takeMissed(): readonly LookupRequest[] {
    const missed = [...this.#missed.values()]
    this.#missed = new Map()
    return missed
  }

  /** Loads in one round trip, after the statements in `first`. */
  async load(
    loan: LoanedClient,
    missed: readonly LookupRequest[],
    first: readonly Query[] = [],
  ): Promise<readonly (readonly Columns[])[]> {
    // A new lock makes the rows that it guards, if they were read before, outdated. All are read
    // again now: a rule may miss them one at a time, and would need a round trip for each.
    const isLocking = missed.some(([name]) => (LOOKUPS[name] as Lookup).guards)
    const asked = isLocking ? [...this.#forgetUnlocked(), ...missed] : missed
    const groups = LOOKUP_NAMES.flatMap((name) => {
      const lookup: Lookup = LOOKUPS[name]
      const requests = new Map<string, Args>()
      for (const [each, ...args] of asked) if (each === name) requests.set(keyFor(name, args), args)
      for (const [key, args] of requests) this.#asked.set(key, [name, ...args])
      const all = [...requests]
      const statements = lookup.isSingle ? all.map((each) => [each]) : all.length > 0 ? [all] : []
      return statements.map((of) => ({ lookup, name, of: new Map(of) }))
    })
    const answers = await loan.send([
      ...first,
      ...groups.map(({ lookup, of }) => ({
        text: lookup.text,
        values: lookup.values([...of.values()]),
      })),
    ])
    const send = (queries: readonly Query[]) => loan.send(queries)
    for (const [index, { lookup, name, of }] of groups.entries()) {
      const rows = answers[first.length + index] ?? []
      this.#keep(name, lookup, of, (await lookup.check?.(send, rows)) ?? rows)
    }
    return answers.slice(0, first.length)
  }

  #keep(
    name: LookupName,
    lookup: Lookup,
    asked: ReadonlyMap<string, Args>,
    rows: readonly Columns[],
  ): void {
    const kept = (lookup.serves ?? name) as LookupName
    const found = new Map<string, Columns[]>()
    for (const row of rows) {
      const key = keyFor(kept, lookup.keyOf(row))
      found.set(key, [...(found.get(key) ?? []), row])
    }
    // A key that was requested and not found is an answer too.
    const keys = lookup.serves === undefined ? asked.keys() : found.keys()
    for (const key of keys) {
      this.#values.set(key, lookup.decode(found.get(key) ?? []))
      if (LOCKING.has(kept)) this.#locked.add(key)
    }
  }

  /** Returns the lookups of the rows that it forgets. */
  #forgetUnlocked(): readonly LookupRequest[] {
    const keys = [...this.#values.keys()].filter((key) => !this.#locked.has(key))
    for (const key of keys) this.#values.delete(key)
    return keys.map((key) => this.#asked.get(key)).filter((request) => request !== undefined)
  }

  #has(name: LookupName, ...args: Args): boolean {
    return this.#values.has(keyFor(name, args))
  }

  #get<Value>(name: LookupName, ...args: Args): Value {
    const key = keyFor(name, args)
    if (this.#values.has(key)) return this.#values.get(key) as Value
    this.#missed.set(key, [name, ...args])
    return LOOKUPS[name].decode([]) as Value
  }

  session(id: SessionId): SessionRow | undefined {
    return this.#get('session', id)
  }
  heldBy(runner: RunnerId): readonly SessionRow[] {
    return this.#get('heldBy', runner)
  }
  related(root: SessionId): readonly SessionRow[] {
    return this.#get('related', root)
  }
  runner(id: RunnerId): RunnerRow | undefined {
    return this.#get(this.#strengths.runner, id)
  }
  intake(keyHash: string): IntakeRow | undefined {
    return this.#get('intake', keyHash)
  }
  mail(sessionId: SessionId, number: MailNumber): MailRow | undefined {
    return this.#get('mail', sessionId, number)
  }
  firstWaiting(sessionId: SessionId, lane: InputLane, after: MailNumber): MailNumber | undefined {
    const waiting = this.#get<readonly Pick<MailRow, 'lane' | 'number'>[]>('waiting', sessionId)
    return waiting.find((mail) => mail.lane === lane && mail.number > after)?.number
  }
  waitingStops(sessionId: SessionId): readonly MailRow[] {
    return this.#get('waitingStops', sessionId)
  }
  sourcePending(sessionId: SessionId, source: string): number {
    return this.#get('sourcePending', sessionId, source.toWellFormed())
  }
  entry(sessionId: SessionId, number: EntryNumber): Entry | undefined {
    return this.#get('entry', sessionId, number)
  }
  inputsAfter(sessionId: SessionId, number: EntryNumber): readonly EntryHead[] {
    const seen = this.#has('unseen', sessionId) ? this.session(sessionId)?.seen : undefined
    if (number === seen) return this.#get('unseen', sessionId)
    return this.#get('inputsAfter', sessionId, number)
  }
  forkPrefix(sessionId: SessionId, upto: EntryNumber): ForkPrefix {
    return this.#get('forkPrefix', sessionId, upto)
  }
  erased(sessionIds: readonly SessionId[]): readonly string[] {
    return sessionIds.flatMap((id) => this.#get<readonly string[]>('erased', id))
  }
  handoffs(sessionId: SessionId): readonly EntryHead[] {
    return this.#get('handoffs', sessionId)
  }
  operation(id: OperationId): OperationRow | undefined {
    return this.#get('operation', id)
  }
  route({ agent, channel, address }: Route): RouteRow | undefined {
    return this.#get(this.#strengths.route, agent, channel, address)
  }
  blobUses(sessionId: SessionId, hash: string): number | undefined {
    return this.#get('blobUses', sessionId, hash)
  }
  reply(sessionId: SessionId, number: number): ReplyRow | undefined {
    return this.#get('reply', sessionId, number)
  }
  repliesOf(sessionId: SessionId, entry: EntryNumber): readonly ReplyRow[] {
    return this.#get('repliesOf', sessionId, entry)
  }
  nextReply(edge: string, at: number): ReturnType<Rows['nextReply']> {
    return this.#get('nextReply', edge, at)
  }
  attempt(id: OperationId): AttemptRow | undefined {
    return this.#get('attempt', id)
  }
  attemptsBefore(at: number, limit: number): readonly AttemptRow[] {
    return this.#get('attemptsBefore', at, limit)
  }
  schedule(id: string): ScheduleRow | undefined {
    return this.#get('schedule', id)
  }
  waitingSchedules(sessionId: SessionId): number {
    return this.#get('waitingSchedules', sessionId)
  }
  note(agent: string, scope: string, id: string): NoteRow | undefined {
    return this.#get('note', agent, scope, id)
  }
  notes(agent: string, scope: string): number {
    return this.#get('notes', agent, scope)
  }
  notesFrom(sessionId: SessionId, entry: EntryNumber): readonly NoteKey[] {
    return this.#get('notesFrom', sessionId, entry)
  }
  token(id: string): TokenRow | undefined {
    return this.#get('token', id)
  }
  tokenOf(hash: string): TokenRow | undefined {
    return this.#get('tokenOf', hash)
  }
  tokens(): number {
    return this.#get('tokens')
  }
  stagedBefore(at: number): readonly { readonly sessionId: SessionId; readonly hash: string }[] {
    return this.#get('stagedBefore', at)
  }
  repliesAfter(after: ReplyKey | undefined, limit: number): readonly ReplyHead[] {
    return this.#get('repliesAfter', after?.sessionId ?? '', after?.number ?? 0, limit)
  }
  embedded(sessionId: SessionId): EmbeddedRow | undefined {
    return this.#get('embedded', sessionId)
  }
  livingEntries(sessionId: SessionId, after: number, upto: number): readonly EntryNumber[] {
    return this.#get('livingEntries', sessionId, after, upto)
  }
  remainingRows(
    sessionId: SessionId,
    limit: number,
    { entry, mail, reply }: ErasedUpTo,
    retained: EntryNumber,
  ): RemainingRows {
    return this.#get('remainingRows', sessionId, limit, entry, mail, reply, retained)
  }
}

const LOCKING = new Set<LookupName>(
  LOOKUP_NAMES.filter((name) => / for (no key |key )?(update|share)/.test(LOOKUPS[name].text)),
)

function keyFor(name: LookupName, args: Args): string {
  return JSON.stringify([name, ...args])
}
