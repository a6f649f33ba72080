import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadClient } from './load-client.ts'
import { isForSummary, type RehearsalModel } from './stage/model.ts'
import type { ProcessHandle } from './stage/process-handle.ts'
import { FREEZE_MS, type Terms } from './terms.ts'

/**
 * Injects faults on schedule and at the worst moment: kills hit compactions, and the time between
 * an effect and its commit. Nothing is random; the agents take turns.
 */
export interface FaultPlanOptions {
  readonly terms: Terms
  readonly handles: readonly ProcessHandle[]
  readonly clients: ReadonlyMap<string, LoadClient>
  readonly model: RehearsalModel
  readonly onFailure: (text: string) => void
}

export interface FaultFigures {
  readonly kills: number
  readonly freezes: number
  readonly outages: number
  readonly faults: number
}

export const NO_FAULTS: FaultFigures = { kills: 0, freezes: 0, outages: 0, faults: 0 }

/** A person stops a turn whose stream has been silent for this long. */
const WAIT_MS = 1_500
const MODEL_FAULT_MS = 700
const RESTART_MS = 300
/** How long after the start of a compaction a kill comes. */
const INTO_COMPACTION_MS = 250

export class FaultPlan {
  readonly #parts: FaultPlanOptions
  readonly #work = new Set<Promise<void>>()
  #killDueAt: number
  readonly #killEveryMs: number
  #killed = new Set<string>()
  #isOver = false
  #kills = 0
  #freezes = 0
  #outages = 0
  #faults = 0

  constructor(parts: FaultPlanOptions) {
    this.#parts = parts
    const { agents, seconds } = parts.terms
    // Each agent once within the first two thirds, at least a second apart.
    this.#killEveryMs = Math.max(1_000, (seconds * 650) / agents)
    this.#killDueAt = performance.now() + this.#killEveryMs
  }

  get figures(): FaultFigures {
    return {
      ...{ kills: this.#kills, freezes: this.#freezes },
      ...{ outages: this.#outages, faults: this.#faults },
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#spoilAnswers(signal),
      this.#stopTurns(signal),
      this.#holdAgents(signal),
      this.#takeModelAway(signal),
    ])
    this.#isOver = true
    await Promise.all(this.#work)
  }

  /** Called when an agent reaches a point where a kill does most damage. */
  chance(agent: string, where: 'compaction' | 'effect'): void {
    const { terms, handles } = this.#parts
    if (this.#isOver || !terms.faults.has('kills') || performance.now() < this.#killDueAt) return
    // One at a time: a turn that loses too many processes is rightly given up.
    if (handles.some(({ isReady }) => !isReady)) return
    if (this.#killed.size === handles.length) this.#killed = new Set()
    const handle = handles.find(({ name }) => name === agent)
    if (handle === undefined || !handle.isReady || this.#killed.has(agent)) return
    this.#killed.add(agent)
    this.#killDueAt = performance.now() + this.#killEveryMs
    this.#own(this.#killAndRestart(handle, where === 'compaction' ? INTO_COMPACTION_MS : 0))
  }

  #own(work: Promise<void>): void {
    const owned = work
      .catch((error: unknown) => this.#parts.onFailure(String(error)))
      .finally(() => this.#work.delete(owned))
    this.#work.add(owned)
  }

  async #killAndRestart(handle: ProcessHandle, delayMs: number): Promise<void> {
    await sleep(delayMs)
    this.#kills += 1
    await handle.kill()
    await sleep(RESTART_MS)
    await handle.start()
  }

  /** One bad answer after another, for turns and summaries. */
  async #spoilAnswers(signal: AbortSignal): Promise<void> {
    const { terms, model } = this.#parts
    const { faults } = model.server
    const kinds = ANSWER_FAULTS.filter(({ needs }) => terms.faults.has(needs))
    for (let at = 0; kinds.length > 0 && (await wait(MODEL_FAULT_MS, signal)); at++) {
      const kind = kinds[at % kinds.length]
      if (kind === undefined || faults.waiting > 0) continue
      this.#faults += 1
      const { fault, call } = kind
      const isAimed = (target: { readonly model: string | undefined; readonly reused: boolean }) =>
        call === 'summary' ? isForSummary(target) : target.model?.startsWith('agent-') === true
      faults.next(fault, {
        // A fault that matched no request in time is dropped.
        when: (target) =>
          !this.#isOver && isAimed(target) && (kind.reused !== true || target.reused),
      })
    }
  }

  /** Interrupts turns: each agent's in rotation, and any that has waited too long for an answer. */
  async #stopTurns(signal: AbortSignal): Promise<void> {
    const { clients, model } = this.#parts
    const names = [...clients.keys()]
    for (let at = 0; await wait(STOP_MS, signal); at++) {
      const due = at % STOP_EVERY === 0 ? [names[(at / STOP_EVERY) % names.length] ?? ''] : []
      const late = model.waitingFor(WAIT_MS)
      for (const name of new Set([...due, ...late])) {
        const client = clients.get(name)
        if (client !== undefined) this.#own(client.stop())
      }
    }
    // Stops every turn that still waits for a stalled answer.
    const end = performance.now() + 5 * WAIT_MS
    while (performance.now() < end) {
      const late = model.waitingFor(WAIT_MS)
      if (late.length === 0 && model.waitingFor(0).length === 0) return
      for (const name of new Set(late)) await clients.get(name)?.stop()
      await sleep(STOP_MS)
    }
  }

  async #holdAgents(signal: AbortSignal): Promise<void> {
    const { terms, handles } = this.#parts
    if (!terms.faults.has('freezes')) return
    const everyMs = Math.max(FREEZE_MS + 1_000, (terms.seconds * 1_000) / 5)
    for (let at = 1; await wait(everyMs, signal); at++) {
      const handle = handles[(at * 2) % handles.length]
      if (!handle?.isReady) continue
      this.#freezes += 1
      handle.freeze(FREEZE_MS)
    }
  }

  async #takeModelAway(signal: AbortSignal): Promise<void> {
    const { terms, model, clients } = this.#parts
    if (!terms.faults.has('outage')) return
    const awayMs = Math.min(4_000, terms.seconds * 100)
    if (!(await wait(terms.seconds * 450, signal))) return
    this.#outages += 1
    await model.stop()
    try {
      for (const client of clients.values()) client.bring('user', MEANWHILE)
      await wait(awayMs, signal)
    } finally {
      await model.start()
    }
  }
}

const STOP_MS = 500
const STOP_EVERY = 3
/** Messages per agent by the time the provider is back. */
const MEANWHILE = 14

const ANSWER_FAULTS = [
  { needs: 'timeouts', call: 'summary', fault: 'half-open', reused: false },
  { needs: 'resets', call: 'turn', fault: 'reset-before-headers', reused: false },
  { needs: 'poisoned', call: 'turn', fault: 'reset-reused-socket', reused: true },
  { needs: 'stalls', call: 'turn', fault: 'stall-mid-stream; after=0.5', reused: false },
  { needs: 'poisoned', call: 'summary', fault: 'half-open', reused: true },
  { needs: 'resets', call: 'turn', fault: 'cut-stream; after=0.5; how=reset', reused: false },
  { needs: 'stalls', call: 'summary', fault: 'stall-mid-stream; after=0.3', reused: false },
  { needs: 'resets', call: 'summary', fault: 'cut-stream; after=0.7; how=fin', reused: false },
] as const

/** False: the rehearsal is over. */
async function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal }).catch(() => {})
  return !signal.aborted
}
