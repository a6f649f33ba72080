import { setTimeout as sleep } from 'node:timers/promises'
import type { Reads } from '#core/store/contract'
import { Courier } from './courier.ts'
import { readKept } from './kept.ts'
import { examine } from './laws/examine.ts'
import type { Asked } from './laws/judge.ts'
import { agentNames, firstOrderOf, Ledger, type Letter } from './laws/ledger.ts'
import type { AgentLine, RehearsalRequest } from './report.ts'
import { WATCHED_PROGRAM } from './stage/agent-terms.ts'
import { RehearsalModel, type WireRecord } from './stage/model.ts'
import type { Place } from './stage/place.ts'
import { Seat, type SeatEvents } from './stage/process-handle.ts'
import { NO_TROUBLES, type TroubleFigures, Troubles } from './troubles.ts'
import type { Watcher } from './watcher.ts'

/**
 * The agents of the worst day: a process each, driven by couriers into compaction, written to
 * meanwhile, troubled on time, and asked at the end what they know.
 */
export interface CrowdParts {
  readonly request: RehearsalRequest
  readonly place: Place
  readonly folder: string
  readonly events: SeatEvents
  readonly onTrouble: (text: string) => void
}

const EXTRA_MS_MAX = 30_000
/** A context is full after so many messages, more or less. */
const MESSAGES_PER_WINDOW = 12
/** What comes while a compaction runs. */
const MEANWHILE = { user: 2, notification: 1 }

export class Crowd {
  readonly names: readonly string[]
  readonly seats: readonly Seat[]
  readonly ledger: Ledger
  readonly #parts: CrowdParts
  readonly #model: RehearsalModel
  /** Those that had an effect outside. */
  readonly #active = new Set<string>()
  #couriers: ReadonlyMap<string, Courier> = new Map()
  #troubles: Troubles | null = null
  #drivenMs = 0

  private constructor(parts: CrowdParts, model: RehearsalModel, ledger: Ledger, modelUrl: string) {
    const { place, folder, request } = parts
    const { windowTokens, sabotage, env } = request
    this.#parts = parts
    this.#model = model
    this.ledger = ledger
    this.names = agentNames(request.agents)
    const events: SeatEvents = {
      ...parts.events,
      effect: (seat, effect) => {
        this.#active.add(seat.name)
        this.#troubles?.chance(seat.name, 'effect')
        parts.events.effect(seat, effect)
      },
    }
    this.seats = this.names.map((name, at) => {
      // The neighbour takes over from whoever is gone or held.
      const neighbour = this.names[(at + 1) % this.names.length] ?? name
      const serves = [...new Set([name, neighbour])]
      const options = { name, serves, place, folder, modelUrl, windowTokens, sabotage }
      return new Seat({ ...options, isOnStage: false }, env, events)
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

  get troubleFigures(): TroubleFigures {
    return this.#troubles?.figures ?? NO_TROUBLES
  }

  get wire(): WireRecord {
    return this.#model.record()
  }

  async begin(signal: AbortSignal): Promise<void> {
    // One first: it finds the store empty. The others come together.
    const [first, ...others] = this.seats
    await first?.start()
    await Promise.all(others.map((seat) => seat.start()))
    signal.throwIfAborted()
    const watched = { program: WATCHED_PROGRAM, seconds: this.#parts.request.seconds }
    await Promise.all(
      this.seats.map(async (seat) => {
        const text = firstOrderOf(seat.name, watched)
        await seat.ask({
          ...{ what: 'admit', sessionId: seat.name, source: 'examiner' },
          ...{ key: `order-${seat.name}`, lane: 'user', text },
        })
      }),
    )
  }

  /** Somebody begins to be compacted: the moment to write, and to strike. */
  compacting(agent: string): void {
    const courier = this.#couriers.get(agent)
    courier?.bring('user', MEANWHILE.user)
    courier?.bring('notification', MEANWHILE.notification)
    this.#troubles?.chance(agent, 'compaction')
  }

  /** `isEnough` ends it early. */
  async drive(watcher: Watcher, isEnough: () => boolean, signal: AbortSignal): Promise<void> {
    const { request, onTrouble } = this.#parts
    const { seconds, windowTokens, faults } = request
    const { seats, ledger } = this
    const paceMs = Math.min(700, Math.max(150, (seconds * 1_000) / 2 / MESSAGES_PER_WINDOW))
    const couriers = new Map(
      this.names.map((agent) => [
        agent,
        new Courier({
          ...{ agent, seats, ledger, paceMs, onTrouble },
          tokens: Math.floor(windowTokens / MESSAGES_PER_WINDOW),
          sendsTwice: faults.has('duplicates'),
        }),
      ]),
    )
    this.#couriers = couriers
    const troubles = new Troubles({
      ...{ terms: request, seats, couriers, model: this.#model, onTrouble },
    })
    this.#troubles = troubles
    const over = new AbortController()
    await Promise.all([
      this.#untilDriven(watcher, isEnough, signal).then(() => over.abort()),
      troubles.run(over.signal),
      ...[...couriers.values()].map((courier) => courier.run(over.signal)),
    ])
    this.#couriers = new Map()
    signal.throwIfAborted()
  }

  /** The given time, and longer on a slow machine: until everybody was told something meanwhile. */
  async #untilDriven(
    watcher: Watcher,
    isEnough: () => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const dueMs = this.#parts.request.seconds * 1_000
    const startedAt = performance.now()
    const isMeanwhile = ({ agent, mail }: Letter) =>
      mail !== null && watcher.of(agent).meanwhile.has(mail)
    for (;;) {
      await sleep(100)
      this.#drivenMs = performance.now() - startedAt
      const told = this.ledger.letters.filter(isMeanwhile)
      const isDone =
        new Set(told.map(({ agent }) => agent)).size === this.names.length &&
        this.#active.size === this.names.length
      if (isEnough() || signal.aborted || this.#drivenMs > dueMs + EXTRA_MS_MAX) return
      if (this.#drivenMs > dueMs && isDone) return
    }
  }

  async examine(store: Reads, watcher: Watcher): Promise<readonly Asked[]> {
    await watcher.read()
    const kept = await readKept(store, watcher)
    const { letters } = this.ledger
    const asked = await Promise.all(
      this.seats.map(async (seat) => {
        const own = kept.find(({ agent }) => agent === seat.name)
        return own === undefined ? [] : await examine(seat, letters, own, store)
      }),
    )
    return asked.flat()
  }

  lines(watcher: Watcher | null): readonly AgentLine[] {
    const { windowTokens } = this.#parts.request
    return this.seats.map(({ name, status, kills, isReady }) => ({
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
