import { randomUUID } from 'node:crypto'
import { NO_AUDIT } from '#core/audit/log/log'
import { type Clock, systemClock } from '#core/base/clock'
import { isGone, thisHost } from '#core/base/host'
import type { SessionId } from '#core/base/ids'
import { type Logger, SILENT } from '#core/base/logger'
import { EventHub } from '#core/session/events/event-hub'
import type { EventQuery, RuntimeEvent } from '#core/session/events/runtime-event'
import type { Notice } from '#core/session/protocol/state'
import { Runner } from '#core/session/runner'
import { LEASE_TIMES } from '#core/session/runner-lease'
import { type Edge, Sender } from '#core/session/sender'
import { SESSION_SETTINGS, type SessionSettings } from '#core/session/settings'
import type { Store } from '#core/store/contract'
import { estimateMessage, estimateText } from '#core/tokens/estimate'
import type { Agent, ResolvedAgent } from './agent.ts'
import { type Health, readHealth } from './health.ts'
import { ModelService } from './models/model-service.ts'
import type { PeriodicTask } from './periodic-task.ts'
import type {
  Admission,
  AgentSummary,
  Created,
  Found,
  Idempotent,
  NewMessage,
  NewSession,
  RouteAddress,
  Runtime,
  Session,
  SessionQuery,
  SessionSummary,
  StartedAfresh,
} from './runtime.ts'
import { type RuntimeOptions, SOUND } from './runtime-options.ts'
import { admitMessage } from './sessions/admission.ts'
import { listSummaries, searchAll } from './sessions/all-sessions.ts'
import { SessionFactory } from './sessions/session-factory.ts'
import { type SessionDependencies, SessionHandle } from './sessions/session-handle.ts'
import { WaitNotices, waitNotice } from './sessions/wait-notices.ts'
import { auditedIntake } from './store-layers/audited-intake.ts'
import { DamagedSessions } from './store-layers/damaged-sessions.ts'
import { propagateErasure } from './store-layers/erasure-propagation.ts'
import { stagedSweep } from './store-layers/staged-sweep.ts'
import { StoreHealth } from './store-layers/store-health.ts'
import { unfinishedErasures } from './store-layers/unfinished-erasures.ts'
import { ToolService } from './tools/tool-service.ts'

export type { RuntimeOptions }

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
  readonly #storeHealth: StoreHealth
  readonly #damaged: DamagedSessions
  readonly #clock: Clock
  readonly #hub: EventHub
  readonly #runner: Runner | null
  readonly #edges: Edge[]
  readonly #models: ModelService
  readonly #sessionDeps: SessionDependencies
  readonly #waitNotices = new WaitNotices()
  readonly #sessions: SessionFactory
  readonly #tools: ToolService
  readonly #sweeping: PeriodicTask
  readonly #erasing: PeriodicTask
  #agents: readonly Agent[]
  #resolved: ReadonlyMap<string, ResolvedAgent>

  constructor(options: RuntimeOptions) {
    const { agents, edges = [], logger = SILENT, clock = systemClock, runs = true } = options
    const audit = options.audit ?? NO_AUDIT
    const seams = { ...SOUND, ...options.seams }
    this.#storeHealth = new StoreHealth(clock, logger)
    const countTokens = (id: SessionId, text: string) =>
      this.#models.calibrations.correct(id, estimateText(text, 'generic'))
    this.#damaged = new DamagedSessions(logger)
    this.#clock = clock
    const heard = this.#damaged.heard(this.#storeHealth.heard(seams.store(options.store)))
    const sharesNotes = (agent: string) => this.#resolved.get(agent)?.agent.sharesNotes === true
    const store = propagateErasure({ store: auditedIntake(heard, audit), countTokens, sharesNotes })
    const settings = { ...SESSION_SETTINGS, ...options.settings }
    this.#store = store
    this.#sessions = new SessionFactory(store, () => this.#resolved)
    const readWaitNotices = (only: SessionId | undefined) =>
      this.#waitNotices.readCurrent(store, { only, ourselves: this.#runner?.id ?? null })
    this.#hub = new EventHub({ store, clock, logger, readWaitNotices: readWaitNotices })
    this.#sweeping = stagedSweep({ store, clock, logger })
    this.#erasing = unfinishedErasures({ store, countTokens, sharesNotes, clock, logger })
    this.#edges = [...edges]
    this.#tools = new ToolService({
      ...{ store, clock, logger, countTokens },
      onAdmitted: (id) => this.#runner?.wake(id),
      openRoute: (route, scope) => this.#sessions.openRoute(route, scope),
      environment: options.environment ?? {},
      onToolsChanged: () => this.#takeUpTools(logger),
      ...(options.processes !== undefined && { processes: options.processes }),
    })
    this.#agents = agents
    this.#resolved = this.#tools.resolveAgents(agents)
    this.#models = new ModelService({
      store,
      clock,
      logger,
      environment: options.environment ?? {},
      auxiliary: options.auxiliary ?? {},
      agents: () => this.#resolved,
      countTokens,
      tools: this.#tools.tools,
      onLive: (id, event) => {
        // What is taken back was no answer: whoever waits still does.
        if (event.kind !== 'void') this.#waitNotices.end(id)
        this.#hub.publish(id, event)
      },
      onStepEnd: (id) => this.#hub.endAttempt(id),
      onModelBack: () => this.#runner?.modelIsBack(),
      ...(options.handoffThread !== undefined && { handoffThread: options.handoffThread }),
    })
    const resolved = () => this.#resolved
    const settingsFor = (agent: string): SessionSettings => ({
      ...settings,
      ...this.#resolved.get(agent)?.agent.settings,
    })
    const tools = seams.tools(this.#models.tools)
    const { model, digest } = this.#models.writers
    const writers = { model: seams.writer(model), digest: seams.writer(digest) }
    this.#runner = runs
      ? new Runner({
          store,
          clock,
          steps: seams.steps(this.#models.steps, tools),
          tools,
          writers,
          decisions: seams.decisions,
          settings,
          settingsFor,
          handoffMsMax: HANDOFF_MS_MAX,
          audit,
          wantedFor: (agent) => this.#resolved.get(agent)?.wanted,
          onNotice: (id, agent, wait) => this.#announceWait(id, agent, wait),
          onStop: (id) => this.#models.interrupt(id),
          get agents() {
            return [...resolved().keys()]
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
    this.#sessionDeps = {
      ...{ store, sharesNotes },
      refreshMemory: (id) => this.#tools.refreshMemory(id),
      interrupt: (id) => this.#models.interrupt(id),
      hub: this.#hub,
      settingsFor,
      writerFor: () => this.#models.writers.preview,
      countMessage: (id, message) =>
        this.#models.calibrations.correct(id, estimateMessage(message, 'generic')),
      countText: countTokens,
      wake: (id) => this.#runner?.wake(id),
      waitOf: (session) => this.#waitNotices.of(session, this.#runner?.id ?? null),
    }
  }

  async start(): Promise<void> {
    if (this.#runner === null) return
    await this.#damaged.check(this.#store, this.#clock)
    await Promise.all([this.#tools.start(), this.#models.start()])
    this.#runner.start()
    this.#sweeping.start()
    this.#erasing.start({ firstMs: 0 })
  }

  get agents(): readonly AgentSummary[] {
    return [...this.#resolved.values()].map((resolved) => resolved.summary)
  }

  /** From the next turn of each session on. */
  reconfigure(agents: readonly Agent[]): void {
    // Refused as a whole: what cannot be built leaves everything as it was.
    this.#resolved = this.#tools.resolveAgents(agents)
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

  async createSession(request: NewSession): Promise<Created> {
    return await this.#sessions.create(request)
  }

  async startAfresh(request: RouteAddress & Idempotent): Promise<StartedAfresh> {
    return await this.#sessions.startAfresh(request)
  }

  async admit(request: RouteAddress & NewMessage): Promise<Admission> {
    const { agent, channel, address, ...message } = request
    const id = await this.#sessions.openRoute({ agent, channel, address })
    return id === undefined
      ? this.#sessions.unknownAgent()
      : await admitMessage(this.#sessionDeps, id, message)
  }

  async findRoute({ agent, channel, address }: RouteAddress): Promise<SessionId | undefined> {
    return (await this.#store.findRoute({ agent, channel, address }))?.sessionId
  }

  session(id: SessionId): Session {
    return new SessionHandle(id, this.#sessionDeps)
  }

  async listSessions(query: SessionQuery): Promise<readonly SessionSummary[]> {
    return await listSummaries(this.#store, query, this.#sessionDeps.waitOf)
  }

  async search(query: { text: string; agent?: string; limit: number }): Promise<readonly Found[]> {
    return await searchAll(this.#store, query)
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
      models: this.#models,
      storeError: this.#storeHealth.problem,
      problems: [...this.#damaged.problems, ...this.#tools.problems],
    })
  }

  async close(): Promise<void> {
    await this.#sweeping.close()
    await this.#erasing.close()
    await this.#runner?.close()
    await this.#tools.close()
    await this.#models.close()
    await this.#damaged.close()
    await this.#storeHealth.close()
  }

  #announceWait(
    id: SessionId,
    agent: string,
    { turn, notice, isKnown }: { turn: number; notice: Notice; isKnown: boolean },
  ): void {
    const notifiesOfCompaction = this.#resolved.get(agent)?.agent.notifiesOfCompaction ?? true
    const isVisible = notifiesOfCompaction || notice !== 'waiting-for-compaction'
    this.#waitNotices.note({ id, turn, notice, isVisible: isVisible })
    if (isVisible && !isKnown) this.#hub.publish(id, waitNotice(turn, notice))
  }
}
