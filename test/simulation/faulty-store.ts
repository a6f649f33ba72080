import type {
  CommitVerb,
  OutcomeOf,
  ReadVerb,
  RequestOf,
  Store,
} from '../../packages/core/src/store/contract.ts'
import { OutcomeUnknownError, StoreBusyError } from '../../packages/core/src/store/errors.ts'
import {
  type AnswerOf,
  type Engine,
  type QueryOf,
  storeOver,
} from '../../packages/core/src/store/facade.ts'
import { memoryReads } from '../../packages/core/src/store/memory/reads.ts'
import type { Laws } from './laws.ts'
import type { Life } from './sim-process.ts'
import type { World } from './world.ts'

/**
 * The memory store as one process sees it over an unreliable connection: a commit arrives late, its
 * answer is late or lost, or the process dies before or after it. Applying a commit is atomic, as
 * in every engine.
 */
export function faultyStore(world: World, owner: Life, laws: Laws): Store {
  return world.composition.store(storeOver(new FaultyEngine(world, owner, laws)))
}

/** Rare verbs fail more often, so that each meets every kind of failure. */
const SHARES: Partial<Record<CommitVerb, number>> = {
  commitCompaction: 0.15,
  commitResults: 0.05,
  commitReply: 0.03,
  deliver: 0.06,
  claimCompaction: 0.05,
  recover: 0.05,
  acquire: 0.05,
}

const UNKNOWN = 'the line broke'

class FaultyEngine implements Engine {
  readonly #world: World
  readonly #owner: Life
  readonly #laws: Laws
  readonly #reads

  constructor(world: World, owner: Life, laws: Laws) {
    this.#world = world
    this.#owner = owner
    this.#laws = laws
    this.#reads = memoryReads(world.tables)
  }

  commit<Verb extends CommitVerb>(verb: Verb, request: RequestOf<Verb>): Promise<OutcomeOf<Verb>> {
    const { chance, timeline } = this.#world
    const owner = this.#owner
    return new Promise((resolve, reject) => {
      // A crash stops its process mid-statement: nothing that follows runs.
      if (owner.isDead) return
      const answer = (outcome: OutcomeOf<Verb>, delay: number) =>
        timeline.plan(owner, delay, () => resolve(outcome))
      const refuse = (error: Error, delay: number) =>
        timeline.plan(owner, delay, () => reject(error))
      const fate = this.#fate(verb)
      switch (fate) {
        case 'crash before':
          owner.process.crash(`before ${verb}`)
          return
        case 'crash behind':
          this.#apply(verb, request)
          if (verb === 'recover') this.#world.count('crash in recovery')
          owner.process.crash(`behind ${verb}`)
          return
        case 'crash, done late':
          // A late write: its sender is long dead, perhaps replaced, when it arrives.
          timeline.plan(null, chance.between(500, 12_000), () => void this.#apply(verb, request))
          owner.process.crash(`behind a late ${verb}`)
          return
        case 'unknown, done':
          this.#apply(verb, request)
          this.#world.count('unknown outcome')
          refuse(new OutcomeUnknownError({ verb, problem: UNKNOWN }), chance.between(1, 400))
          return
        case 'unknown, not done':
          this.#world.count('unknown outcome')
          refuse(new OutcomeUnknownError({ verb, problem: UNKNOWN }), chance.between(1, 400))
          return
        case 'unknown, done late':
          this.#world.count('unknown outcome')
          timeline.plan(null, chance.between(1, 900), () => void this.#apply(verb, request))
          refuse(new OutcomeUnknownError({ verb, problem: UNKNOWN }), chance.between(1, 400))
          return
        case 'busy':
          refuse(new StoreBusyError({ waitedMs: 5, problem: 'locked' }), chance.between(1, 50))
          return
        case 'late':
          // In flight: it arrives even if its sender is paused or dead by then.
          timeline.plan(null, chance.between(1, 60), () => {
            answer(this.#apply(verb, request), chance.between(1, 10))
          })
          return
        default:
          answer(this.#apply(verb, request), chance.between(1, 4))
      }
    })
  }

  #fate(verb: CommitVerb): string {
    const world = this.#world
    const { chance } = world
    if (chance.hits(0.15)) return 'late'
    if (!world.fault(SHARES[verb] ?? 0.02)) return 'well'
    // No crashes here: the workload crashes clients itself, and a registering process has just
    // started.
    if (this.#owner.process.isClient || verb === 'registerRunner') {
      return chance.pick(['unknown, done', 'unknown, not done', 'unknown, done late', 'busy'])
    }
    return chance.pick([
      ...['crash before', 'crash behind', 'crash, done late', 'crash, done late'],
      ...['unknown, done', 'unknown, not done'],
      ...['unknown, done late', 'busy'],
    ])
  }

  #apply<Verb extends CommitVerb>(verb: Verb, request: RequestOf<Verb>): OutcomeOf<Verb> {
    const world = this.#world
    const { tables } = world
    world.stampWall = this.#owner.process.wall()
    const stamp = tables.stamp()
    const { outcome, change } = world.composition.rules[verb](tables, request, stamp)
    if (change !== undefined) tables.apply(change, stamp.at)
    if (verb !== 'renew' || outcome.kind !== 'renewed') {
      world.trace?.push(
        `${world.timeline.now.toFixed(0).padStart(7)} ${this.#owner.process.name} ${verb} -> ${JSON.stringify(outcome).slice(0, 160)} ${JSON.stringify(request).slice(0, 260)}`,
      )
    }
    this.#laws.observe({ verb, request, outcome, change: change ?? null })
    if ('written' in outcome) this.#laws.looked(this.#owner, outcome.written.session.id)
    return outcome
  }

  read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>> {
    const world = this.#world
    if (this.#owner.isDead) return new Promise(() => {})
    const answer = this.#reads[verb](query)
    if (verb === 'look') this.#laws.looked(this.#owner, (query as QueryOf<'look'>).sessionId)
    if (!this.#owner.process.isClient && world.fault(0.0015)) {
      // Paused with an answer in flight: the answer is outdated when the process continues.
      this.#owner.process.pause(world.chance.between(2_500, 8_000))
      world.count('paused with an answer in the air')
      return new Promise(
        (resolve) => void world.timeline.plan(this.#owner, 1, () => resolve(answer)),
      )
    }
    if (!world.chance.hits(0.06)) return Promise.resolve(answer)
    return new Promise((resolve, reject) => {
      const isBroken = world.fault(0.1)
      world.timeline.plan(this.#owner, world.chance.between(1, 30), () =>
        isBroken ? reject(new StoreBusyError({ waitedMs: 5, problem: 'locked' })) : resolve(answer),
      )
    })
  }

  backup(): Promise<void> {
    return Promise.resolve()
  }

  watch(): () => void {
    return () => {}
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
