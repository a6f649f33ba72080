import type { CommitVerb, Store } from '#core/store/contract'
import { OutcomeUnknownError, StoreBusyError } from '#core/store/errors'

/**
 * Injects faults between a process and its store at an exact point: the next commit of a kind, of
 * one session, fails in a way that by chance would take a thousand days. It sits below everything
 * that decides, so a commit held here is already decided and on its way.
 */
export interface Aim {
  readonly id: string
  readonly verb: CommitVerb
  /** Absent: any session. */
  readonly sessionId?: string
  readonly mishap: Mishap
  /** Every time until it is released, not only the next. */
  readonly stays?: true
}

/**
 * `hold`: delayed until it is released, as by a stopped process. `lose`: done, but the answer is
 * lost. `refuse`: not done, and reported as failed. `repeat`: done, answered, and requested again a
 * moment later, as by a network that delivers twice.
 */
export type Mishap = 'hold' | 'lose' | 'refuse' | 'repeat'

export interface AimEvents {
  /** The aim matched a commit; a held commit is held from now on. */
  met(aim: Aim): void
  /** The result of the repeated request: the kind of its outcome, or the error. */
  repeated(aim: Aim, outcome: string): void
}

type Call = (request: unknown) => Promise<{ readonly kind: string }>

const REPEAT_MS = 150
const DID_NOTHING = ['none', 'superseded', 'held', 'fence-changed', 'lost', 'joined', 'already']

export class Aims {
  readonly #events: AimEvents
  readonly #armed = new Map<string, Aim>()
  readonly #held = new Map<string, PromiseWithResolvers<void>>()

  constructor(events: AimEvents) {
    this.#events = events
  }

  arm(aim: Aim): void {
    this.#armed.set(aim.id, aim)
  }

  /** Releases a held commit; an aim that has not matched yet is dropped. */
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
    const aim = this.#aimAt(verb, request)
    if (aim === undefined) return await call(request)
    if (aim.stays !== true) this.#armed.delete(aim.id)
    if (aim.mishap === 'hold') await this.#hold(aim)
    if (aim.mishap === 'refuse') {
      this.#events.met(aim)
      throw new StoreBusyError({ waitedMs: 0, problem: 'the rehearsal refused it' })
    }
    const outcome = await call(request)
    if (aim.mishap === 'hold') return outcome
    // Only a commit that changed something has an answer worth losing.
    if (DID_NOTHING.includes(outcome.kind)) {
      this.#armed.set(aim.id, aim)
      return outcome
    }
    this.#events.met(aim)
    if (aim.mishap === 'lose') {
      throw new OutcomeUnknownError({ verb, problem: 'the rehearsal lost the answer' })
    }
    setTimeout(() => this.#repeat(aim, request, call), REPEAT_MS)
    return outcome
  }

  #aimAt(verb: CommitVerb, request: unknown): Aim | undefined {
    const id = sessionIn(request)
    return [...this.#armed.values()].find(
      (aim) => aim.verb === verb && (aim.sessionId === undefined || aim.sessionId === id),
    )
  }

  async #hold(aim: Aim): Promise<void> {
    const held = this.#held.get(aim.id) ?? Promise.withResolvers<void>()
    this.#held.set(aim.id, held)
    this.#events.met(aim)
    await held.promise
  }

  #repeat(aim: Aim, request: unknown, call: Call): void {
    // A second claim comes from another claimant, so it must not be the same operation.
    const again = aim.verb === 'claimCompaction' ? renamed(request) : request
    call(again).then(
      ({ kind }) => this.#events.repeated(aim, kind),
      (error: unknown) => this.#events.repeated(aim, String(error)),
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
