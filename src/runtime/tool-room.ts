import type { Clock } from '../base/clock.ts'
import type { SessionId } from '../base/ids.ts'
import type { Store } from '../store/contract.ts'
import { MEMORY_TOOL } from '../tools/memory/memory.ts'
import { Processes, type ProcessLimits } from '../tools/process/processes.ts'
import { SCHEDULE_POLL_MS, Scheduler } from '../tools/schedule/scheduler.ts'
import type { Tool } from '../tools/tool.ts'
import { type Agent, type AgentDesk, deskOf } from './agent.ts'
import type { ToolDesk } from './built-in-tools.ts'
import type { Logger } from './logger.ts'
import { MemoryKeeper } from './memory-keeper.ts'

/** What agents can do, and what of it outlasts a call: programs, schedules, notes. */
export interface ToolRoomParts
  extends Pick<ToolDesk, 'store' | 'clock' | 'countTokens' | 'openRoute' | 'onAdmitted'> {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly processes?: ProcessLimits
}

export class ToolRoom {
  /** By agent; the same map for life, with other tools after a change of agents. */
  readonly tools = new Map<string, readonly Tool[]>()
  readonly #desk: ToolDesk
  readonly #processes: Processes
  readonly #scheduler: Scheduler
  readonly #memory: MemoryKeeper

  constructor({ logger, processes, ...parts }: ToolRoomParts) {
    const onCrash = (error: unknown) => logger.error({ err: error }, 'tool crashed')
    this.#processes = new Processes({
      ...parts,
      onCrash,
      ...(processes !== undefined && { limits: processes }),
    })
    this.#scheduler = new Scheduler({
      ...{ ...parts, pollMs: SCHEDULE_POLL_MS, onFired: parts.onAdmitted, onCrash },
    })
    const keepsNotes = (agent: string) =>
      this.tools.get(agent)?.some(({ name }) => name === MEMORY_TOOL) === true
    this.#memory = new MemoryKeeper({ ...parts, keepsNotes })
    this.#desk = { ...parts, processes: this.#processes }
  }

  desksOf(agents: readonly Agent[]): ReadonlyMap<string, AgentDesk> {
    const desks = new Map(agents.map((agent) => [agent.name, deskOf(agent, this.#desk)]))
    this.tools.clear()
    for (const [name, { tools }] of desks) this.tools.set(name, tools)
    return desks
  }

  /** Has a session show its agent's notes as they are now. */
  async refreshMemory(sessionId: SessionId): Promise<void> {
    await this.#memory.refresh(sessionId)
  }

  start(): void {
    this.#scheduler.start()
  }

  async close(): Promise<void> {
    await this.#scheduler.close()
    await this.#processes.close()
  }
}
