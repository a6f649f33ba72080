import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { Recent } from '#core/base/recent'
import type { Store } from '#core/store/contract'
import {
  type CredentialSource,
  Credentials,
  type Environment,
} from '../../model/routes/credential.ts'
import { McpServers } from '../../tools/mcp/servers.ts'
import { MEMORY_TOOL } from '../../tools/memory/memory.ts'
import { Processes, type ProcessLimits } from '../../tools/process/processes.ts'
import { SCHEDULE_POLL_MS, Scheduler } from '../../tools/schedule/scheduler.ts'
import type { Tool } from '../../tools/tool.ts'
import { type Agent, type ResolvedAgent, resolveAgent } from '../agent.ts'
import { PeriodicTask } from '../periodic-task.ts'
import { MemoryKeeper } from './memory-keeper.ts'
import type { ToolDependencies } from './tool-dependencies.ts'

/**
 * The tools of agents, and their parts that outlive a call: programs, schedules, notes, servers.
 */
export interface ToolServiceParts extends Omit<ToolDependencies, 'processes'> {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly processes?: ProcessLimits
  readonly environment: Environment
  /** An agent's tools changed: resolve the agents again. */
  readonly onToolsChanged: () => void
}

const FAILING_MAX = 1_000
/** How soon programs of a purged session end, and those of a killed process are reported. */
const LOOK_MS = 2_000

export class ToolService {
  /** By agent. The map stays the same object; its tools change with the agents. */
  readonly tools = new Map<string, readonly Tool[]>()
  readonly #dependencies: ToolDependencies
  readonly #processes: Processes
  readonly #looking: PeriodicTask
  readonly #scheduler: Scheduler
  readonly #memory: MemoryKeeper
  /** Agents whose sessions see each other's notes. */
  #sharing: ReadonlySet<string> = new Set()
  readonly #mcp: McpServers
  readonly #logger: Logger
  readonly #failing = new Recent<SessionId, true>(FAILING_MAX)

  constructor({ logger, processes, environment, onToolsChanged, ...parts }: ToolServiceParts) {
    this.#logger = logger
    const onCrash = (error: unknown) => logger.error({ err: error }, 'tool crashed')
    const store = this.#refreshing(parts.store)
    this.#processes = new Processes({
      ...{ ...parts, store },
      onCrash,
      beforeFire: (sessionId) => this.refreshIfPossible(sessionId),
      ...(processes !== undefined && { limits: processes }),
    })
    const round = () => this.#processes.look()
    this.#looking = new PeriodicTask({ clock: parts.clock, everyMs: LOOK_MS, round })
    this.#scheduler = new Scheduler({
      ...{ ...parts, pollMs: SCHEDULE_POLL_MS, onFired: parts.onAdmitted, onCrash },
      beforeFire: (sessionId) => this.refreshIfPossible(sessionId),
    })
    const keepsNotes = (agent: string) =>
      this.tools.get(agent)?.some(({ name }) => name === MEMORY_TOOL) === true
    const onRefused = (sessionId: SessionId, why: string) =>
      logger.warn({ sessionId, why }, 'notes are not shown')
    const sharesNotes = (agent: string) => this.#sharing.has(agent)
    this.#memory = new MemoryKeeper({ ...parts, keepsNotes, sharesNotes, onRefused })
    const credentials = new Credentials(environment)
    this.#mcp = new McpServers({
      clock: parts.clock,
      environment,
      readSecret: (source) => credentials.read(source as CredentialSource),
      onChange: onToolsChanged,
      onState: ({ state, ...fact }) =>
        state === 'ready' ? logger.info(fact, 'server ready') : logger.warn(fact, 'server down'),
    })
    this.#dependencies = { ...parts, store, processes: this.#processes }
  }

  /** A session woken by a tool shows its current notes, as it does for a person's message. */
  #refreshing(store: Store): Store {
    return {
      ...store,
      admit: async (request) => {
        const { to, lane } = request
        if (lane === 'notification' && 'sessionId' in to) {
          await this.refreshIfPossible(to.sessionId)
        }
        return await store.admit(request)
      },
    }
  }

  /**
   * A failure with notes delays no message. It is reported once, because due work retries every
   * second.
   */
  async refreshIfPossible(sessionId: SessionId): Promise<void> {
    try {
      await this.refreshMemory(sessionId)
      this.#failing.delete(sessionId)
    } catch (error) {
      if (this.#failing.has(sessionId)) return
      this.#failing.set(sessionId, true)
      this.#logger.warn({ sessionId, err: error }, 'notes not refreshed')
    }
  }

  resolveAgents(agents: readonly Agent[]): ReadonlyMap<string, ResolvedAgent> {
    // Before any change, so that an agent that does not fit its window leaves everything as it was.
    for (const agent of agents) resolveAgent(agent, this.#dependencies)
    this.#mcp.configure(new Map(agents.map(({ name, mcp = {} }) => [name, mcp])))
    const resolved = new Map(
      agents.map((agent) => [
        agent.name,
        resolveAgent(agent, this.#dependencies, this.#mcp.toolsOf(agent.name)),
      ]),
    )
    this.#sharing = new Set(agents.filter((each) => each.sharesNotes).map(({ name }) => name))
    this.tools.clear()
    for (const [name, { tools, leftOut }] of resolved) {
      this.tools.set(name, tools)
      if (leftOut.length === 0) continue
      this.#logger.warn({ agent: name, leftOut }, 'tools of servers do not fit the window')
    }
    return resolved
  }

  /** Makes a session show its agent's current notes. */
  async refreshMemory(sessionId: SessionId): Promise<void> {
    await this.#memory.refresh(sessionId)
  }

  /** Problems for the operator. */
  get problems(): readonly string[] {
    return this.#mcp.problems
  }

  /** Resolves when every server has listed its tools or timed out. */
  async start(): Promise<void> {
    await this.#mcp.start()
    this.#scheduler.start()
    this.#looking.start({ firstMs: 0 })
  }

  async close(): Promise<void> {
    await this.#scheduler.close()
    await this.#looking.close()
    await this.#processes.close()
    await this.#mcp.close()
  }
}
