import { setTimeout as sleep } from 'node:timers/promises'
import type { Reads } from '#core/store/contract'
import { type FaultFigures, FaultPlan, NO_FAULTS } from './fault-plan.ts'
import { readKept } from './kept.ts'
import { examine } from './laws/examine.ts'
import type { Asked } from './laws/judge.ts'
import { agentNames, firstOrderOf, Ledger, type TrackedMessage } from './laws/ledger.ts'
import { LoadClient } from './load-client.ts'
import type { AgentLine, RehearsalRequest } from './report.ts'
import { WATCHED_PROGRAM } from './stage/agent-terms.ts'
import { type RecordedRequest, RehearsalModel } from './stage/model.ts'
import { type ProcessEvents, ProcessHandle } from './stage/process-handle.ts'
import type { StoreLocation } from './stage/store-location.ts'
import type { Watcher } from './watcher.ts'

/**
 * The agents of the rehearsal: one process each, driven into compaction by clients, sent messages
 * meanwhile, disturbed on schedule, and asked at the end what they know.
 */
export interface CrowdParts {
  readonly request: RehearsalRequest
  readonly location: StoreLocation
  readonly folder: string
  readonly events: ProcessEvents
  readonly onFailure: (text: string) => void
}

const EXTRA_MS_MAX = 30_000
/** About this many messages fill a context. */
const MESSAGES_PER_WINDOW = 12
/** Messages sent while a compaction runs. */
const MEANWHILE = { user: 2, notification: 1 }

export class Crowd {
  readonly names: readonly string[]
  readonly handles: readonly ProcessHandle[]
  readonly ledger: Ledger
  readonly #parts: CrowdParts
  readonly #model: RehearsalModel
  /** Agents that had an external effect. */
  readonly #active = new Set<string>()
  #clients: ReadonlyMap<string, LoadClient> = new Map()
  #faults: FaultPlan | null = null
  #drivenMs = 0

  private constructor(parts: CrowdParts, model: RehearsalModel, ledger: Ledger, modelUrl: string) {
    const { location, folder, request } = parts
    const { windowTokens, sabotage, env } = request
    this.#parts = parts
    this.#model = model
    this.ledger = ledger
    this.names = agentNames(request.agents)
    const events: ProcessEvents = {
      ...parts.events,
      effect: (handle, effect) => {
        this.#active.add(handle.name)
        this.#faults?.chance(handle.name, 'effect')
        parts.events.effect(handle, effect)
      },
    }
    this.handles = this.names.map((name, at) => {
      // The neighbour takes over from a process that is gone or frozen.
      const neighbour = this.names[(at + 1) % this.names.length] ?? name
      const serves = [...new Set([name, neighbour])]
      const options = { name, serves, location, folder, modelUrl, windowTokens, sabotage }
      return new ProcessHandle({ ...options, isOnStage: false }, env, events)
    })
  }

  static async open(parts: CrowdParts): Promise<Crowd> {
    const ledger = new Ledger()
    const model = new RehearsalModel((key) => ledger.find(key)?.text)
    return new Crowd(parts, model, ledger, await model.start())
  }

  get drivenMs(): number {
    return this.#drivenMs
  }

  get faultFigures(): FaultFigures {
    return this.#faults?.figures ?? NO_FAULTS
  }

  get wire(): RecordedRequest {
    return this.#model.record()
  }

  async begin(signal: AbortSignal): Promise<void> {
    // The first one alone, because it finds the store empty; then the others together.
    const [first, ...others] = this.handles
    await first?.start()
    await Promise.all(others.map((handle) => handle.start()))
    signal.throwIfAborted()
    const watched = { program: WATCHED_PROGRAM, seconds: this.#parts.request.seconds }
    await Promise.all(
      this.handles.map(async (handle) => {
        const text = firstOrderOf(handle.name, watched)
        await handle.ask({
          ...{ what: 'admit', sessionId: handle.name, source: 'examiner' },
          ...{ key: `order-${handle.name}`, lane: 'user', text },
        })
      }),
    )
  }

  /** Called when a compaction starts: the moment to send messages and to inject faults. */
  compacting(agent: string): void {
    const client = this.#clients.get(agent)
    client?.bring('user', MEANWHILE.user)
    client?.bring('notification', MEANWHILE.notification)
    this.#faults?.chance(agent, 'compaction')
  }

  /** `isEnough` ends it early. */
  async drive(watcher: Watcher, isEnough: () => boolean, signal: AbortSignal): Promise<void> {
    const { request, onFailure } = this.#parts
    const { seconds, windowTokens, faults } = request
    const { handles, ledger } = this
    const paceMs = Math.min(700, Math.max(150, (seconds * 1_000) / 2 / MESSAGES_PER_WINDOW))
    const clients = new Map(
      this.names.map((agent) => [
        agent,
        new LoadClient({
          ...{ agent, handles, ledger, paceMs, onFailure },
          tokens: Math.floor(windowTokens / MESSAGES_PER_WINDOW),
          sendsTwice: faults.has('duplicates'),
        }),
      ]),
    )
    this.#clients = clients
    const faultPlan = new FaultPlan({
      ...{ terms: request, handles, clients, model: this.#model, onFailure },
    })
    this.#faults = faultPlan
    const over = new AbortController()
    await Promise.all([
      this.#untilDriven(watcher, isEnough, signal).then(() => over.abort()),
      faultPlan.run(over.signal),
      ...[...clients.values()].map((client) => client.run(over.signal)),
    ])
    this.#clients = new Map()
    signal.throwIfAborted()
  }

  /** The given time, or longer on a slow machine: until every agent got a message meanwhile. */
  async #untilDriven(
    watcher: Watcher,
    isEnough: () => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const dueMs = this.#parts.request.seconds * 1_000
    const startedAt = performance.now()
    const isMeanwhile = ({ agent, mail }: TrackedMessage) =>
      mail !== null && watcher.of(agent).meanwhile.has(mail)
    for (;;) {
      await sleep(100)
      this.#drivenMs = performance.now() - startedAt
      const received = new Set(this.ledger.letters.filter(isMeanwhile).map(({ agent }) => agent))
      const isDone = isDriven(this.names, { received, active: this.#active })
      if (isEnough() || signal.aborted || this.#drivenMs > dueMs + EXTRA_MS_MAX) return
      if (this.#drivenMs > dueMs && isDone) return
    }
  }

  async examine(store: Reads, watcher: Watcher): Promise<readonly Asked[]> {
    await watcher.read()
    const kept = await readKept(store, watcher)
    const { letters } = this.ledger
    const asked = await Promise.all(
      this.handles.map(async (handle) => {
        const own = kept.find(({ agent }) => agent === handle.name)
        return own === undefined ? [] : await examine(handle, letters, own, store)
      }),
    )
    return asked.flat()
  }

  lines(watcher: Watcher | null): readonly AgentLine[] {
    const { windowTokens } = this.#parts.request
    return this.handles.map(({ name, status, kills, isReady }) => ({
      ...{ name, windowTokens, kills },
      contextTokens: status?.contextTokens ?? 0,
      state: isReady ? (status?.state ?? 'idle') : 'down',
      isCompacting: status?.isCompacting ?? false,
      waiting: status?.waiting ?? 0,
      compactions: watcher?.of(name).compactions ?? 0,
      acknowledged: this.ledger.acknowledged(name),
    }))
  }

  async close(): Promise<void> {
    await this.#model.stop()
  }
}

/** Whether every agent got a message during a compaction and had an external effect. */
export function isDriven(
  names: readonly string[],
  { received, active }: Readonly<Record<'received' | 'active', ReadonlySet<string>>>,
): boolean {
  return names.every((name) => received.has(name) && active.has(name))
}
