import { randomBytes, randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../base/clock.ts'
import { KnownError } from '../base/errors.ts'
import { operationId, type SessionId, sessionId } from '../base/ids.ts'
import { type AuditWriter, NO_AUDIT } from '../events/log.ts'
import type { Environment } from '../model/credential.ts'
import { DECISIONS, type Decisions } from '../session/decisions.ts'
import type { HandoffWriter } from '../session/handoff.ts'
import { LEASE_TIMES, type LeaseTimes, Runner } from '../session/runner.ts'
import { type Edge, Sender } from '../session/sender.ts'
import { type Notice, SESSION_SETTINGS, type SessionSettings } from '../session/state.ts'
import { LIST_MAX } from '../store/bounds.ts'
import type { Store } from '../store/contract.ts'
import type { RunnerRow } from '../store/rows.ts'
import { estimateMessage, estimateText } from '../tokens/estimate.ts'
import type { ProcessLimits } from '../tools/process/processes.ts'
import type { StepRunner, ToolRunner } from '../turn/step.ts'
import type { Agent, AgentDesk } from './agent.ts'
import { auditedIntake } from './audited-intake.ts'
import { EventHub } from './event-hub.ts'
import { type Health, readHealth } from './health.ts'
import { isGone, thisHost } from './host.ts'
import { type Logger, SILENT } from './logger.ts'
import { type AuxiliaryTerms, ModelRoom } from './model-room.ts'
import type {
  Admission,
  AgentSummary,
  Created,
  EventQuery,
  Found,
  Idempotent,
  NewMessage,
  NewSession,
  RouteAddress,
  Runtime,
  RuntimeEvent,
  Session,
  SessionQuery,
  SessionSummary,
  StartedAfresh,
} from './runtime.ts'
import { admitMessage, type SessionDesk, SessionHandle, searchSession } from './session-handle.ts'
import { StoreTrouble } from './store-trouble.ts'
import { ToolRoom } from './tool-room.ts'
import { summaryOf } from './views.ts'
import { NOTICES, Waits } from './waits.ts'

export interface RuntimeOptions {
  readonly store: Store
  readonly agents: readonly Agent[]
  readonly edges?: readonly Edge[]
  readonly logger?: Logger
  readonly clock?: Clock
  /** Where credentials that are variables come from; usually `process.env`. */
  readonly environment?: Environment
  readonly settings?: Partial<SessionSettings>
  /** Bounds of programs that agents start. */
  readonly processes?: ProcessLimits
  /** Terms of the calls beside the conversation: tasks, what may be spent, prices. */
  readonly auxiliary?: AuxiliaryTerms
  /** Where audit lines go; the caller opens and closes it. */
  readonly audit?: AuditWriter
  readonly lease?: LeaseTimes
  /** False: admits, reads and sends nothing; sessions are run by other processes. */
  readonly runs?: boolean
  /** Puts something in the place of a part: how failpoints and planted bugs get in. */
  readonly seams?: Partial<Seams>
}

export interface Seams {
  readonly store: (store: Store) => Store
  readonly steps: (steps: StepRunner, tools: ToolRunner) => StepRunner
  readonly tools: (tools: ToolRunner) => ToolRunner
  readonly writer: (writer: HandoffWriter) => HandoffWriter
  readonly decisions: Decisions
  /** What is made of the truth about another runner's process. */
  readonly isGone: (row: RunnerRow, isDead: boolean) => boolean
}

const SOUND: Seams = {
  store: (store) => store,
  steps: (steps) => steps,
  tools: (tools) => tools,
  writer: (writer) => writer,
  decisions: DECISIONS,
  isGone: (_row, isDead) => isDead,
}

/** Opens this process's share of the work. The store stays the caller's: close it afterwards. */
export async function openRuntime(options: RuntimeOptions): Promise<LocalRuntime> {
  const runtime = new LocalRuntime(options)
  // A store that cannot be read is found out now, not at the first message.
  await options.store.readStore()
  await runtime.start()
  return runtime
}

const HANDOFF_MS_MAX = 10 * 60_000
const SEND_RETRY_MS = 1_000
const SEND_ATTEMPTS_MAX = 20

/** Each attempt loses only to somebody who moved the route meanwhile. */
const AFRESH_ATTEMPTS_MAX = 20

export class RouteBusyError extends KnownError {
  override readonly name = 'RouteBusyError'
  readonly code = 'route-busy'
  readonly retryable = true

  constructor() {
    super(`The route was moved by others ${AFRESH_ATTEMPTS_MAX} times in a row; ask again later.`)
  }
}

export class LocalRuntime implements Runtime {
  readonly #store: Store
  readonly #trouble: StoreTrouble
  readonly #hub: EventHub
  readonly #runner: Runner | null
  readonly #edges: Edge[]
  readonly #room: ModelRoom
  readonly #desk: SessionDesk
  readonly #waits = new Waits()
  readonly #toolRoom: ToolRoom
  #agents: readonly Agent[]
  #desks: ReadonlyMap<string, AgentDesk>

  constructor(options: RuntimeOptions) {
    const { agents, edges = [], logger = SILENT, clock = systemClock, runs = true } = options
    const audit = options.audit ?? NO_AUDIT
    const seams = { ...SOUND, ...options.seams }
    this.#trouble = new StoreTrouble(clock, logger)
    const store = auditedIntake(this.#trouble.heard(seams.store(options.store)), audit)
    const settings = { ...SESSION_SETTINGS, ...options.settings }
    this.#store = store
    this.#hub = new EventHub({ store, clock, logger })
    this.#edges = [...edges]
    const countTokens = (id: SessionId, text: string) =>
      this.#room.calibrations.correct(id, estimateText(text, 'generic'))
    this.#toolRoom = new ToolRoom({
      ...{ store, clock, logger, countTokens },
      onAdmitted: (id) => this.#runner?.wake(id),
      openRoute: (route) => this.#openRoute(route),
      environment: options.environment ?? {},
      onToolsChanged: () => this.#takeUpTools(logger),
      ...(options.processes !== undefined && { processes: options.processes }),
    })
    this.#agents = agents
    this.#desks = this.#toolRoom.desksOf(agents)
    this.#room = new ModelRoom({
      store,
      clock,
      logger,
      environment: options.environment ?? {},
      auxiliary: options.auxiliary ?? {},
      desks: () => this.#desks,
      countTokens,
      tools: this.#toolRoom.tools,
      onLive: (id, event) => {
        // What is taken back was no answer: whoever waits still does.
        if (event.kind !== 'void') this.#waits.end(id)
        this.#hub.publish(id, event)
      },
      onModelBack: () => this.#runner?.modelIsBack(),
    })
    const desks = () => this.#desks
    const settingsFor = (agent: string): SessionSettings => ({
      ...settings,
      ...this.#desks.get(agent)?.agent.settings,
    })
    const tools = seams.tools(this.#room.tools)
    const { model, digest } = this.#room.writers
    const writers = { model: seams.writer(model), digest: seams.writer(digest) }
    this.#runner = runs
      ? new Runner({
          store,
          clock,
          steps: seams.steps(this.#room.steps, tools),
          tools,
          writers,
          decisions: seams.decisions,
          settings,
          settingsFor,
          handoffMsMax: HANDOFF_MS_MAX,
          audit,
          wantedFor: (agent) => this.#desks.get(agent)?.wanted,
          onNotice: (id, agent, told) => this.#tellWait(id, agent, told),
          onStop: (id) => this.#room.interrupt(id),
          get agents() {
            return [...desks().keys()]
          },
          host: thisHost(),
          isGone: (row) => seams.isGone(row, isGone(row)),
          lease: options.lease ?? LEASE_TIMES,
          random: () => randomUUID().replaceAll('-', ''),
          sender: new Sender({
            store,
            clock,
            edges: this.#edges,
            retryMs: SEND_RETRY_MS,
            attemptsMax: SEND_ATTEMPTS_MAX,
          }),
          onCrash: (id, error) => logger.error({ sessionId: id, err: error }, 'session crashed'),
        })
      : null
    this.#desk = {
      store,
      refreshMemory: (id) => this.#toolRoom.refreshMemory(id),
      interrupt: (id) => this.#room.interrupt(id),
      hub: this.#hub,
      settingsFor,
      writerFor: () => this.#room.writers.preview,
      countMessage: (id, message) =>
        this.#room.calibrations.correct(id, estimateMessage(message, 'generic')),
      countText: countTokens,
      wake: (id) => this.#runner?.wake(id),
      waitOf: (session) => this.#waits.of(session, this.#runner?.id ?? null),
    }
  }

  async start(): Promise<void> {
    if (this.#runner === null) return
    await this.#toolRoom.start()
    this.#runner.start()
  }

  get agents(): readonly AgentSummary[] {
    return [...this.#desks.values()].map((desk) => desk.summary)
  }

  /** From the next turn of each session on. */
  reconfigure(agents: readonly Agent[]): void {
    // Refused as a whole: what cannot be built leaves everything as it was.
    this.#desks = this.#toolRoom.desksOf(agents)
    this.#agents = agents
  }

  /** What servers offer has changed. Whatever is wrong with that, it is not theirs to hear. */
  #takeUpTools(logger: Logger): void {
    try {
      this.reconfigure(this.#agents)
    } catch (error) {
      logger.error({ err: error }, 'changed tools of servers not taken up')
    }
  }

  async createSession({ agent, id, route }: NewSession): Promise<Created> {
    const desk = this.#desks.get(agent)
    if (desk === undefined) return this.#unknownAgent()
    const chosen = id === undefined ? newSessionId(agent) : sessionId(id)
    const { limits, policy = 'steer' } = desk.wanted
    const outcome = await this.#store.createSession({
      id: chosen,
      agent,
      limits,
      policy,
      ...(route !== undefined && { route: { agent, ...route } }),
      operation: operationId(randomUUID()),
    })
    switch (outcome.kind) {
      case 'created':
        return { kind: 'created', sessionId: chosen }
      case 'exists':
        return { kind: 'exists', sessionId: chosen }
      case 'route-taken':
        return outcome
      case 'limits-refused':
        throw new Error('An agent was configured with limits that do not fit its window.')
    }
  }

  async startAfresh(request: RouteAddress & Idempotent): Promise<StartedAfresh> {
    const { agent, channel, address, source, key } = request
    const desk = this.#desks.get(agent)
    if (desk === undefined) return this.#unknownAgent()
    const route = { agent, channel, address }
    const { limits, policy = 'steer' } = desk.wanted
    for (let attempt = 1; attempt <= AFRESH_ATTEMPTS_MAX; attempt++) {
      const version = (await this.#store.findRoute(route))?.version ?? 0
      const id = newSessionId(agent)
      const operation = operationId(randomUUID())
      const outcome = await this.#store.startAfresh({
        ...{ source, key, route, version, id, limits, policy, operation },
      })
      if (outcome.kind === 'started' || outcome.kind === 'duplicate') {
        return { kind: outcome.kind, sessionId: outcome.sessionId }
      }
      if (outcome.kind !== 'route-changed' && outcome.kind !== 'exists') {
        throw new Error(`A session could not be started afresh: ${outcome.kind}.`)
      }
    }
    throw new RouteBusyError()
  }

  async admit(request: RouteAddress & NewMessage): Promise<Admission> {
    const { agent, channel, address, ...message } = request
    const id = await this.#openRoute({ agent, channel, address })
    return id === undefined ? this.#unknownAgent() : await admitMessage(this.#desk, id, message)
  }

  async findRoute({ agent, channel, address }: RouteAddress): Promise<SessionId | undefined> {
    return (await this.#store.findRoute({ agent, channel, address }))?.sessionId
  }

  session(id: SessionId): Session {
    return new SessionHandle(id, this.#desk)
  }

  async listSessions(query: SessionQuery): Promise<readonly SessionSummary[]> {
    const rows = await this.#store.listSessions(query)
    return await Promise.all(
      rows.map(async (row) => {
        const [source, routes] = await Promise.all([
          this.#store.readContext({ sessionId: row.id }),
          this.#store.listRoutes({ sessionId: row.id }),
        ])
        return summaryOf(row, { source, routes, waits: this.#desk.waitOf(row) })
      }),
    )
  }

  async search(query: { text: string; agent?: string; limit: number }): Promise<readonly Found[]> {
    const { text, agent, limit } = query
    const found: Found[] = []
    let after: SessionId | undefined
    for (;;) {
      const rows = await this.#store.listSessions({
        ...(agent !== undefined && { agent }),
        ...(after !== undefined && { after }),
        limit: LIST_MAX,
      })
      for (const row of rows) {
        const left = limit - found.length
        if (left <= 0) return found
        found.push(...(await searchSession(this.#store, row, { text, limit: left, neighbours: 0 })))
      }
      after = rows.at(-1)?.id
      if (rows.length < LIST_MAX || after === undefined) return found
    }
  }

  events(query: EventQuery, signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return this.#hub.events(query, signal)
  }

  attach(edge: Edge): void {
    this.#edges.push(edge)
  }

  async health(): Promise<Health> {
    return await readHealth({
      store: this.#store,
      runner: this.#runner,
      edges: this.#edges,
      room: this.#room,
      trouble: this.#trouble.problem,
      problems: this.#toolRoom.problems,
    })
  }

  async close(): Promise<void> {
    await this.#runner?.close()
    await this.#toolRoom.close()
    await this.#room.close()
    await this.#trouble.close()
  }

  /** The session of a route, made where there is none and the agent is known. */
  async #openRoute(route: RouteAddress): Promise<SessionId | undefined> {
    const known = await this.findRoute(route)
    if (known !== undefined) return known
    const { agent, channel, address } = route
    const created = await this.createSession({ agent, route: { channel, address } })
    return created.kind === 'unknown-agent' ? undefined : created.sessionId
  }

  #unknownAgent() {
    return { kind: 'unknown-agent', agents: [...this.#desks.keys()] } as const
  }

  #tellWait(
    id: SessionId,
    agent: string,
    { turn, notice, isKnown }: { turn: number; notice: Notice; isKnown: boolean },
  ): void {
    this.#waits.note(id, turn, notice)
    const isTold = this.#desks.get(agent)?.agent.tellsWaits ?? true
    if (isKnown || (!isTold && notice === 'waiting-for-compaction')) return
    this.#hub.publish(id, { kind: 'notice', turn, code: notice, text: NOTICES[notice] })
  }
}

/** Readable, sorted by day, and never the same: `main-20261115-k3j9x2pq7d`. */
function newSessionId(agent: string): SessionId {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  const chance = BigInt(`0x${randomBytes(8).toString('hex')}`).toString(36)
  return sessionId(`${agent.slice(0, 32)}-${day}-${chance}`)
}
