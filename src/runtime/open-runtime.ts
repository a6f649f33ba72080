import { randomBytes, randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../base/clock.ts'
import { operationId, type SessionId, sessionId } from '../base/ids.ts'
import { type AuditWriter, NO_AUDIT } from '../events/log.ts'
import type { Environment } from '../model/credential.ts'
import { buildContext } from '../session/context.ts'
import { DECISIONS, type Decisions } from '../session/decisions.ts'
import type { HandoffWriter } from '../session/handoff.ts'
import { LEASE_TIMES, type LeaseTimes, Runner } from '../session/runner.ts'
import { type Edge, Sender } from '../session/sender.ts'
import { type Notice, SESSION_SETTINGS, type SessionSettings } from '../session/state.ts'
import { LIST_MAX } from '../store/bounds.ts'
import type { Store } from '../store/contract.ts'
import { estimateMessage, estimateText } from '../tokens/estimate.ts'
import type { ProcessLimits } from '../tools/process/processes.ts'
import type { StepRunner, ToolRunner } from '../turn/step.ts'
import type { Agent, AgentDesk } from './agent.ts'
import { auditedIntake } from './audited-intake.ts'
import { EventHub } from './event-hub.ts'
import { isGone, thisHost } from './host.ts'
import { type Logger, SILENT } from './logger.ts'
import { type AuxiliaryTerms, ModelRoom } from './model-room.ts'
import type {
  Admission,
  AgentSummary,
  Created,
  EventQuery,
  Found,
  Health,
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
import { ToolRoom } from './tool-room.ts'
import { summaryOf } from './views.ts'

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
}

const SOUND: Seams = {
  store: (store) => store,
  steps: (steps) => steps,
  tools: (tools) => tools,
  writer: (writer) => writer,
  decisions: DECISIONS,
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

export class LocalRuntime implements Runtime {
  readonly #store: Store
  readonly #hub: EventHub
  readonly #runner: Runner | null
  readonly #edges: Edge[]
  readonly #room: ModelRoom
  readonly #desk: SessionDesk
  readonly #waits = new Map<SessionId, Notice>()
  readonly #toolRoom: ToolRoom
  #agents: readonly Agent[]
  #desks: ReadonlyMap<string, AgentDesk>

  constructor(options: RuntimeOptions) {
    const { agents, edges = [], logger = SILENT, clock = systemClock, runs = true } = options
    const audit = options.audit ?? NO_AUDIT
    const seams = { ...SOUND, ...options.seams }
    const store = auditedIntake(seams.store(options.store), audit)
    const settings = { ...SESSION_SETTINGS, ...options.settings }
    this.#store = store
    this.#hub = new EventHub(store)
    this.#edges = [...edges]
    const countTokens = (id: SessionId, text: string) =>
      this.#room.calibrations.correct(id, estimateText(text, 'generic'))
    this.#toolRoom = new ToolRoom({
      ...{ store, clock, logger, countTokens },
      onAdmitted: (id) => this.#runner?.wake(id),
      openRoute: (route) => this.#openRoute(route),
      environment: options.environment ?? {},
      onToolsChanged: () => this.reconfigure(this.#agents),
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
      deskOf: (agent) => this.#desks.get(agent),
      tools: this.#toolRoom.tools,
      onLive: (id, event) => {
        // What is taken back was no answer: whoever waits still does.
        if (event.kind !== 'void') this.#waits.delete(id)
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
          get agents() {
            return [...desks().keys()]
          },
          host: thisHost(),
          isGone,
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
      hub: this.#hub,
      settingsFor,
      writerFor: () => this.#room.writers.model,
      countMessage: (id, message) =>
        this.#room.calibrations.correct(id, estimateMessage(message, 'generic')),
      countText: countTokens,
      wake: (id) => this.#runner?.wake(id),
      waitOf: (id) => this.#waits.get(id),
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
    for (;;) {
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
        const source = await this.#store.readContext({ sessionId: row.id })
        const tokens = source === null ? 0 : buildContext(source, source.limits, row.tail).tokens
        return summaryOf(row, tokens, this.#waits.get(row.id))
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
    const { schema, commits } = await this.#store.readStore()
    const runners = await this.#store.listRunners()
    const waiting = await this.#store.listReplies({ state: 'waiting', limit: LIST_MAX })
    const dead = await this.#store.listReplies({ state: 'dead', limit: LIST_MAX })
    const runner = this.#runner
    const holdsLease = runner?.mayAct() ?? false
    const problems = [
      ...(dead.length === 0 ? [] : [`${dead.length} replies could not be sent`]),
      ...this.#edges.flatMap((edge) => edge.problems?.() ?? []),
      ...this.#toolRoom.problems,
    ]
    return {
      isReady: runner === null || holdsLease,
      store: { schema, commits },
      runner: { id: runner?.id ?? null, holdsLease, sessions: runner?.sessions.length ?? 0 },
      runners: runners.map(({ id, process, beat }) => ({ id, process, beat })),
      routes: this.#room.health(),
      edges: this.#edges.map(({ name }) => ({
        name,
        waiting: waiting.filter((row) => row.edge === name).length,
        dead: dead.filter((row) => row.edge === name).length,
      })),
      problems,
    }
  }

  async close(): Promise<void> {
    await this.#runner?.close()
    await this.#toolRoom.close()
    await this.#room.close()
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
    this.#waits.set(id, notice)
    const isTold = this.#desks.get(agent)?.agent.tellsWaits ?? true
    if (isKnown || (!isTold && notice === 'waiting-for-compaction')) return
    this.#hub.publish(id, { kind: 'notice', turn, code: notice, text: NOTICES[notice] })
  }
}

/** What the person who waits is told. */
const NOTICES: { readonly [notice in Notice]: string } = {
  'waiting-for-compaction':
    'Your message is safe. I am putting a long conversation in order and will answer right after.',
  'waiting-for-model':
    'Your message is safe. The model cannot be reached just now; I will answer when it is back.',
}

/** Readable, sorted by day, and never the same: `main-20261115-k3j9x2pq7d`. */
function newSessionId(agent: string): SessionId {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  const chance = BigInt(`0x${randomBytes(8).toString('hex')}`).toString(36)
  return sessionId(`${agent.slice(0, 32)}-${day}-${chance}`)
}
