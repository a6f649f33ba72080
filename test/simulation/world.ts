import type { WantedSettings } from '../../packages/core/src/session/settings.ts'
import { MemoryTables } from '../../packages/core/src/store/memory/tables.ts'
import { Chance } from './chance.ts'
import type { Composition } from './composition.ts'
import { Timeline } from './timeline.ts'

/** When a run begins, for clocks that are right. */
export const WALL_START = 1_800_000_000_000

/** What no crash touches: the store's rows, the far ends, and what was promised to anybody. */
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
  /** How long the machine was suspended: time that went by, and on no timeline. */
  sleptMs = 0
  /** Of the process whose commit is being applied. */
  stampWall = 0
  /** Off in the second half of a run: everything must come to rest. */
  hasFaults = true
  /** How much of everything goes wrong, drawn per seed: some runs are nearly quiet. */
  readonly roughness: number
  /** Skewed and jumping wall clocks, in half of the runs. */
  readonly hasBadClocks: boolean
  /**
   * Every third run also erases, imports, attaches files and knows which processes are dead. What
   * those draw comes from a source of its own: the other runs stay what they were, so that a kept
   * seed goes on meaning what it was kept for.
   */
  readonly isWide: boolean
  readonly wide: Chance
  /** Every fourth run forks sessions and records what other programs did, from its own source. */
  readonly hasForks: boolean
  readonly forking: Chance
  /** Erasures that are asked for by mail came later, and have a source of their own as well. */
  readonly erasing: Chance
  /** Processes on one host can tell at once which of them are dead. */
  readonly isOneHost: boolean
  /** What the operator has configured; none: sessions keep what they were born with. */
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
