import type { ImagePart, Message } from '#core/message/message'
import { EFFORTS, type Effort, type ModelRoute } from '../model/routes/route.ts'
import { capabilitiesOf } from '../model/routes/windows.ts'
import { NOTHING_SPENT } from './attempts.ts'
import { describeImage, type Written, writeNotes, writeTitle } from './small-tasks.ts'
import { type LadderParts, SummaryLadder } from './summary-ladder.ts'
import type { SummaryRange } from './summary-rungs.ts'
import type { TaskOptions } from './tasks.ts'

/**
 * The auxiliary model calls of one agent. It holds only the agent's routes; the process owns the
 * tasks and their budget.
 */
export class Auxiliary {
  readonly #parts: LadderParts

  constructor(parts: LadderParts) {
    this.#parts = parts
  }

  /** Writes the summaries of one handoff. */
  summaryLadder(covered: SummaryRange): SummaryLadder {
    return new SummaryLadder(this.#parts, covered)
  }

  writeTitle(messages: readonly Message[], options: AskOptions): Promise<Written<string>> {
    return writeTitle(this.#parts.tasks, messages, this.#withRoutes('title', options))
  }

  /** Notes in `known` are not proposed again. */
  writeNotes(
    messages: readonly Message[],
    options: AskOptions & { readonly known?: string },
  ): Promise<Written<readonly string[]>> {
    const { known = '', ...rest } = options
    return writeNotes(this.#parts.tasks, { messages, known }, this.#withRoutes('memory', rest))
  }

  async describeImage(image: ImagePart, options: AskOptions): Promise<Written<string>> {
    const { tasks } = this.#parts
    const [first, ...others] = this.#routesFor('vision').filter(seesImages)
    if (first === undefined) {
      return { kind: 'failed', reason: 'no-route-sees-images', spend: NOTHING_SPENT }
    }
    return await describeImage(tasks, image, { ...options, routes: [first, ...others] })
  }

  #withRoutes(task: string, options: AskOptions): TaskOptions {
    return { ...options, routes: this.#routesFor(task) }
  }

  /**
   * The reasoning effort of the agent's routes is meant for its conversations. A title or a note
   * needs little reasoning, and where reasoning counts as output it would leave no tokens for the
   * answer.
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

type AskOptions = Omit<TaskOptions, 'routes'>

/** The lowest effort that every reasoning model accepts. */
const EFFORT_MAX: Effort = 'low'

function seesImages(route: ModelRoute): boolean {
  return capabilitiesOf(route).seesImages
}
