import type { CommitVerb, Store } from '#core/store/contract'
import { OutcomeUnknownError, StoreBusyError } from '#core/store/errors'

/**
 * Injects faults between a process and its store at an exact point: the next commit of a kind, of
 * one session, fails in a way that by chance would take a thousand days. It sits below everything
 * that decides, so a commit held here is already decided and on its way.
 */
export interface PlannedFault {
  readonly id: string
  readonly verb: CommitVerb
  /** Absent: any session. */
  readonly sessionId?: string
  readonly fault: InjectedFault
  /** Every time until it is released, not only the next. */
  readonly stays?: true
}

/**
 * `hold`: delayed until it is released, as by a stopped process. `lose`: done, but the answer is
 * lost. `refuse`: not done, and reported as failed. `repeat`: done, answered, and requested again a
 * moment later, as by a network that delivers twice.
 */
export type InjectedFault = 'hold' | 'lose' | 'refuse' | 'repeat'

export interface FaultInjectorEvents {
  /** The planned fault matched a commit; a held commit is held from now on. */
  met(planned: PlannedFault): void
  /** The result of the repeated request: the kind of its outcome, or the error. */
  repeated(planned: PlannedFault, outcome: string): void
}

type Call = (request: unknown) => Promise<{ readonly kind: string }>

const REPEAT_MS = 150
const DID_NOTHING = ['none', 'superseded', 'held', 'fence-changed', 'lost', 'joined', 'already']

export class FaultInjector {
  readonly #events: FaultInjectorEvents
  readonly #armed = new Map<string, PlannedFault>()
  readonly #held = new Map<string, PromiseWithResolvers<void>>()

  constructor(events: FaultInjectorEvents) {
    this.#events = events
  }

  arm(planned: PlannedFault): void {
    this.#armed.set(planned.id, planned)
  }

  /** Releases a held commit; a planned fault that has not matched yet is dropped. */
  release(id: string): void {
    this.#armed.delete(id)
    this.#held.get(id)?.resolve()
    this.#held.delete(id)
  }

  /** Wraps the store with the faults. */
  over(store: Store): Store {
    const bad: Partial<Record<CommitVerb, Call>> = {}
    for (const verb of AIMED) {
      const call = store[verb] as Call
      bad[verb] = (request) => this.#call(verb, request, call)
    }
    return { ...store, ...bad } as Store
  }

  async #call(verb: CommitVerb, request: unknown, call: Call): ReturnType<Call> {
    const planned = this.#plannedFor(verb, request)
    if (planned === undefined) return await call(request)
    if (planned.stays !== true) this.#armed.delete(planned.id)
    if (planned.fault === 'hold') await this.#hold(planned)
    if (planned.fault === 'refuse') {
      this.#events.met(planned)
      throw new StoreBusyError({ waitedMs: 0, problem: 'the rehearsal refused it' })
    }
    const outcome = await call(request)
    if (planned.fault === 'hold') return outcome
    // Only a commit that changed something has an answer worth losing.
    if (DID_NOTHING.includes(outcome.kind)) {
      this.#armed.set(planned.id, planned)
      return outcome
    }
    this.#events.met(planned)
    if (planned.fault === 'lose') {
      throw new OutcomeUnknownError({ verb, problem: 'the rehearsal lost the answer' })
    }
    setTimeout(() => this.#repeat(planned, request, call), REPEAT_MS)
    return outcome
  }

  #plannedFor(verb: CommitVerb, request: unknown): PlannedFault | undefined {
    const id = sessionIn(request)
    return [...this.#armed.values()].find(
      (planned) =>
        planned.verb === verb && (planned.sessionId === undefined || planned.sessionId === id),
    )
  }

  async #hold(planned: PlannedFault): Promise<void> {
    const held = this.#held.get(planned.id) ?? Promise.withResolvers<void>()
    this.#held.set(planned.id, held)
    this.#events.met(planned)
    await held.promise
  }

  #repeat(planned: PlannedFault, request: unknown, call: Call): void {
    // A second claim comes from another claimant, so it must not be the same operation.
    const again = planned.verb === 'claimCompaction' ? renamed(request) : request
    call(again).then(
      ({ kind }) => this.#events.repeated(planned, kind),
      (error: unknown) => this.#events.repeated(planned, String(error)),
    )
  }
}

const AIMED: readonly CommitVerb[] = [
  ...(['admit', 'renew', 'acquire', 'recover', 'deliver', 'commitReply', 'commitResults'] as const),
  ...(['claimCompaction', 'commitCompaction', 'claimReply', 'settleReply'] as const),
]

function sessionIn(request: unknown): string | undefined {
  const { lease, sessionId, to } = request as {
    readonly lease?: { readonly sessionId: string }
    readonly sessionId?: string
    readonly to?: { readonly sessionId?: string }
  }
  return lease?.sessionId ?? sessionId ?? to?.sessionId
}

function renamed(request: unknown): unknown {
  const { operation } = request as { readonly operation: string }
  return { ...(request as object), operation: `${operation}-again` }
}
