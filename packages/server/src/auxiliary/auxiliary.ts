import type { Clock } from '#core/base/clock'
import type { SummaryWriter } from '#core/compaction/summary/summarize'
import type { ImagePart, Message } from '#core/message/message'
import { EFFORTS, type Effort, type ModelRoute } from '../model/routes/route.ts'
import type { Routes } from '../model/routes/routes.ts'
import { capabilitiesOf } from '../model/routes/windows.ts'
import { NOTHING_SPENT } from './attempts.ts'
import { describeImage, type Written, writeNotes, writeTitle } from './small-tasks.ts'
import type { SummarySettings } from './summary-rungs.ts'
import type { AuxiliaryTasks, TaskOptions } from './tasks.ts'
import {
  type HandoffAsk,
  type HandoffMaker,
  type HandoffResult,
  handoffsBy,
} from './write-handoff.ts'

/**
 * All that is asked of models beside the conversations of one agent. It holds nothing but the
 * agent's routes: the tasks, and what they may spend, are the process's.
 */
export class Auxiliary {
  readonly #parts: AuxiliaryParts

  constructor(parts: AuxiliaryParts) {
    this.#parts = parts
  }

  /**
   * The writer of a session's handoffs: `auxiliary.handoffs((summarize) => handoffWriter(counters, {
   * summarize }))`, where the inner writer makes and checks the handoff.
   */
  handoffs<Ask extends HandoffAsk, Reply extends HandoffResult>(
    makerFor: (summarize: SummaryWriter) => HandoffMaker<Ask, Reply>,
  ) {
    return handoffsBy(this.#parts, makerFor)
  }

  writeTitle(messages: readonly Message[], asking: Asking): Promise<Written<string>> {
    return writeTitle(this.#parts.tasks, messages, this.#options('title', asking))
  }

  /** `known` is not proposed again. */
  writeNotes(
    messages: readonly Message[],
    asking: Asking & { readonly known?: string },
  ): Promise<Written<readonly string[]>> {
    const { known = '', ...rest } = asking
    return writeNotes(this.#parts.tasks, { messages, known }, this.#options('memory', rest))
  }

  async describeImage(image: ImagePart, asking: Asking): Promise<Written<string>> {
    const { tasks } = this.#parts
    const [first, ...others] = this.#routesFor('vision').filter(seesImages)
    if (first === undefined) {
      return { kind: 'failed', reason: 'no-route-sees-images', spend: NOTHING_SPENT }
    }
    return await describeImage(tasks, image, { ...asking, routes: [first, ...others] })
  }

  #options(task: string, asking: Asking): TaskOptions {
    return { ...asking, routes: this.#routesFor(task) }
  }

  /**
   * The effort of the agent's own routes is meant for its conversations. A name or a note needs no
   * long thought, and where thoughts count as output they would leave no room for it.
   */
  #routesFor(task: string): readonly [ModelRoute, ...ModelRoute[]] {
    const { routes } = this.#parts
    const ofTheAgent = routes.forMain()
    const [first, ...others] = routes.forTask(task).map((route) => {
      const { effort = EFFORT_MAX } = route
      const isMore = EFFORTS.indexOf(effort) > EFFORTS.indexOf(EFFORT_MAX)
      return isMore && ofTheAgent.includes(route) ? { ...route, effort: EFFORT_MAX } : route
    })
    return [first ?? routes.main, ...others]
  }
}

type Asking = Omit<TaskOptions, 'routes'>

export interface AuxiliaryParts {
  readonly tasks: AuxiliaryTasks
  readonly routes: Routes
  readonly clock: Clock
  readonly summaries?: SummarySettings
}

/** The least that every model that thinks takes. */
const EFFORT_MAX: Effort = 'low'

function seesImages(route: ModelRoute): boolean {
  return capabilitiesOf(route).seesImages
}
