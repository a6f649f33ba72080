import type { SessionId } from '#core/base/ids'
import { EventHub } from '#core/session/events/event-hub'
import type { EventQuery, RuntimeEvent } from '#core/session/events/runtime-event'
import type { Runner } from '#core/session/runner/runner'
import type { Store } from '#core/store/contract'
import { type Activity, ActivityLog } from './activity.ts'
import type { Agent, ResolvedAgent } from './agent.ts'
import { type Health, readHealth } from './health.ts'
import { ModelService } from './models/model-service.ts'
import { openRunner } from './open-runner.ts'
import type {
  Admission,
  AgentSummary,
  Created,
  Edge,
  FoundEntries,
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
import { completeOptions, type RuntimeOptions } from './runtime-options.ts'
import { admitMessage } from './sessions/admission.ts'
import { listSummaries, searchAll } from './sessions/all-sessions.ts'
import { forkSession, SessionFactory } from './sessions/session-factory.ts'
import { type SessionDependencies, SessionHandle } from './sessions/session-handle.ts'
import { WaitNotices, waitNotice } from './sessions/wait-notices.ts'
import { LayeredStore } from './store-layers/layered-store.ts'
import { ToolService } from './tools/tool-service.ts'
import { readUsage, type UsageGroup, type UsageQuery } from './usage.ts'

export type { RuntimeOptions }

/** Opens a runtime in this process. The caller owns the store and closes it afterwards. */
export async function openRuntime(options: RuntimeOptions): Promise<LocalRuntime> {
  const runtime = new LocalRuntime(options)
  // An unreadable store fails here, not at the first message.
  await options.store.readStore()
  await runtime.start()
  return runtime
}

export class LocalRuntime implements Runtime {
  readonly #layers: LayeredStore
  readonly #store: Store
  readonly #hub: EventHub
  readonly #runner: Runner | null
  readonly #edges: Edge[]
  readonly #models: ModelService
  readonly #sessionDeps: SessionDependencies
  readonly #waitNotices = new WaitNotices()
  readonly #sessions: SessionFactory
  readonly #tools: ToolService
  readonly #activity: ActivityLog
  #agents: readonly Agent[]
  #resolved: ReadonlyMap<string, ResolvedAgent>

  constructor(options: RuntimeOptions) {
    const complete = completeOptions(options)
    const { agents, logger, clock, audit, environment, settings, seams, retention } = complete
    const countTokens = (id: SessionId, text: string) => this.#models.countText(id, text)
    const sharesNotes = (agent: string) => this.#resolved.get(agent)?.agent.sharesNotes === true
    this.#layers = new LayeredStore({
      ...{ store: seams.store(options.store), clock, logger, audit, countTokens, sharesNotes },
      ...{ retention, embedder: options.embedder },
    })
    const { store, embedQuestion } = this.#layers
    this.#store = store
    this.#activity = new ActivityLog(store, clock)
    this.#sessions = new SessionFactory(store, () => this.#resolved)
    const readWaitNotices = (only: SessionId | undefined) =>
      this.#waitNotices.readCurrent(store, { only, ourselves: this.#runner?.id ?? null })
    this.#hub = new EventHub({ store, clock, logger, readWaitNotices })
    this.#edges = [...complete.edges]
    this.#tools = new ToolService({
      ...{ store, clock, logger, countTokens, environment, embedQuestion },
      onAdmitted: (id) => this.#runner?.wake(id),
      openRoute: (route, scope) => this.#sessions.openRoute(route, scope),
      onToolsChanged: () => {
        // A tool that cannot be used must not fail the server's notification.
        try {
          this.reconfigure(this.#agents)
        } catch (error) {
          logger.error({ err: error }, 'changed tools of servers not taken up')
        }
      },
      ...(options.processes !== undefined && { processes: options.processes }),
    })
    this.#agents = agents
    this.#resolved = this.#tools.resolveAgents(agents)
    this.#models = new ModelService({
      ...{ store, clock, logger, environment, auxiliary: complete.auxiliary, countTokens },
      agents: () => this.#resolved,
      tools: this.#tools.tools,
      onLive: (id, event) => {
        // The attempt's text was withdrawn, so the turn still waits.
        if (event.kind !== 'void' && event.kind !== 'notice') this.#waitNotices.end(id)
        if (event.kind === 'notice' && event.code === 'retrying')
          this.#waitNotices.noteRetry(id, event, clock.now())
        this.#hub.publish(id, event)
      },
      onStepEnd: (id) => this.#hub.endAttempt(id),
      ...(options.handoffThread !== undefined && { handoffThread: options.handoffThread }),
      onModelBack: (count, asks) => this.#runner?.modelIsBack(count, asks) ?? 0,
    })
    const settingsFor = (agent: string) => ({
      ...settings,
      ...this.#resolved.get(agent)?.agent.settings,
    })
    this.#runner = complete.runs
      ? openRunner({
          ...complete,
          ...{ models: this.#models, edges: this.#edges, settingsFor },
          store: this.#models.runnerStore,
          agents: () => this.#resolved,
          onNotice: (id, agent, { kind: _, isKnown, ...noted }) => {
            const notifies = this.#resolved.get(agent)?.agent.notifiesOfCompaction ?? true
            const isVisible = notifies || noted.notice !== 'waiting-for-compaction'
            this.#waitNotices.note({ id, ...noted, isVisible })
            if (!isVisible) return
            const update = isKnown ? { isUpdate: true as const } : {}
            this.#hub.publish(id, { ...waitNotice(noted), ...update })
          },
        })
      : null
    const evidence = { store, reasonToPause: this.#models.reasonToPause }
    this.#sessionDeps = {
      ...{ store, sharesNotes, hub: this.#hub, settingsFor, countText: countTokens },
      notesTokensMax: (agent) => this.#resolved.get(agent)?.agent.notesTokensMax,
      fork: async (from, request) => {
        const forked = await forkSession(store, from, request)
        if ('sessionId' in forked) await this.#tools.refreshIfPossible(forked.sessionId)
        return forked
      },
      refreshMemory: (id) => this.#tools.refreshMemory(id),
      interrupt: (id) => this.#models.interrupt(id),
      previewWriter: () => this.#models.writers.preview,
      countMessage: (id, message) => this.#models.countMessage(id, message),
      wake: (id) => this.#runner?.wake(id),
      embedQuestion,
      leftOf: complete.leftOf,
      waitOf: (session) => this.#waitNotices.ofAny(evidence, session, this.#runner?.id ?? null),
    }
  }

  async start(): Promise<void> {
    if (this.#runner === null) return
    await this.#layers.check()
    await Promise.all([this.#tools.start(), this.#models.start()])
    this.#runner.start()
    this.#layers.startUpkeep()
  }

  get agents(): readonly AgentSummary[] {
    return [...this.#resolved.values()].map((resolved) => resolved.summary)
  }

  /** Takes effect with the next turn of each session. */
  reconfigure(agents: readonly Agent[]): void {
    // All or nothing: if one agent cannot be built, nothing changes.
    this.#resolved = this.#tools.resolveAgents(agents)
    this.#agents = agents
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
    return await listSummaries(this.#store, query, this.#sessionDeps)
  }

  async search(query: { text: string; agent?: string; limit: number }): Promise<FoundEntries> {
    return await searchAll(this.#sessionDeps, query)
  }

  async usage(query: UsageQuery): Promise<readonly UsageGroup[]> {
    return await readUsage(this.#store, query)
  }

  async activity(): Promise<Activity> {
    return await this.#activity.read()
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
      storeError: this.#layers.error,
      problems: [...this.#layers.problems, ...this.#tools.problems],
    })
  }

  async close(): Promise<void> {
    await this.#layers.stopUpkeep()
    await this.#runner?.close()
    await this.#tools.close()
    await this.#models.close()
    await this.#layers.close()
  }
}
