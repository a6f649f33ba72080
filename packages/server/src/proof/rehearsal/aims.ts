import type { CommitVerb, Store } from '#core/store/contract'
import { OutcomeUnknownError, StoreBusyError } from '#core/store/errors'

/**
 * A bad line between a process and its store, aimed: at the next commit of a kind, of one session,
 * something goes wrong that only happens once in a thousand days by itself. It stands below
 * everything that decides, so what is held here has been decided and is on its way.
 */
export interface Aim {
  readonly id: string
  readonly verb: CommitVerb
  /** Absent: whichever session it is about. */
  readonly sessionId?: string
  readonly mishap: Mishap
  /** Every time until it is let go, not only the next. */
  readonly stays?: true
}

/**
 * `hold`: on its way until it is let go, as from a process that is stopped. `lose`: done, and no
 * answer comes. `refuse`: not done, and said so. `repeat`: done, answered, and asked once more a
 * moment later, as by a line that delivers twice.
 */
export type Mishap = 'hold' | 'lose' | 'refuse' | 'repeat'

export interface AimEvents {
  /** The aim was met; what is held is held from now on. */
  met(aim: Aim): void
  /** What came of the second asking: the kind of its outcome, or the error. */
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

  /** What is held goes on; what was not met is forgotten. */
  release(id: string): void {
    this.#armed.delete(id)
    this.#held.get(id)?.resolve()
    this.#held.delete(id)
  }

  /** The same store over the bad line. */
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
    // Only a commit that did something has an answer worth losing.
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
    // A second claim comes from somebody else, so it is not the same operation.
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
