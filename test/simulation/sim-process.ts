import { NO_AUDIT } from '../../packages/core/src/audit/log/log.ts'
import type { Clock } from '../../packages/core/src/base/clock.ts'
import { Runner } from '../../packages/core/src/session/runner/runner.ts'
import { Sender } from '../../packages/core/src/session/sender.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { faultyStore } from './faulty-store.ts'
import type { Laws } from './laws.ts'
import { scriptedEdge, scriptedSteps, scriptedTools, scriptedWriter } from './scripted.ts'
import type { Owner } from './timeline.ts'
import { WALL_START, type World } from './world.ts'

/**
 * A process of the simulated host: the real runner and actors with its own clock, store, model,
 * tools and edge. A crash drops everything in flight; during a pause the rest of the world
 * continues, as with SIGSTOP.
 */
export class SimProcess {
  readonly name: string
  readonly isClient: boolean
  /** The current life; earlier lives stay dead. */
  life: Life
  readonly #world: World
  readonly #laws: Laws
  #skew = 0
  store: Store

  constructor(world: World, laws: Laws, name: string, isClient: boolean) {
    this.#world = world
    this.#laws = laws
    this.name = name
    this.isClient = isClient
    this.life = new Life(this, 0)
    this.#skew = world.hasBadClocks ? world.chance.between(-5_000, 5_000) : 0
    this.store = faultyStore(world, this.life, laws)
  }

  get runner(): Runner | null {
    return this.life.runner
  }

  get isClosing(): boolean {
    return this.life.isClosing
  }

  wall(): number {
    const now = WALL_START + this.#world.timeline.now + this.#skew
    // Export files have whole milliseconds; other runs keep their exact times, so that old seeds
    // replay.
    return this.#world.hasForks ? Math.floor(now) : now
  }

  jumpClock(byMs: number): void {
    this.#skew += byMs
  }

  start(): void {
    const world = this.#world
    const { composition, timeline, chance } = world
    const life = new Life(this, world.bear())
    this.life = life
    this.store = faultyStore(world, life, this.#laws)
    const clock: Clock = {
      now: () => this.wall(),
      monotonic: () => (composition.leaseClock === 'wall' ? this.wall() : timeline.now),
      after: (delayMs, callback) => timeline.plan(life, delayMs, callback),
    }
    const { store } = this
    const tools = composition.tools(scriptedTools(world, life, this.#laws))
    const runner = new Runner({
      store,
      clock,
      steps: composition.steps(scriptedSteps(world, life, this.#laws), tools),
      tools,
      writers: {
        model: composition.writer(scriptedWriter(world, life, this.#laws, 'model')),
        digest: composition.writer(scriptedWriter(world, life, this.#laws, 'digest')),
      },
      settings: composition.settings,
      handoffMsMax: 4_000,
      decisions: composition.decisions,
      audit: composition.audit?.() ?? NO_AUDIT,
      agents: ['main'],
      host: { boot: 'boot', process: life.number },
      ...(world.isOneHost && {
        isGone: (row) => composition.isGone(row, !world.living.has(row.process)),
      }),
      lease: composition.lease,
      ...(world.isWide && { wantedFor: () => world.wanted }),
      random: () => chance.text(),
      sender: new Sender({
        store,
        clock,
        edges: [scriptedEdge(world, life, this.#laws)],
        retryMs: 100,
        attemptsMax: 8,
      }),
      onCrash: (sessionId, error) => this.#laws.actorCrashed(sessionId, error),
    })
    life.runner = runner
    world.say(`${this.name} starts`)
    runner.start()
  }

  crash(where: string): void {
    const { life } = this
    const world = this.#world
    if (life.isDead || life.runner === null) return
    world.say(`${this.name} crashes ${where}`)
    world.count('crash')
    this.#laws.crashed(life)
    this.#die(world.chance.between(20, 3_000))
  }

  #die(forMs: number): void {
    this.life.isDead = true
    this.#world.living.delete(this.life.number)
    this.#world.timeline.plan(null, forMs, () => this.start())
  }

  pause(forMs: number): void {
    this.#world.say(`${this.name} is paused for ${forMs}`)
    this.life.pausedUntil = this.#world.timeline.now + forMs
  }

  /** A clean shutdown, then a new start. */
  restart(): void {
    const { life } = this
    if (life.isDead || life.isClosing || life.runner === null) return
    life.isClosing = true
    this.#world.say(`${this.name} closes`)
    const again = () => {
      this.#world.count('closed in order')
      this.#die(50)
    }
    void life.runner.close().then(() => this.#world.timeline.plan(life, 0, again))
    // A shutdown that takes too long ends in a crash.
    this.#world.timeline.plan(life, 5_000, () => this.crash('while closing'))
  }
}

/** From a start to a crash or a clean shutdown. */
export class Life implements Owner {
  readonly process: SimProcess
  /** Its process id. */
  readonly number: number
  isDead = false
  pausedUntil = 0
  isClosing = false
  runner: Runner | null = null

  constructor(process: SimProcess, number: number) {
    this.process = process
    this.number = number
  }
}
