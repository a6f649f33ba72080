import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditReport, auditLogs } from '../events/audit.ts'
import type { Store } from '../store/contract.ts'
import { EFFECTS_FILE, WATCHED_PROGRAM } from './agent-terms.ts'
import { Calibration } from './calibration.ts'
import { Courier } from './courier.ts'
import { examine } from './examine.ts'
import { type Asked, type Evidence, judge, type Tally } from './judge.ts'
import { findUnrest, readKept } from './kept.ts'
import type { Verdict } from './laws.ts'
import { agentNames, firstOrderOf, Ledger, type Letter } from './ledger.ts'
import { RehearsalModel } from './model.ts'
import { openPlace, type Place, removePlace } from './place.ts'
import { Seat } from './seat.ts'
import type { Sabotage, Terms } from './terms.ts'
import { type TroubleFigures, Troubles } from './troubles.ts'
import { Watcher } from './watcher.ts'

export interface RehearsalRequest extends Terms {
  /** Absent: a file in the rehearsal's own folder. */
  readonly place?: Place
  readonly isKept: boolean
  readonly sabotage: Sabotage | null
  /** What the agents' processes find in their environment. */
  readonly env: NodeJS.ProcessEnv
  readonly onPicture: (picture: Picture) => void
}

export type Phase = 'starting' | 'driving' | 'settling' | 'asking' | 'judging'

export interface Picture {
  readonly phase: Phase
  readonly elapsedMs: number
  readonly agents: readonly AgentLine[]
}

export interface AgentLine {
  readonly name: string
  readonly contextTokens: number
  readonly windowTokens: number
  /** `down`: no process is there just now. */
  readonly state: string
  readonly isCompacting: boolean
  readonly compactions: number
  readonly kills: number
  readonly acknowledged: number
  readonly waiting: number
}

export interface RehearsalReport {
  readonly holds: boolean
  readonly verdicts: readonly Verdict[]
  readonly audit: AuditReport
  readonly figures: RehearsalFigures
  /** Where everything is that was kept; null: it is removed. */
  readonly folder: string | null
}

export interface RehearsalFigures extends Tally, TroubleFigures {
  readonly agents: number
  /** How long they were driven. */
  readonly seconds: number
  readonly windowTokens: number
  readonly compactions: number
  readonly compactionsFailed: number
  readonly takeOvers: number
  readonly turns: number
  readonly waitsForCompaction: number
  readonly waitsForModel: number
  readonly requests: number
  readonly requestTokensMax: number
  readonly loopOwnMsMax: number
  readonly loopDelayMsMax: number
  /** How late a thread was that had nothing to do. */
  readonly calibrationMsMax: number
  readonly load: number
}

const PICTURE_MS = 500
const SETTLE_MS_MAX = 45_000
const EXTRA_MS_MAX = 30_000
/** A context is full after so many messages, more or less. */
const MESSAGES_PER_WINDOW = 12

/**
 * The rehearsal as a story: agents begin, are driven and troubled for the given time, come to rest,
 * are asked what they know, end, and are judged. Whatever happens, nobody and nothing stays behind.
 * Rejects with the signal's reason when it is called off.
 */
export async function rehearse(
  request: RehearsalRequest,
  signal: AbortSignal,
): Promise<RehearsalReport> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-rehearsal-'))
  const place = request.place ?? { kind: 'sqlite', path: join(folder, 'store.db') }
  const run = new Rehearsal({ ...request, place }, folder)
  try {
    const evidence = await run.play(signal)
    const audit = await run.audit()
    const { verdicts, tally } = judge(evidence)
    const holds = audit.holds && verdicts.every((verdict) => verdict.holds)
    const figures = { ...tally, ...run.figures() }
    return { holds, verdicts, audit, figures, folder: request.isKept ? folder : null }
  } finally {
    await run.close()
    if (!request.isKept) {
      await removePlace(place)
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

class Rehearsal {
  readonly #request: RehearsalRequest & { readonly place: Place }
  readonly #folder: string
  readonly #names: readonly string[]
  readonly #ledger = new Ledger()
  readonly #model: RehearsalModel
  readonly #calibration = new Calibration()
  readonly #startedAt = performance.now()
  readonly #troubleTexts: string[] = []
  readonly #waits = new Map<string, number>()
  readonly #loadBefore = loadavg()[0] ?? 0
  #seats: readonly Seat[] = []
  #couriers: ReadonlyMap<string, Courier> = new Map()
  #store: Store | null = null
  #watcher: Watcher | null = null
  #troubles: Troubles | null = null
  #phase: Phase = 'starting'
  #drivenMs = 0
  /** Processes that had an effect outside. */
  readonly #active = new Set<string>()

  constructor(request: RehearsalRequest & { readonly place: Place }, folder: string) {
    this.#request = request
    this.#folder = folder
    this.#names = agentNames(request.agents)
    this.#model = new RehearsalModel((key) => this.#ledger.find(key)?.text)
  }

  async play(signal: AbortSignal): Promise<Evidence> {
    const drawing = setInterval(() => this.#draw(), PICTURE_MS)
    try {
      const store = await openPlace(this.#request.place)
      this.#store = store
      await this.#begin(await this.#model.start(), signal)
      const watcher = this.#openWatcher(store)
      const ended = new AbortController()
      const watching = watcher.run(ended.signal)
      try {
        await this.#drive(signal)
        const unsettled = await this.#settle(store, signal)
        // Who has not come to rest would not answer either, and is judged for that.
        const asked = unsettled.length > 0 ? [] : await this.#examine(store, watcher, signal)
        return await this.#gather(store, watcher, { unsettled, asked })
      } finally {
        ended.abort()
        await watching
      }
    } finally {
      clearInterval(drawing)
    }
  }

  /** Over all logs, with the store as witness, when nobody writes any more. */
  async audit(): Promise<AuditReport> {
    this.#enter('judging')
    const logs = join(this.#folder, 'audit')
    // One that is empty belongs to a process that was killed before it had anything to tell.
    const paths = readdirSync(logs)
      .map((file) => join(logs, file))
      .filter((path) => statSync(path).size > 0)
    return await auditLogs({ paths, witness: this.#store })
  }

  figures(): Omit<RehearsalFigures, keyof Tally> {
    const { agents, windowTokens } = this.#request
    const seconds = Math.round(this.#drivenMs / 1_000)
    const watcher = this.#watcher
    const wire = this.#model.record()
    const loops = this.#seats.map(({ loop }) => loop)
    const none = { kills: 0, freezes: 0, outages: 0, faults: 0 }
    return {
      ...{ agents, seconds, windowTokens },
      ...(this.#troubles?.figures ?? none),
      compactions: watcher?.sum((each) => each.compactions) ?? 0,
      compactionsFailed: watcher?.sum((each) => each.failed) ?? 0,
      takeOvers: watcher?.sum((each) => each.takeOvers) ?? 0,
      turns: watcher?.sum((each) => each.turns) ?? 0,
      waitsForCompaction: this.#waits.get('waiting-for-compaction') ?? 0,
      waitsForModel: this.#waits.get('waiting-for-model') ?? 0,
      requests: wire.requests,
      requestTokensMax: wire.tokensMax,
      loopOwnMsMax: Math.max(0, ...loops.map(({ ownMsMax }) => ownMsMax)),
      loopDelayMsMax: Math.max(0, ...loops.map(({ delayMsMax }) => delayMsMax)),
      calibrationMsMax: this.#calibration.delayMsMax,
      load: Math.max(this.#loadBefore, loadavg()[0] ?? 0),
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#seats.map((seat) => seat.remove()))
    await this.#model.stop()
    await this.#store?.close()
    await this.#calibration.close()
  }

  async #begin(modelUrl: string, signal: AbortSignal): Promise<void> {
    const { place, windowTokens, sabotage, env } = this.#request
    const folder = this.#folder
    const events = {
      effect: (seat: Seat) => {
        this.#active.add(seat.name)
        this.#troubles?.chance(seat.name, 'effect')
      },
      wait: (_id: string, code: string) => {
        this.#waits.set(code, (this.#waits.get(code) ?? 0) + 1)
      },
      trouble: (seat: Seat, text: string) => this.#troubleTexts.push(`${seat.name}: ${text}`),
    }
    this.#seats = this.#names.map((name, at) => {
      // The neighbour takes over from whoever is gone or held.
      const neighbour = this.#names[(at + 1) % this.#names.length] ?? name
      const serves = [...new Set([name, neighbour])]
      const options = { name, serves, place, folder, modelUrl, windowTokens, sabotage }
      return new Seat(options, env, events)
    })
    // One first: it finds the store empty. The others come together.
    const [first, ...others] = this.#seats
    await first?.start()
    await Promise.all(others.map((seat) => seat.start()))
    signal.throwIfAborted()
    const watched = { program: WATCHED_PROGRAM, seconds: this.#request.seconds }
    await Promise.all(
      this.#seats.map(async (seat) => {
        const text = firstOrderOf(seat.name, watched)
        await seat.ask({
          ...{ what: 'admit', sessionId: seat.name, source: 'examiner' },
          ...{ key: `order-${seat.name}`, lane: 'user', text },
        })
      }),
    )
  }

  #openWatcher(store: Store): Watcher {
    const watcher = new Watcher(store, (agent) => {
      const courier = this.#couriers.get(agent)
      courier?.bring('user', MEANWHILE.user)
      courier?.bring('notification', MEANWHILE.notification)
      this.#troubles?.chance(agent, 'compaction')
    })
    this.#watcher = watcher
    return watcher
  }

  async #drive(signal: AbortSignal): Promise<void> {
    this.#enter('driving')
    const { seconds, windowTokens, faults } = this.#request
    const seats = this.#seats
    const paceMs = Math.min(700, Math.max(150, (seconds * 1_000) / 2 / MESSAGES_PER_WINDOW))
    const onTrouble = (text: string) => this.#troubleTexts.push(text)
    this.#couriers = new Map(
      this.#names.map((agent) => [
        agent,
        new Courier({
          ...{ agent, seats, ledger: this.#ledger, paceMs, onTrouble },
          tokens: Math.floor(windowTokens / MESSAGES_PER_WINDOW),
          sendsTwice: faults.has('duplicates'),
        }),
      ]),
    )
    const couriers = this.#couriers
    const troubles = new Troubles({
      ...{ terms: this.#request, seats, couriers, model: this.#model, onTrouble },
    })
    this.#troubles = troubles
    const over = new AbortController()
    await Promise.all([
      this.#untilDriven(signal).then(() => over.abort()),
      troubles.run(over.signal),
      ...[...couriers.values()].map((courier) => courier.run(over.signal)),
    ])
    this.#couriers = new Map()
    signal.throwIfAborted()
  }

  /** The given time, and longer on a slow machine: until everybody was told something meanwhile. */
  async #untilDriven(signal: AbortSignal): Promise<void> {
    const dueMs = this.#request.seconds * 1_000
    const startedAt = performance.now()
    for (;;) {
      await sleep(100)
      this.#drivenMs = performance.now() - startedAt
      const told = this.#ledger.letters.filter((letter) => this.#isMeanwhile(letter))
      const isDone =
        new Set(told.map(({ agent }) => agent)).size === this.#names.length &&
        this.#active.size === this.#names.length
      if (signal.aborted || this.#drivenMs > dueMs + EXTRA_MS_MAX) return
      if (this.#drivenMs > dueMs && isDone) return
    }
  }

  #isMeanwhile({ agent, mail }: Letter): boolean {
    return mail !== null && this.#watcher?.of(agent).meanwhile.has(mail) === true
  }

  async #settle(store: Store, signal: AbortSignal): Promise<readonly string[]> {
    this.#enter('settling')
    const end = performance.now() + SETTLE_MS_MAX
    for (;;) {
      const unrest = await findUnrest(store, this.#names)
      signal.throwIfAborted()
      if (unrest.length === 0 || performance.now() > end) return unrest
      await sleep(100)
    }
  }

  async #examine(store: Store, watcher: Watcher, signal: AbortSignal): Promise<readonly Asked[]> {
    this.#enter('asking')
    await watcher.read()
    const kept = await readKept(store, watcher)
    const { letters } = this.#ledger
    const asked = await Promise.all(
      this.#seats.map(async (seat) => {
        const own = kept.find(({ agent }) => agent === seat.name)
        return own === undefined ? [] : await examine(seat, letters, own, store)
      }),
    )
    signal.throwIfAborted()
    return asked.flat()
  }

  /** Agents end in order; then everything is read once more. */
  async #gather(
    store: Store,
    watcher: Watcher,
    found: Pick<Evidence, 'unsettled' | 'asked'>,
  ): Promise<Evidence> {
    this.#enter('judging')
    await Promise.all(this.#seats.map((seat) => seat.end()))
    await watcher.read()
    return {
      ...found,
      agents: this.#names,
      letters: this.#ledger.letters,
      stops: this.#ledger.stops,
      sessions: await readKept(store, watcher),
      wire: this.#model.record(),
      windowTokens: this.#request.windowTokens,
      effects: readLines(join(this.#folder, EFFECTS_FILE)),
      troubles: this.#troubleTexts,
      calibrationMsMax: this.#calibration.delayMsMax,
      loops: new Map(this.#seats.map(({ name, loop }) => [name, loop])),
    }
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    this.#draw()
  }

  #draw(): void {
    const { windowTokens } = this.#request
    this.#request.onPicture({
      phase: this.#phase,
      elapsedMs: performance.now() - this.#startedAt,
      agents: this.#seats.map(({ name, status, kills, isReady }) => ({
        ...{ name, windowTokens, kills },
        contextTokens: status?.contextTokens ?? 0,
        state: isReady ? (status?.state ?? 'idle') : 'down',
        isCompacting: status?.isCompacting ?? false,
        waiting: status?.waiting ?? 0,
        compactions: this.#watcher?.of(name).compactions ?? 0,
        acknowledged: this.#ledger.acknowledged(name),
      })),
    })
  }
}

/** What comes while a compaction runs. */
const MEANWHILE = { user: 2, notification: 1 }

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1)
  } catch {
    // Nothing was ever handed over.
    return []
  }
}
