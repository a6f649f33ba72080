import { type AuditWriter, NO_AUDIT } from '../audit/log/log.ts'
import { SessionTrail } from '../audit/session-audit-writer.ts'
import { KnownError } from '../base/errors.ts'
import type { EntryNumber, OperationId, SessionId } from '../base/ids.ts'
import type { ToolCallPart } from '../message/message.ts'
import type { CallResult } from '../store/commits.ts'
import type { Lease } from '../store/contract.ts'
import { OutcomeUnknownError } from '../store/errors.ts'
import type { SessionRow } from '../store/tables/rows.ts'
import { openMailIn } from './context/budget.ts'
import { type Context, messagesOf } from './context/build.ts'
import type { SessionView } from './context/session-view.ts'
import { measureRevert } from './context/source.ts'
import { type HandoffParts, replaceHandoff, writeHandoff } from './handoff-effects.ts'
import { advance, openState } from './protocol/advance.ts'
import type { Decisions } from './protocol/policy.ts'
import type {
  CommitOutcome,
  Effect,
  Event,
  EventBody,
  Instant,
  SessionCommit,
  State,
} from './protocol/state.ts'
import { SessionViewReader } from './session-view-reader.ts'
import type { WantedSettings } from './settings.ts'
import { callKey, type StepRunner, type ToolRunner } from './step.ts'

/**
 * The shell around the protocol: it performs effects and reports their outcomes to the machine. It
 * decides nothing. Whatever an effect starts is owned here until it ends.
 */
export interface SessionParts extends HandoffParts {
  readonly steps: StepRunner
  readonly tools: ToolRunner
  readonly decisions?: Decisions
  /** The configured settings of each agent; without it sessions keep theirs. */
  readonly wantedFor?: (agent: string) => WantedSettings | undefined
  /** Called when a turn has to wait, once per turn and kind. */
  readonly onNotice?: (
    sessionId: SessionId,
    agent: string,
    wait: Extract<Effect, { kind: 'notify' }>,
  ) => void
  /** Called once for each stop by a person. */
  readonly onStop?: (sessionId: SessionId) => void
  /** Where the process keeps its audit lines; without it none are written. */
  readonly audit?: AuditWriter
}

/**
 * The result of an acquisition: the lease, and the compaction that the last holder left unfinished.
 */
export interface Acquisition {
  readonly lease: Lease
  readonly abandoned: OperationId | null
}

export type ActorEnd =
  | { readonly kind: 'released' }
  | { readonly kind: 'lost' }
  /** A broken assumption of our own: this session's actor ends, the process continues. */
  | { readonly kind: 'crashed'; readonly error: unknown }

export class SessionActor {
  readonly lease: Lease
  readonly #parts: SessionParts
  /** False when the lease is gone or may have run out: nothing with an effect may begin. */
  readonly #mayAct: () => boolean
  readonly #reader: SessionViewReader
  readonly #trail: SessionTrail
  readonly #ended = Promise.withResolvers<ActorEnd>()
  readonly #queue: EventBody[] = []
  #state: State
  #isDraining = false
  #isClosing = false
  #cancelTimer = () => {}
  #stopSeen = 0
  #lookedAt = 0
  #isLooking = false
  #expectedMail = 0
  #step = new AbortController()
  #tools = new AbortController()
  #handoff = new AbortController()

  constructor(parts: SessionParts, { lease, abandoned }: Acquisition, mayAct: () => boolean) {
    this.lease = lease
    this.#trail = new SessionTrail(parts.audit ?? NO_AUDIT, lease, abandoned)
    this.#parts = parts
    this.#mayAct = () => this.#state.phase !== 'ended' && mayAct()
    this.#reader = new SessionViewReader(parts.store, lease, parts.wantedFor)
    this.#state = openState({
      lease,
      settings: parts.settings,
      isRepeatable: (name) => parts.tools.isRepeatable(name),
      at: this.#now(),
    })
  }

  /** Resolves when this process no longer holds the session; never rejects. */
  run(): Promise<ActorEnd> {
    this.#dispatch({ kind: 'opened' })
    return this.#ended.promise
  }

  /** When the session was last read (monotonic); at rest it needs no look before its release. */
  get lookedAt(): number {
    return this.#state.restingSince === null ? this.#lookedAt : Number.POSITIVE_INFINITY
  }

  /**
   * Mail up to this number was admitted. Wakes the session unless it has seen that mail; a look that
   * is under way decides it when it ends.
   */
  expectMail(mail: number): void {
    this.#expectedMail = Math.max(this.#expectedMail, mail)
    if (!this.#isLooking) this.#wakeIfExpecting()
  }

  #wakeIfExpecting(): void {
    if ((this.#reader.session?.mail ?? 0) < this.#expectedMail) this.wake()
  }

  /** Something may have arrived. */
  wake(): void {
    this.#dispatch({ kind: 'woken' })
  }

  /** The agent of a turn that waits because its model failed, or null. */
  get waitsForModelOf(): string | null {
    const isWaiting = this.#state.modelRetryAt > this.#parts.clock.monotonic()
    return isWaiting ? (this.#reader.session?.agent ?? null) : null
  }

  /** A model answers again, so a waiting turn may try at once. */
  modelIsBack(): void {
    this.#dispatch({ kind: 'model back' })
  }

  /** Ends running work and releases the lease. */
  close(): void {
    this.#isClosing = true
    this.#dispatch({ kind: 'closing' })
  }

  /** The lease is lost: stops at once. */
  lose(): void {
    this.#dispatch({ kind: 'lost' })
  }

  #now(): Instant {
    return { wall: this.#parts.clock.now(), mono: this.#parts.clock.monotonic() }
  }

  #dispatch(body: EventBody): void {
    this.#queue.push(body)
    if (this.#isDraining) return
    this.#isDraining = true
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const event = { ...next, at: this.#now() } as Event
        const { state, effects } = advance(this.#state, event, this.#parts.decisions)
        this.#state = state
        for (const effect of effects) this.#perform(effect)
      }
    } catch (error) {
      this.#crash(error)
    } finally {
      this.#isDraining = false
    }
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'look':
        this.#own(this.#look())
        break
      case 'commit':
        this.#own(this.#commit(effect.commit))
        break
      case 'runStep':
        this.#step = new AbortController()
        this.#begin(() => this.#runStep(effect.turn, effect.context))
        break
      case 'abortStep':
        this.#step.abort('stopped')
        break
      case 'startTools':
        this.#tools = new AbortController()
        this.#begin(() => this.#runTools(effect.entry, effect.calls))
        break
      case 'abortTools':
        this.#tools.abort('stopped')
        break
      case 'writeHandoff':
        this.#handoff = new AbortController()
        this.#begin(() => this.#writeHandoff(effect))
        break
      case 'abortHandoff':
        this.#handoff.abort(effect.reason)
        break
      case 'measureRevert':
        this.#own(this.#measureRevert(effect.target))
        break
      case 'replaceHandoff':
        this.#own(this.#replaceHandoff(effect))
        break
      case 'setTimer':
        this.#setTimer(effect.at)
        break
      case 'notify':
        this.#parts.onNotice?.(this.lease.sessionId, this.#session.agent, effect)
        break
      case 'end':
        this.#end({ kind: effect.how })
        break
      default:
        effect satisfies never
    }
  }

  #setTimer(at: number): void {
    const { clock } = this.#parts
    this.#cancelTimer()
    this.#cancelTimer = clock.after(at - clock.monotonic(), () => this.wake())
  }

  /** Steps, tools and handoffs have outside effects, so they need a valid lease. */
  #begin(run: () => Promise<void>): void {
    if (this.#mayAct()) this.#own(run())
    else this.#dispatch({ kind: 'lost' })
  }

  /** As last read. */
  get #session(): SessionRow {
    const { session } = this.#reader
    if (session === null) throw new Error('Session used before its first read.')
    return session
  }

  #own(work: Promise<void>): void {
    work.catch((error: unknown) => this.#crash(error))
  }

  #crash(error: unknown): void {
    this.#state = { ...this.#state, phase: 'ended' }
    this.#end({ kind: 'crashed', error })
  }

  #end(end: ActorEnd): void {
    this.#cancelTimer()
    const isShutdown = end.kind === 'released' && this.#isClosing
    this.#trail.lost(isShutdown ? 'shutdown' : end.kind)
    for (const controller of [this.#step, this.#tools, this.#handoff]) controller.abort('lost')
    this.#ended.resolve(end)
  }

  async #look(): Promise<void> {
    this.#lookedAt = this.#parts.clock.monotonic()
    this.#isLooking = true
    try {
      const seen = await this.#reader.look().finally(() => {
        this.#isLooking = false
      })
      if (seen === null) {
        this.#dispatch({ kind: 'lost' })
        return
      }
      this.#wakeIfExpecting()
      this.#note(seen.view)
      this.#dispatch({ kind: 'looked', ...seen })
    } catch (error) {
      this.#absorbFailure(error)
    }
  }

  #note(view: SessionView): void {
    this.#trail.looked(view)
    const newest = view.controls.findLast(
      (mail) => mail.control === 'stop' && mail.number > this.#stopSeen,
    )
    if (newest === undefined) return
    this.#stopSeen = newest.number
    this.#parts.onStop?.(this.lease.sessionId)
  }

  async #commit(commit: SessionCommit): Promise<void> {
    const { verb, request } = commit
    const ending = endingOf(commit)
    if (ending !== undefined) this.#trail.endsTurn(ending)
    try {
      // Verb and request match: both come from one union.
      const call = this.#parts.store[verb] as (
        asked: typeof request,
      ) => Promise<CommitOutcome['outcome']>
      const committed = { verb, outcome: await call(request) } as CommitOutcome
      const { outcome } = committed
      const seen = 'written' in outcome ? this.#reader.follow(outcome.written) : null
      if (seen !== null) this.#note(seen.view)
      this.#dispatch({ kind: 'committed', committed, ...(seen !== null && { seen }) })
    } catch (error) {
      this.#absorbFailure(error)
    }
  }

  #absorbFailure(error: unknown): void {
    if (error instanceof OutcomeUnknownError) this.#dispatch({ kind: 'unsure' })
    else if (error instanceof KnownError && error.retryable) this.#dispatch({ kind: 'unavailable' })
    else this.#crash(error)
  }

  async #runStep(turn: number, context: Context): Promise<void> {
    const { sessionId, fence } = this.lease
    const { agent, title } = this.#session
    const { upto } = context
    const isTitled = title !== null
    const open = openMailIn(this.#session, context)
    this.#trail.shows(turn, upto, open)
    const isShortened = open.clipped.length > 0
    const asked = { sessionId, agent, fence, turn, upto, isTitled, isShortened }
    const request = { ...asked, context: messagesOf(context) }
    const outcome = await this.#parts.steps.run(request, this.#step.signal)
    this.#dispatch({ kind: 'step ended', outcome })
  }

  async #runTools(entry: EntryNumber, calls: readonly ToolCallPart[]): Promise<void> {
    const results = await Promise.all(calls.map((call) => this.#runTool(entry, call)))
    this.#dispatch({ kind: 'tools ended', results })
  }

  async #runTool(entry: EntryNumber, call: ToolCallPart): Promise<CallResult> {
    const { sessionId } = this.lease
    const { agent, turn } = this.#session
    const key = callKey(sessionId, entry, call.id)
    const request = { sessionId, agent, turn, entry, call, key }
    const ran = await this.#parts.tools.run(request, this.#tools.signal)
    return { call: call.id, outcome: ran.outcome, body: ran.output, tokens: ran.tokens }
  }

  async #writeHandoff(effect: Extract<Effect, { kind: 'writeHandoff' }>): Promise<void> {
    const run = { controller: this.#handoff, mayAct: this.#mayAct }
    this.#dispatch(await writeHandoff(this.#parts, this.#session, effect, run))
  }

  async #replaceHandoff(effect: Extract<Effect, { kind: 'replaceHandoff' }>): Promise<void> {
    this.#dispatch(await replaceHandoff(this.#parts, () => this.#session, effect, this.#mayAct))
  }

  async #measureRevert(target: EntryNumber): Promise<void> {
    const { session, context } = this.#reader
    if (session === null || context === null) return
    try {
      const tokensAfter = await measureRevert(this.#parts.store, session, context, target)
      const { limits } = session
      this.#dispatch({ kind: 'revert measured', target, tokensAfter, upto: context.upto, limits })
    } catch (error) {
      // The error came from a commit or a look, which must still end.
      if (error instanceof KnownError && error.retryable) {
        this.#dispatch({ kind: 'revert delayed', target })
      } else this.#crash(error)
    }
  }
}

/**
 * How a commit ends its turn, if it does; a recovery that gives up a turn is known only afterwards.
 */
function endingOf({ verb, request }: SessionCommit) {
  if (verb === 'commitReply') return request.ends?.how
  return verb === 'recover' ? 'failed' : undefined
}
