import type { Handoff } from '../../packages/core/src/message/handoff/handoff.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import type { HandoffRequest } from '../../packages/core/src/session/handoff.ts'
import type { StepRequest, ToolRequest } from '../../packages/core/src/session/step.ts'
import type {
  CommitVerb,
  Lease,
  OutcomeOf,
  RequestOf,
  Tail,
} from '../../packages/core/src/store/contract.ts'
import type { StoreChange } from '../../packages/core/src/store/rules/ruling.ts'
import type { AuditRow, OperationRow, ReplyRow } from '../../packages/core/src/store/tables/rows.ts'
import { EntryLaws } from './entry-laws.ts'
import { ForkLaws } from './fork-laws.ts'
import { KeepingLaws } from './keeping-laws.ts'
import { compareRows } from './row-laws.ts'
import { handoffOfWords } from './scripted.ts'
import { expectedTokens, foldShadow, type Shadow, wordsIn, wordsOf } from './shadow.ts'
import type { Life } from './sim-process.ts'
import { StepLaws } from './step-laws.ts'
import { WALL_START, type World } from './world.ts'

export interface Observed<Verb extends CommitVerb = CommitVerb> {
  readonly verb: Verb
  readonly request: RequestOf<Verb>
  readonly outcome: OutcomeOf<Verb>
  readonly change: StoreChange | null
}

/**
 * The contract's laws, checked after every commit and before every step, tool call, handoff and
 * send. Numbers refer to docs/invariants.md.
 */
export class Laws {
  readonly #world: World
  readonly forks: ForkLaws
  readonly #entries: EntryLaws
  readonly #keeping: KeepingLaws
  readonly #steps: StepLaws
  readonly shadows = new Map<string, Shadow>()
  readonly #phases = new Map<string, Set<string>>()
  readonly #beats = new Map<string, { at: number; process: number }>()
  /** (source, key) -> the acknowledged session and mail. */
  readonly acks = new Map<string, { sessionId: string; mail: number; body: string }>()
  readonly #sends = new Map<string, { claimant: string | null; hasFailed: boolean }>()
  readonly #lastSent = new Map<string, number>()
  readonly #putOff = new Set<string>()
  /** The size and the carried input of each written handoff, by operation. */
  readonly #given = new Map<string, { tokens: number; carries: readonly number[] }>()
  readonly poison = new Set<string>()
  #words = 0

  constructor(world: World) {
    this.#world = world
    this.forks = new ForkLaws(world, this.shadows)
    this.#entries = new EntryLaws(world, this.shadows, this.forks)
    this.#keeping = new KeepingLaws(world, this.shadows, this.forks)
    this.#steps = new StepLaws(world, this.shadows, this.poison)
  }

  nextWord(): string {
    this.#words++
    return `w${this.#words}`
  }

  observe(observed: Observed): void {
    const { change } = observed
    if (change === null) {
      this.#observeRefusal(observed)
      return
    }
    this.#world.commits++
    this.#observeRunners(observed, change)
    this.#entries.observe(observed, change)
    this.#keeping.observe(observed, change)
    this.#observeOperations(change)
    this.#observeOutbox(change)
    for (const row of change.audit ?? []) this.#observeAudit(row)
    compareRows(this.#world, this.shadows, change)
    if (observed.verb === 'fork') this.#forked(change)
  }

  #forked(change: StoreChange): void {
    for (const { after } of change.sessions ?? []) {
      const shadow = this.shadows.get(after.id)
      if (shadow !== undefined) this.forks.readsItsPrefix(shadow)
    }
  }

  looked(owner: Life, sessionId: string): void {
    this.#steps.looked(owner, sessionId)
  }

  /** Nothing is refused without cause: discarding a paid step is a loss too (I12). */
  #observeRefusal({ verb, request, outcome }: Observed): void {
    const world = this.#world
    if (outcome.kind === 'limits-refused') world.count('settings refused')
    if (outcome.kind !== 'superseded' || !('by' in outcome)) return
    world.count(`superseded ${verb}`)
    world.count('superseded commit')
    const { lease, tail } = request as { lease?: Lease; tail?: Tail }
    const shadow = lease && this.shadows.get(lease.sessionId)
    if (lease === undefined || shadow === undefined) return
    const isHeld = shadow.fence === lease.fence && shadow.holder === lease.holder
    const isAtTail = tail === undefined || tail.hash === shadow.tailHash
    const { owed = [] } = request as { owed?: readonly number[] }
    // Work that started before another session's erasure is void.
    const isOutdated =
      (verb === 'eraseEntries' && owed.length !== shadow.owes.size) ||
      (verb === 'claimCompaction' && shadow.owes.size > 0)
    if (isHeld && isAtTail && !isOutdated)
      world.violate('I12', `${verb} was refused without a cause`)
  }

  /**
   * A runner is dismissed only if its beat did not move for its whole lease, or if it is dead
   * (I25).
   */
  #observeRunners({ verb }: Observed, change: StoreChange): void {
    const { timeline, composition } = this.#world
    for (const { id, after } of change.runners ?? []) {
      if (after !== null) this.#beats.set(id, { at: timeline.now, process: after.process })
      else if (verb === 'dismissRunner') {
        const beat = this.#beats.get(id)
        const still = timeline.now - (beat?.at ?? 0)
        this.#world.count('runner dismissed')
        if (still >= composition.lease.leaseMs) continue
        if (this.#world.living.has(beat?.process ?? 0)) {
          this.#world.violate('I25', `runner ${id} dismissed ${still} ms behind its last beat`)
        } else this.#world.count('dead runner dismissed at once')
      }
    }
  }

  /**
   * One operation in flight per session (I6), each started and ended once, with its audit row
   * (I20).
   */
  #observeOperations(change: StoreChange): void {
    const world = this.#world
    for (const row of change.operations ?? []) {
      const shadow = this.shadows.get(row.sessionId)
      if (shadow === undefined) continue
      const phase = row.state === 'running' ? 'started' : row.state
      const line = (change.audit ?? []).find(
        (audit) => audit.operation === row.id && audit.phase === phase,
      )
      if (line === undefined || line.sessionId !== row.sessionId) {
        world.violate('I20', `operation ${row.id} is ${row.state} without its audit row`)
      }
      if (row.state === 'running') this.#observeClaim(shadow, row)
      else {
        const claim = shadow.claims.find(({ id }) => id === row.id)
        const { state, result } = row
        if (claim && (state === 'abandoned' || result['reason'] === 'closing')) {
          claim.isCutShort = true
        }
        if (shadow.running?.id !== row.id) {
          world.violate('I6', `operation ${row.id} ended as ${row.state} but was not running`)
        } else shadow.running = null
        world.count(`compaction ${row.state}`)
        if (row.state === 'failed') this.#observeFailure(shadow, row)
        if (row.by === 'rewrite' && row.state === 'committed') world.count('rewrite committed')
        if (row.by === 'digest' && row.state === 'committed') world.count('digest rung')
        if (row.by === 'clearing' && row.state === 'committed') world.count('clearing committed')
      }
    }
  }

  /** A handoff that fits is not refused because of what arrived after it (I13). */
  #observeFailure(shadow: Shadow, row: OperationRow): void {
    const given = this.#given.get(row.id)
    const limits = shadow.limitsAt()
    if (given === undefined || row.result['reason'] === 'closing') return
    const folded = foldShadow(shadow, shadow.tail)
    const covers = Math.max(folded.covers, row.covers)
    const { tokens } = given
    // Another input may have the same words.
    const isShown = (number: number) => number > folded.covers || folded.carries.includes(number)
    const carries = given.carries.filter((number) => number <= covers && isShown(number))
    const covered = { ...folded, effective: null, covers, carries }
    const range =
      expectedTokens(shadow, shadow.tail, folded) - expectedTokens(shadow, shadow.tail, covered)
    if (tokens <= limits.handoffTokens && tokens < range && row.by !== 'rewrite') {
      const { id } = row
      this.#world.violate('I13', `${id} had ${tokens} tokens for ${range} and was refused`)
    }
  }

  handoffGiven({ operation, messages, open }: HandoffRequest, tokens: number): void {
    const shadow = this.shadows.get(operation.sessionId)
    const words = new Set(open.flatMap((index) => wordsOf(messages[index] as Message)))
    const carries = (shadow?.entries ?? [])
      .filter((each) => each.kind === 'input' && each.words.some((word) => words.has(word)))
      .map(({ number }) => number)
    this.#given.set(operation.id, { tokens, carries })
  }

  #observeClaim(shadow: Shadow, row: OperationRow): void {
    const world = this.#world
    if (shadow.running !== null) {
      world.violate('I6', `${row.id} runs beside ${shadow.running.id}`)
    }
    if (row.fence !== shadow.fence) world.violate('I7', `claim ${row.id} under an old fence`)
    if (row.covers > shadow.seen) {
      world.violate('I10', `claim ${row.id} covers ${row.covers}, seen is ${shadow.seen}`)
    }
    shadow.running = row
    world.count(`claimed by ${row.by}: ${row.trigger}`)
    if (row.by === 'digest' || row.by === 'clearing') return
    const { attemptWindowMs, attemptsPerWindow, atHardLimit } = world.composition.settings
    const isWaitedFor = row.trigger === 'preflight' || row.trigger === 'reactive'
    if (isWaitedFor && atHardLimit === 'digest') {
      world.violate('I35', `a turn waits for the model of ${row.id}`)
    }
    const now = world.timeline.now + world.sleptMs
    shadow.claims.push({ id: row.id, at: now, isCutShort: false })
    // Wall clocks round what the timeline counts exactly, so at the boundary either result is
    // right.
    const recent = shadow.claims.filter(({ at }) => at > now - attemptWindowMs + 1)
    // Four attempts that ended with their process count as one.
    const paid = recent.reduce((sum, { isCutShort }) => sum + (isCutShort ? 0.25 : 1), 0)
    // Jumping clocks cost a bounded number of extra attempts; steady clocks keep the limit exactly.
    const limit = world.hasBadClocks ? attemptsPerWindow * 4 : attemptsPerWindow
    if (paid > limit) world.violate('I27', `${paid} attempts in a window`)
  }

  #observeAudit(row: Pick<AuditRow, 'operation' | 'phase' | 'kind' | 'sessionId'>): void {
    if (row.operation === null || row.phase === null) return
    const key = `${row.operation} ${row.phase}`
    const known = this.#phases.get(row.operation) ?? new Set()
    this.#phases.set(row.operation, known)
    const isTerminal = row.kind.startsWith('compaction ') && row.phase !== 'started'
    if (known.has(key) || (isTerminal && known.has('ended'))) {
      this.#world.violate('I20', `operation ${row.operation} says ${row.phase} twice`)
    }
    if (isTerminal && !known.has(`${row.operation} started`)) {
      this.#world.violate('I20', `operation ${row.operation} ended without a beginning`)
    }
    known.add(key)
    if (isTerminal) known.add('ended')
  }

  /** A jumped clock defers replies by hours; they must still be sent soon (I25). */
  #observeOutbox(change: StoreChange): void {
    const { timeline } = this.#world
    for (const { sessionId, number, state, dueAt } of change.replies ?? []) {
      const id = `${sessionId} ${number}`
      const isLate = dueAt > WALL_START + timeline.now + 600_000
      if (state === 'waiting' && isLate) this.#putOff.add(id)
      if (state === 'sent' && this.#putOff.delete(id)) {
        this.#world.count('reply put off by a jumped clock')
      }
    }
  }

  withdrawn(sessionId: string, mail: number): void {
    const state = this.shadows.get(sessionId)?.mail[mail - 1]?.state
    if (state !== 'withdrawn') this.#world.violate('I3', `withdrawn mail ${mail} is ${state}`)
  }

  overflowed({ sessionId, turn }: StepRequest): void {
    this.#entries.overflows.add(`${sessionId} ${turn}`)
  }

  /** What a client was told stays true (I1, I4). */
  acknowledged(id: string, ack: { sessionId: string; mail: number; body: string }): void {
    const known = this.acks.get(id)
    if (known !== undefined && (known.mail !== ack.mail || known.sessionId !== ack.sessionId)) {
      this.#world.violate('I4', `${id} was ${known.sessionId}/${known.mail}, now ${ack.mail}`)
    }
    this.acks.set(id, ack)
    const mail = this.shadows.get(ack.sessionId)?.mail[ack.mail - 1]
    if (mail === undefined || mail.body !== ack.body) {
      this.#world.violate('I1', `acknowledged ${id} is not in the mailbox as sent`)
    }
  }

  forgotten(shadow: Shadow): void {
    this.#keeping.forgotten(shadow)
  }

  stepBegins(owner: Life, request: StepRequest): void {
    this.#steps.stepBegins(owner, request)
  }

  isPoisoned(request: StepRequest): boolean {
    return this.#steps.isPoisoned(request)
  }

  toolBegins(owner: Life, request: ToolRequest): void {
    this.#steps.toolBegins(owner, request)
  }

  handoffBegins(owner: Life, request: HandoffRequest): void {
    this.#steps.handoffBegins(owner, request)
  }

  handoffAborted(owner: Life, operation: OperationRow, reason: unknown): void {
    this.#steps.handoffAborted(owner, operation, reason)
  }

  handoffFor(request: HandoffRequest, by: 'model' | 'digest'): Handoff {
    const { operation, messages, cut } = request
    const summary = `${operation.sessionId} ${operation.id} ${operation.covers}`
    const told = messages.slice(0, cut).filter(({ role }) => role !== 'system')
    return handoffOfWords(by, summary, messages.length - cut, wordsIn(JSON.stringify(told)))
  }

  replayContexts(): Promise<void> {
    return this.#steps.replayContexts()
  }

  /** First sends are in order per address; a second send needs a reason (I31). */
  replySent(_owner: Life, reply: ReplyRow): void {
    const world = this.#world
    const id = `${reply.sessionId} ${reply.number}`
    const known = this.#sends.get(id)
    if (known !== undefined) {
      world.count('reply sent twice')
      const isGone = known.claimant === null || !this.#beatsLive(known.claimant)
      if (!isGone && !known.hasFailed)
        world.violate('I31', `reply ${id} sent twice without a fault`)
    } else {
      const place = `${reply.sessionId} ${reply.address}`
      const last = this.#lastSent.get(place) ?? 0
      // An erased reply need not be sent, but a paused process may already hold it.
      const isErased = world.tables.reply(reply.sessionId, reply.number)?.body === null
      if (reply.number < last && isErased) world.count('erased reply sent behind a later one')
      else if (reply.number < last) world.violate('I31', `reply ${id} sent behind ${last}`)
      this.#lastSent.set(place, Math.max(last, reply.number))
    }
    this.#sends.set(id, { claimant: reply.claimant, hasFailed: false })
  }

  #beatsLive(runner: string): boolean {
    return this.#world.tables.runners.has(runner as never)
  }

  sendFailed(reply: ReplyRow): void {
    const known = this.#sends.get(`${reply.sessionId} ${reply.number}`)
    if (known !== undefined) known.hasFailed = true
  }

  wasSent(reply: ReplyRow): boolean {
    return this.#sends.has(`${reply.sessionId} ${reply.number}`)
  }

  crashed(owner: Life): void {
    const held = [...this.shadows.values()].filter((each) => each.runner === owner.runner?.id)
    for (const shadow of held) {
      if (shadow.running !== null) this.#world.count('crash with a compaction in flight')
      if (shadow.openCalls.size > 0) this.#world.count('crash with open calls')
    }
  }

  /** A crash of our own code is a violation, unless a planted bug causes it. */
  actorCrashed(sessionId: string | null, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#world.violate('crash', `actor of ${sessionId}: ${text.slice(0, 600)}`)
  }
}
