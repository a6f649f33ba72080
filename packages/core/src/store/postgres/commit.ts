import { randomBytes } from 'node:crypto'
import type { CommitVerb, OutcomeOf, RequestOf } from '../contract.ts'
import { OutcomeUnknownError, StoreDamagedError } from '../errors.ts'
import { applyRule } from '../rules/rules.ts'
import type { Ruling, Stamp, StoreChange } from '../rules/ruling.ts'
import type { Connections, LoanedClient, Query } from './connections/connections.ts'
import { ServerFailure, translateServerError } from './connections/failure.ts'
import { prefetch, strengthsOf } from './prefetch.ts'
import { POSTGRES_SCHEMA } from './schema.ts'
import { resealRows } from './seals/reseal.ts'
import { Snapshot } from './snapshot.ts'
import { unindexInPostgres } from './word-index.ts'
import { writeChange } from './write.ts'

/** A rule asks for a few rows that depend on other rows; more rounds than this are a bug. */
const ROUNDS_MAX = 8
const CONFLICTS_MAX = 20
const BEGIN = 'begin isolation level read committed read write'
// One clock for all hosts: the server's (decision 21). The schema number is read too, because a
// newer version may have changed it while this process was running. Only a migration writes that row.
const CLOCK = {
  text: `select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as at, schema
    from store where one = 1`,
  values: [],
}

export interface CommitResult<Verb extends CommitVerb> {
  readonly outcome: OutcomeOf<Verb>
  readonly change: StoreChange | undefined
}

export interface CommitTerms {
  readonly location: string
  readonly busyMs: number
  /** Rejects if nothing may be written over this connection. */
  readonly prove: (loan: LoanedClient) => Promise<void>
}

/**
 * One verb, one transaction: lock the session and fetch what the rule needs, run the rule here,
 * send its writes and the commit together. Two round trips, plus one each time the rule asks for
 * rows that were not prefetched.
 *
 * A failure before the commit was sent has written nothing and is retried: a conflict at once and
 * then after short pauses, which shrink as the call ages; an unreachable server until `busyMs` have
 * passed. If the connection breaks after that, the outcome is unknown, and the error says so.
 */
export async function commitVerb<Verb extends CommitVerb>(
  connections: Connections,
  { verb, request }: { readonly verb: Verb; readonly request: RequestOf<Verb> },
  { location: place, busyMs, prove }: CommitTerms,
): Promise<CommitResult<Verb>> {
  const started = performance.now()
  for (let tries = 0; ; tries++) {
    try {
      return await tryOnce(connections, { verb, request }, { location: place, prove })
    } catch (error) {
      const waitedMs = performance.now() - started
      const kind = error instanceof ServerFailure ? error.kind : 'refused'
      const again = kind === 'conflict' ? tries < CONFLICTS_MAX : kind === 'connection'
      if (!again || waitedMs > busyMs) throw translateServerError(error, place, waitedMs)
      await sleep(kind === 'conflict' ? conflictDelayMs(waitedMs, tries) : AWAY_DELAY_MS)
    }
  }
}

async function tryOnce<Verb extends CommitVerb>(
  connections: Connections,
  { verb, request }: { readonly verb: Verb; readonly request: RequestOf<Verb> },
  { location: place, prove }: Omit<CommitTerms, 'busyMs'>,
): Promise<CommitResult<Verb>> {
  const loan = await connections.loan()
  let ended = false
  try {
    await prove(loan)
    const { ruling, at } = await decide(loan, verb, request, place)
    const { outcome, change } = ruling
    for (const { sessionId, entries } of change?.erase ?? []) {
      if (entries.length > 0) await unindexInPostgres(loan, sessionId, entries)
    }
    if (change !== undefined) {
      const resealed = await resealRows(loan, change)
      await write(loan, verb, writeChange(change, at, resealed))
    }
    ended = change !== undefined
    return { outcome, change }
  } finally {
    // Even after a failure that ended the transaction: one round trip ensures a clean connection.
    if (!ended) await loan.rollback()
    loan.end()
  }
}

async function decide<Verb extends CommitVerb>(
  loan: LoanedClient,
  verb: Verb,
  request: RequestOf<Verb>,
  place: string,
): Promise<{ readonly ruling: Ruling<OutcomeOf<Verb>>; readonly at: number }> {
  const snapshot = new Snapshot(strengthsOf(verb))
  loan.begin(BEGIN)
  const [clock] = await snapshot.load(loan, prefetch(verb, request), [CLOCK])
  const { at, schema } = (clock?.[0] ?? {}) as { at: number; schema: number }
  if (schema !== POSTGRES_SCHEMA) {
    const problem = `a newer program has changed its schema to ${schema} while this one (${POSTGRES_SCHEMA}) was running. Restart with the newer one.`
    throw new StoreDamagedError({ path: place, problem })
  }
  const stamp: Stamp = { at, seed: randomBytes(16).toString('hex') }
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const attempt = run(() => applyRule(verb, snapshot, request, stamp))
    const missed = snapshot.takeMissed()
    if (missed.length === 0) {
      if ('error' in attempt) throw attempt.error
      return { ruling: attempt.value, at }
    }
    await snapshot.load(loan, missed)
  }
  throw new Error(`${verb} still misses rows after ${ROUNDS_MAX} rounds`)
}

/** While rows are missing, neither the result nor an error of the rule counts. */
function run<Value>(work: () => Value): { readonly value: Value } | { readonly error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}

async function write(
  loan: LoanedClient,
  verb: CommitVerb,
  statements: readonly Query[],
): Promise<void> {
  try {
    await loan.send([...statements, { text: 'commit' }])
  } catch (error) {
    if (!(error instanceof ServerFailure) || error.kind !== 'connection') throw error
    loan.discard()
    throw new OutcomeUnknownError({ verb, problem: error.message })
  }
}

const AWAY_DELAY_MS = 50

/** Growing pauses starve the oldest call, so after 30 ms a call retries more often again. */
function conflictDelayMs(waitedMs: number, tries: number): number {
  return Math.random() * (waitedMs > 30 ? 2 : Math.min(20, 2 ** tries))
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
