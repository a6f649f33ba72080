import { randomUUID } from 'node:crypto'
import { NO_AUDIT } from '#core/audit/log/log'
import { type Clock, systemClock } from '#core/base/clock'
import { isGone, thisHost } from '#core/base/host'
import type { SessionId } from '#core/base/ids'
import { type Notice, SESSION_SETTINGS, type SessionSettings } from '#core/session/protocol/state'
import { LEASE_TIMES, Runner } from '#core/session/runner'
import { type Edge, Sender } from '#core/session/sender'
import type { Store } from '#core/store/contract'
import { estimateMessage, estimateText } from '#core/tokens/estimate'
import type { Agent, AgentDesk } from './agent.ts'
import { EventHub } from './events/event-hub.ts'
import { type Health, readHealth } from './health.ts'
import { type Logger, SILENT } from './logger.ts'
import { ModelRoom } from './models/model-service.ts'
import type { Rounds } from './periodic-task.ts'
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
import { type RuntimeOptions, SOUND } from './runtime-options.ts'
import { admitMessage } from './sessions/admission.ts'
import { listSummaries, searchAll } from './sessions/all-sessions.ts'
import { Births } from './sessions/session-factory.ts'
import { type SessionDesk, SessionHandle } from './sessions/session-handle.ts'
import { Waits, waitNotice } from './sessions/wait-notices.ts'
import { auditedIntake } from './store-layers/audited-intake.ts'
import { DamagedSessions } from './store-layers/damaged-sessions.ts'
import { forgetting } from './store-layers/erasure-propagation.ts'
import { stagedSweep } from './store-layers/staged-sweep.ts'
import { StoreTrouble } from './store-layers/store-health.ts'
import { erasureRounds } from './store-layers/unfinished-erasures.ts'
import { ToolRoom } from './tools/tool-service.ts'

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
  readonly #trouble: StoreTrouble
  readonly #damaged: DamagedSessions
  readonly #clock: Clock
  readonly #hub: EventHub
  readonly #runner: Runner | null
  readonly #edges: Edge[]
  readonly #room: ModelRoom
  readonly #desk: SessionDesk
  readonly #waits = new Waits()
  readonly #births: Births
  readonly #toolRoom: ToolRoom
  readonly #sweeping: Rounds
  readonly #erasing: Rounds
  #agents: readonly Agent[]
  #desks: ReadonlyMap<string, AgentDesk>

  constructor(options: RuntimeOptions) {
    const { agents, edges = [], logger = SILENT, clock = systemClock, runs = true } = options
    const audit = options.audit ?? NO_AUDIT
    const seams = { ...SOUND, ...options.seams }
    this.#trouble = new StoreTrouble(clock, logger)
    const countTokens = (id: SessionId, text: string) =>
      this.#room.calibrations.correct(id, estimateText(text, 'generic'))
    this.#damaged = new DamagedSessions(logger)
    this.#clock = clock
    const heard = this.#damaged.heard(this.#trouble.heard(seams.store(options.store)))
    const sharesNotes = (agent: string) => this.#desks.get(agent)?.agent.sharesNotes === true
    const store = forgetting({ store: auditedIntake(heard, audit), countTokens, sharesNotes })
    const settings = { ...SESSION_SETTINGS, ...options.settings }
    this.#store = store
    this.#births = new Births(store, () => this.#desks)
    const readWaits = (only: SessionId | undefined) =>
      this.#waits.readStanding(store, { only, ourselves: this.#runner?.id ?? null })
    this.#hub = new EventHub({ store, clock, logger, readWaits })
    this.#sweeping = stagedSweep({ store, clock, logger })
    this.#erasing = erasureRounds({ store, countTokens, sharesNotes, clock, logger })
    this.#edges = [...edges]
    this.#toolRoom = new ToolRoom({
      ...{ store, clock, logger, countTokens },
      onAdmitted: (id) => this.#runner?.wake(id),
      openRoute: (route, scope) => this.#births.openRoute(route, scope),
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
      onStepEnd: (id) => this.#hub.endAttempt(id),
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
      ...{ store, sharesNotes },
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
    await this.#damaged.check(this.#store, this.#clock)
    await Promise.all([this.#toolRoom.start(), this.#room.start()])
    this.#runner.start()
    this.#sweeping.start()
    this.#erasing.start({ firstMs: 0 })
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

  async createSession(request: NewSession): Promise<Created> {
    return await this.#births.create(request)
  }

  async startAfresh(request: RouteAddress & Idempotent): Promise<StartedAfresh> {
    return await this.#births.startAfresh(request)
  }

  async admit(request: RouteAddress & NewMessage): Promise<Admission> {
    const { agent, channel, address, ...message } = request
    const id = await this.#births.openRoute({ agent, channel, address })
    return id === undefined
      ? this.#births.unknownAgent()
      : await admitMessage(this.#desk, id, message)
  }

  async findRoute({ agent, channel, address }: RouteAddress): Promise<SessionId | undefined> {
    return (await this.#store.findRoute({ agent, channel, address }))?.sessionId
  }

  session(id: SessionId): Session {
    return new SessionHandle(id, this.#desk)
  }

  async listSessions(query: SessionQuery): Promise<readonly SessionSummary[]> {
    return await listSummaries(this.#store, query, this.#desk.waitOf)
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
      room: this.#room,
      trouble: this.#trouble.problem,
      problems: [...this.#damaged.problems, ...this.#toolRoom.problems],
    })
  }

  async close(): Promise<void> {
    await this.#sweeping.close()
    await this.#erasing.close()
    await this.#runner?.close()
    await this.#toolRoom.close()
    await this.#room.close()
    await this.#damaged.close()
    await this.#trouble.close()
  }

  #tellWait(
    id: SessionId,
    agent: string,
    { turn, notice, isKnown }: { turn: number; notice: Notice; isKnown: boolean },
  ): void {
    const tellsWaits = this.#desks.get(agent)?.agent.tellsWaits ?? true
    const isTold = tellsWaits || notice !== 'waiting-for-compaction'
    this.#waits.note({ id, turn, notice, isTold })
    if (isTold && !isKnown) this.#hub.publish(id, waitNotice(turn, notice))
  }
}
