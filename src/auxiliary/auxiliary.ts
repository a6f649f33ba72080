import type { SummaryWriter } from '../compaction/summarize.ts'
import type { ImagePart, Message } from '../message/message.ts'
import { type Desk, openModel } from '../model/provider-model.ts'
import { MemoryAttempts } from './attempts.ts'
import { describeImage, writeNotes, writeTitle } from './small-tasks.ts'
import type { SummarySettings } from './summary-ladder.ts'
import { type TaskOptions, Tasks, type TasksParts } from './tasks.ts'
import {
  type HandoffAsk,
  type HandoffMaker,
  type HandoffResult,
  handoffsBy,
} from './write-handoff.ts'

/** All that is asked of models beside conversations, over one set of routes and connections. */
export class Auxiliary {
  readonly tasks: Tasks
  readonly #parts: AuxiliaryParts

  constructor(parts: AuxiliaryParts) {
    this.#parts = parts
    this.tasks = new Tasks({
      ...parts,
      clock: parts.desk.clock,
      attempts: parts.attempts ?? new MemoryAttempts(),
      openModel: (route) => openModel(route, parts.desk),
    })
  }

  /**
   * The writer of a session's handoffs: `auxiliary.handoffs((summarize) => handoffWriter(counters,
   * summarize))`, where the inner writer makes and checks the handoff.
   */
  handoffs<Ask extends HandoffAsk, Reply extends HandoffResult>(
    makerFor: (summarize: SummaryWriter) => HandoffMaker<Ask, Reply>,
  ) {
    const { routes, desk, summaries, tasks } = this.#parts
    return handoffsBy(
      {
        tasks: this.tasks,
        routes,
        clock: desk.clock,
        ...(summaries !== undefined && { settings: summaries }),
        ...(tasks !== undefined && { overrides: tasks }),
      },
      makerFor,
    )
  }

  writeTitle(messages: readonly Message[], options: TaskOptions) {
    return writeTitle(this.tasks, messages, options)
  }

  writeNotes(messages: readonly Message[], options: TaskOptions) {
    return writeNotes(this.tasks, messages, options)
  }

  describeImage(image: ImagePart, options: TaskOptions) {
    return describeImage(this.tasks, image, options)
  }

  /** Ends what is under way. The connections are their owner's to close. */
  close(): Promise<void> {
    return this.tasks.close()
  }
}

export interface AuxiliaryParts
  extends Pick<TasksParts, 'routes' | 'random' | 'tasks' | 'allowance' | 'prices' | 'tell'> {
  readonly desk: Desk
  /** Absent: remembered as long as the process lives. */
  readonly attempts?: TasksParts['attempts']
  readonly summaries?: SummarySettings
}
