import type { WantedSettings } from '../../packages/core/src/session/settings.ts'
import { MemoryTables } from '../../packages/core/src/store/memory/tables.ts'
import { Chance } from './chance.ts'
import type { Composition } from './composition.ts'
import { Timeline } from './timeline.ts'

/** The start of a run, on an accurate clock. */
export const WALL_START = 1_800_000_000_000

/**
 * What survives every crash: the store's rows, the external parties, and what clients were told.
 */
export class World {
  readonly seed: number
  readonly composition: Composition
  readonly chance: Chance
  readonly timeline = new Timeline()
  readonly tables: MemoryTables
  readonly counters = new Map<string, number>()
  readonly violations: Violation[] = []
  readonly trace: string[] | null
  /** Commits that changed something. */
  commits = 0
  /** How long the machine was suspended: time that passed on no timeline. */
  sleptMs = 0
  /** The wall time of the process whose commit is being applied. */
  stampWall = 0
  /** Off in the second half of a run, in which everything must become idle. */
  hasFaults = true
  /** The rate of faults, drawn per seed: some runs have almost none. */
  readonly roughness: number
  /** Skewed and jumping wall clocks, in half of the runs. */
  readonly hasBadClocks: boolean
  /**
   * Every third run also erases, imports, attaches files and knows which processes are dead. These
   * draw from a separate random source, so that the other runs do not change and a recorded seed
   * still replays the same run.
   */
  readonly isWide: boolean
  readonly wide: Chance
  /**
   * Every fourth run forks sessions and records turns of other programs, from its own random
   * source.
   */
  readonly hasForks: boolean
  readonly forking: Chance
  /** Erasures requested by mail were added later and have their own random source too. */
  readonly erasing: Chance
  /** Processes on one host can tell at once which of them are dead. */
  readonly isOneHost: boolean
  /** The configured settings; undefined: sessions keep the settings they were created with. */
  wanted: WantedSettings | undefined
  /** Process ids of the living. */
  readonly living = new Set<number>()
  #processes = 0

  #salts = 0

  constructor(seed: number, composition: Composition, isTraced: boolean) {
    this.seed = seed
    this.composition = composition
    this.chance = new Chance(seed)
    this.trace = isTraced ? [] : null
    this.roughness = this.chance.pick([0.2, 1, 1, 2, 4])
    this.hasBadClocks = this.chance.hits(0.5)
    this.isWide = seed % 3 === 0
    this.wide = new Chance(seed ^ 0x2545f491)
    this.erasing = new Chance(seed ^ 0x3c6ef372)
    this.hasForks = seed % 4 === 2
    this.forking = new Chance(seed ^ 0x1b873593)
    this.isOneHost = this.isWide && this.wide.hits(0.5)
    this.tables = new MemoryTables({
      clock: () => this.stampWall,
      random: () => `salt ${this.#salts++}`,
    })
  }

  bear(): number {
    this.#processes++
    this.living.add(this.#processes)
    return this.#processes
  }

  count(what: string, by = 1): void {
    this.counters.set(what, (this.counters.get(what) ?? 0) + by)
  }

  violate(law: string, message: string): void {
    this.violations.push({ law, message, at: this.timeline.now })
    this.say(`VIOLATION ${law}: ${message}`)
  }

  say(line: string): void {
    this.trace?.push(`${this.timeline.now.toFixed(0).padStart(7)} ${line}`)
  }

  fault(share: number): boolean {
    return this.hasFaults && this.chance.hits(share * this.roughness)
  }
}

export interface Violation {
  readonly law: string
  readonly message: string
  readonly at: number
}
