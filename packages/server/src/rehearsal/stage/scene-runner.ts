import { join } from 'node:path'
import type { Store } from '#core/store/contract'
import { readLines, readStored } from '../kept.ts'
import type { Findings } from '../laws/laws.ts'
import { judgeEffects, judgeSends, judgeStored } from '../laws/transcript-laws.ts'
import { judgeWire } from '../laws/wire-laws.ts'
import { CAST, type Sabotage, SENT_FILE } from '../terms.ts'
import { EFFECTS_FILE } from './agent-terms.ts'
import { type ProcessEvents, ProcessHandle } from './process-handle.ts'
import { type Scene, Stage } from './stage.ts'
import { StageModel } from './stage-model.ts'
import type { StoreLocation } from './store-location.ts'

/**
 * The stage: two processes and a model for scenes that each aim at one moment, beside the crowd
 * with its scheduled faults. With a planted bug it ends after the act that shows it.
 */
export interface SceneRunnerOptions {
  readonly location: StoreLocation
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly sabotage: Sabotage | null
  readonly acts: readonly (readonly Scene[])[]
  readonly store: Store
  readonly findings: Findings
  readonly events: ProcessEvents
  /** The sessions of the crowd. */
  readonly others: readonly string[]
}

const WINDOW_TOKENS = 8_000
const WAIT_MS = 40_000
/** A run that looks for a planted bug need not wait as long for a stuck state to clear. */
const SABOTAGED_WAIT_MS = 20_000
/** Outcomes that a repeated request must not have. A claim may succeed once the first has ended. */
const DONE_AGAIN = ['delivered', 'committed', 'recovered']

export class SceneRunner {
  readonly handles: readonly ProcessHandle[]
  readonly #parts: SceneRunnerOptions
  readonly #model: StageModel
  #stage: Stage | null = null
  #scenes = 0
  #isOver = false

  private constructor(parts: SceneRunnerOptions, model: StageModel, modelUrl: string) {
    const { location, folder, env, sabotage, findings } = parts
    this.#parts = parts
    this.#model = model
    const events: ProcessEvents = {
      ...parts.events,
      faultMet: (_handle, planned) => this.#stage?.met(planned),
      repeated: (_handle, { verb, sessionId }, outcome) => {
        const isDone = DONE_AGAIN.includes(outcome) || outcome.includes('Error')
        if (isDone) findings.broken('written', `${sessionId}: ${verb} once more: ${outcome}`)
      },
    }
    const shared = { serves: Object.keys(CAST), location, folder, sabotage, modelUrl }
    const options = { ...shared, windowTokens: WINDOW_TOKENS, isOnStage: true }
    this.handles = ['stage-1', 'stage-2'].map(
      (name) => new ProcessHandle({ ...options, name }, env, events),
    )
  }

  static async open(parts: SceneRunnerOptions): Promise<SceneRunner> {
    const model = new StageModel()
    return new SceneRunner(parts, model, await model.start())
  }

  get scenes(): number {
    return this.#scenes
  }

  get isOver(): boolean {
    return this.#isOver
  }

  async play(signal: AbortSignal): Promise<void> {
    const { store, findings, folder, sabotage, acts } = this.#parts
    const [first, second] = this.handles
    if (first === undefined || second === undefined) return
    await Promise.all(this.handles.map((handle) => handle.start()))
    const waitMs = sabotage === null ? WAIT_MS : SABOTAGED_WAIT_MS
    const model = this.#model
    const isEnough = () => sabotage !== null && findings.arePlain
    const stage = new Stage({
      ...{ first, second, store, model, findings, folder },
      ...{ waitMs, isEnough, signal },
    })
    this.#stage = stage
    await stage.rest(second, true)
    for (const act of acts) {
      if (signal.aborted || isEnough()) break
      await stage.play(act)
      this.#scenes += act.length
      if (sabotage !== null) await this.#lookEarly(stage)
    }
    if (sabotage === null) await judgeWire(stage, findings)
    this.#isOver = true
  }

  /** Checks the final laws early, so that a planted bug that already shows ends the run. */
  async #lookEarly(stage: Stage): Promise<void> {
    const { store, folder, findings, others } = this.#parts
    await judgeWire(stage, findings)
    judgeSends(readLines(join(folder, SENT_FILE)), findings)
    judgeEffects(readLines(join(folder, EFFECTS_FILE)), findings)
    for (const stored of await readStored(store)) {
      const { id } = stored.row
      if (CAST[id] !== undefined) judgeStored(stored, findings)
      else if (!others.includes(id)) findings.broken('kept', `${id} is nobody's session`)
    }
  }

  async close(): Promise<void> {
    await this.#model.stop()
  }
}
