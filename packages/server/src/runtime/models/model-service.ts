import type { SessionId } from '#core/base/ids'
import type { Message } from '#core/message/message'
import type { HandoffWriter } from '#core/session/handoff'
import type { StepRunner, ToolRunner } from '#core/session/step'
import type { Store } from '#core/store/contract'
import { estimateMessage, estimateText } from '#core/tokens/estimate'
import { destinationOf } from '../../model/routes/route.ts'
import type { Tool } from '../../tools/tool.ts'
import { Calibrations } from '../../turn/calibrations.ts'
import { CALL_MS_MAX, toolRunner } from '../../turn/tool-runner.ts'
import type { Health, RouteHealth } from '../health.ts'
import { TurnTools } from '../tools/turn-tools.ts'
import { storedAttempts } from './attempts.ts'
import { AuxiliaryService, type AuxiliaryServiceParts } from './auxiliary-service.ts'
import { ModelAccess, type ModelAccessParts } from './model-access.ts'
import { readRouteHealth } from './route-health.ts'
import { SpendCaps } from './spend-caps.ts'
import { TurnCalls } from './turn-calls.ts'
import { type TurnStepsParts, turnSteps } from './turn-steps.ts'

/**
 * Everything in a process that talks to models: one pool of connections, one record of attempts and
 * one set of tasks for all agents; steps, tools and handoff writers for the sessions.
 */
export interface ModelServiceParts extends ModelAccessParts, AuxiliaryServiceParts, TurnStepsParts {
  /** By agent; changes with the configuration. */
  readonly tools: ReadonlyMap<string, readonly Tool[]>
  /** Wakes up to this many sessions that wait for the route; returns how many it woke. */
  readonly onModelBack: (count: number, asks: (agent: string) => boolean) => number
}

export class ModelService {
  readonly steps: StepRunner
  readonly tools: ToolRunner
  /** Why a turn may call no model now; null: it may. Sees the calls that are recorded by then. */
  readonly reasonToPause: SpendCaps['reasonToPause']
  readonly writers: { readonly [kind in 'model' | 'preview' | 'digest']: HandoffWriter }
  /** Corrects each session's token counts by the usage that providers bill. */
  readonly #calibrations = new Calibrations()
  readonly #parts: ModelServiceParts
  /** For the sessions' actors: the commit of a step records its model call. */
  readonly runnerStore: Store
  readonly #turnCalls: TurnCalls
  readonly #access: ModelAccess
  readonly #attempts: ReturnType<typeof storedAttempts>
  readonly #auxiliary: AuxiliaryService

  constructor(parts: ModelServiceParts) {
    this.#parts = parts
    const { clock, logger } = parts
    const access = new ModelAccess(parts)
    const attempts = storedAttempts(parts.store)
    const turnTools = new TurnTools()
    const openModel = access.open.bind(access)
    const auxiliary = new AuxiliaryService(parts, { attempts, openModel, turnTools })
    const { prices, spend } = parts.auxiliary
    const caps = new SpendCaps(parts.store, clock, spend)
    this.reasonToPause = (turn) => caps.reasonToPause(turn)
    const onModelBack = (route: string, count: number) =>
      parts.onModelBack(count, (agent) => {
        const routes = parts.agents().get(agent)?.routes.forMain() ?? []
        return routes.some((each) => destinationOf(each) === route)
      })
    const turnCalls = new TurnCalls({ attempts, prices, clock, logger, onModelBack })
    this.steps = turnSteps(parts, {
      ...{ auxiliary, turnTools, openModel, calibrations: this.#calibrations },
      onCall: (record) => auxiliary.run(turnCalls.record(record), 'attempt not recorded'),
      calls: turnCalls,
      reasonToPause: async (request) => {
        await turnCalls.recorded(request.sessionId)
        const reason = await caps.reasonToPause(request)
        const { sessionId } = request
        if (reason !== null) logger.warn({ sessionId, reason }, 'paused at a spending limit')
        return reason
      },
    })
    this.tools = toolRunner({
      tools: parts.tools,
      clock,
      countMessage: (agent, message) => auxiliary.countersFor(agent).countMessage(message),
      callMsMax: CALL_MS_MAX,
      onFailure: ({ sessionId, tool, error }) =>
        logger.error({ sessionId, tool, err: error }, 'tool failed'),
    })
    this.writers = auxiliary.writers
    this.runnerStore = turnCalls.through(parts.store)
    this.#turnCalls = turnCalls
    this.#access = access
    this.#attempts = attempts
    this.#auxiliary = auxiliary
  }

  async start(): Promise<void> {
    const agents = [...this.#parts.agents().values()]
    await this.#access.warmUp(agents.map(({ routes }) => routes))
  }

  countText(sessionId: SessionId, text: string): number {
    return this.#calibrations.correct(sessionId, estimateText(text, 'generic'))
  }

  countMessage(sessionId: SessionId, message: Message): number {
    return this.#calibrations.correct(sessionId, estimateMessage(message, 'generic'))
  }

  interrupt(sessionId: SessionId): void {
    this.#auxiliary.interrupt(sessionId)
  }

  async health(): Promise<readonly RouteHealth[]> {
    const { agents, clock } = this.#parts
    return await readRouteHealth(this.#attempts, agents().values(), clock.now())
  }

  get connections(): Health['connections'] {
    return this.#access.connections
  }

  async close(): Promise<void> {
    await this.#turnCalls.close()
    await this.#auxiliary.close()
    await this.#access.close()
  }
}
