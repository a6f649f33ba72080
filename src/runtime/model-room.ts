import { randomUUID } from 'node:crypto'
import type { Attempt } from '../auxiliary/attempts.ts'
import { Auxiliary, type AuxiliaryParts } from '../auxiliary/auxiliary.ts'
import { wordOf } from '../auxiliary/breaker.ts'
import { costOf } from '../auxiliary/prices.ts'
import type { Clock } from '../base/clock.ts'
import { KnownError } from '../base/errors.ts'
import { operationId, type SessionId } from '../base/ids.ts'
import type { Counters } from '../compaction/counters.ts'
import type { AssistantMessage } from '../message/message.ts'
import { Credentials, type Environment } from '../model/credential.ts'
import { DEADLINES } from '../model/deadlines.ts'
import type { Model } from '../model/model.ts'
import { Pool } from '../model/pool.ts'
import { openModel } from '../model/provider-model.ts'
import type { ModelRoute } from '../model/route.ts'
import { type HandoffWriter, handoffWriter } from '../session/handoff.ts'
import type { Store } from '../store/contract.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { ModelFamily } from '../tokens/family.ts'
import type { Tool } from '../tools/tool.ts'
import { Calibrations } from '../turn/calibrations.ts'
import {
  type CallRecord,
  type LiveAttempt,
  type LivePiece,
  modelSteps,
  type StepAgent,
} from '../turn/model-steps.ts'
import { callsOf, type StepRequest, type StepRunner, type ToolRunner } from '../turn/step.ts'
import { CALL_MS_MAX, toolRunner } from '../turn/tool-runner.ts'
import type { Agent, AgentDesk } from './agent.ts'
import { storedAttempts } from './attempts.ts'
import { unshelve } from './blobs.ts'
import type { Logger } from './logger.ts'
import type { AttemptId, LiveEvent, RouteHealth } from './runtime.ts'
import { TurnTools } from './turn-tools.ts'

/**
 * Everything of a process that talks to models: one pool of connections and one record of attempts
 * for all agents; steps, tools and handoffs as the sessions want them.
 */
export interface ModelRoomParts {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly environment: Environment
  readonly auxiliary: AuxiliaryTerms
  readonly deskOf: (agent: string) => AgentDesk | undefined
  /** By agent; changes with the configuration. */
  readonly tools: ReadonlyMap<string, readonly Tool[]>
  readonly onLive: (sessionId: SessionId, event: LiveEvent) => void
  readonly onModelBack: () => void
}

export type AuxiliaryTerms = Pick<AuxiliaryParts, 'tasks' | 'allowance' | 'prices' | 'summaries'>

const STEPS_MAX = 50
const TITLE_TURNS_MAX = 5

export class ModelRoom {
  readonly steps: StepRunner
  readonly tools: ToolRunner
  readonly writers: { readonly model: HandoffWriter; readonly digest: HandoffWriter }
  /** What each session's bills have taught about its tokens. */
  readonly calibrations = new Calibrations()
  readonly #parts: ModelRoomParts
  readonly #pool = new Pool()
  readonly #credentials: Credentials
  readonly #auxiliaries = new Map<Agent, Auxiliary>()
  readonly #turnTools = new TurnTools()
  readonly #closing = new AbortController()
  readonly #attempts: ReturnType<typeof storedAttempts>
  readonly #routes = new Map<string, RouteHealth>()

  constructor(parts: ModelRoomParts) {
    this.#parts = parts
    this.#credentials = new Credentials(parts.environment)
    this.#attempts = storedAttempts(parts.store)
    const { clock, store } = parts
    const steps = modelSteps({
      agentOf: (name, request) => this.#stepAgent(name, request),
      deadlines: DEADLINES,
      clock,
      random: Math.random,
      calibrations: this.calibrations,
      onPiece: (attempt, piece) => this.#tell(attempt, piece),
      onCall: (record) => this.#record(record),
    })
    this.steps = {
      run: async (request, signal) => {
        let context = request.context
        try {
          context = await unshelve(store, request.sessionId, context)
        } catch (error) {
          if (!(error instanceof KnownError)) throw error
          return { kind: 'failed', reason: error.message, retryable: error.retryable }
        }
        const outcome = await steps.run({ ...request, context }, signal)
        if (outcome.kind === 'replied' && callsOf(outcome.message).length === 0) {
          const naming = this.#nameSession(request, outcome.message)
          naming.catch((error: unknown) => parts.logger.warn({ err: error }, 'no title'))
        }
        return outcome
      },
    }
    this.tools = toolRunner({
      tools: parts.tools,
      clock,
      countMessage: (agent, message) => this.#countersFor(agent).countMessage(message),
      callMsMax: CALL_MS_MAX,
      onFailure: ({ sessionId, tool, error }) =>
        parts.logger.error({ sessionId, tool, err: error }, 'tool failed'),
    })
    const writerOf = (agent: string) => {
      const desk = parts.deskOf(agent)
      if (desk === undefined) return handoffWriter(this.#countersFor(agent))
      const counters = countersOf(desk.family)
      return this.#auxiliaryOf(desk).handoffs((summarize) => handoffWriter(counters, summarize))
    }
    this.writers = {
      model: { write: (request, signal) => writerOf(request.agent).write(request, signal) },
      digest: {
        write: (request, signal) =>
          handoffWriter(this.#countersFor(request.agent)).write(request, signal),
      },
    }
  }

  /** Calls beside the conversation: handoffs, titles. */
  #auxiliaryOf(desk: AgentDesk): Auxiliary {
    const known = this.#auxiliaries.get(desk.agent)
    if (known !== undefined) return known
    const { clock, logger, auxiliary } = this.#parts
    const made = new Auxiliary({
      ...auxiliary,
      routes: desk.routes,
      desk: { pool: this.#pool, credentials: this.#credentials, clock },
      attempts: this.#attempts,
      random: Math.random,
      tell: (notice) => {
        if (notice.kind !== 'attempt') logger.warn({ notice }, 'auxiliary task')
      },
    })
    this.#auxiliaries.set(desk.agent, made)
    return made
  }

  /** A session gets its name from its first answer on; one that fails is tried with the next. */
  async #nameSession(request: StepRequest, answer: AssistantMessage): Promise<void> {
    const { sessionId, agent, context, turn } = request
    if (turn > TITLE_TURNS_MAX) return
    const { store, deskOf, logger } = this.#parts
    const desk = deskOf(agent)
    const session = await store.findSession(sessionId)
    if (desk === undefined || session === undefined || session.title !== null) return
    const { signal } = this.#closing
    const messages = [...context, answer]
    const written = await this.#auxiliaryOf(desk).writeTitle(messages, { sessionId, signal })
    if (written.kind === 'written') await store.setTitle({ sessionId, title: written.value })
    else logger.debug({ sessionId, outcome: written.kind }, 'no title')
  }

  health(): readonly RouteHealth[] {
    return [...this.#routes.values()]
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#auxiliaries.values()].map((each) => each.close()))
    await this.#pool.close()
  }

  #open(route: ModelRoute): Model {
    const { clock } = this.#parts
    return openModel(route, { pool: this.#pool, credentials: this.#credentials, clock })
  }

  #countersFor(agent: string): Counters {
    return countersOf(this.#parts.deskOf(agent)?.family ?? 'generic')
  }

  #stepAgent(name: string, request: StepRequest): StepAgent | undefined {
    const desk = this.#parts.deskOf(name)
    if (desk === undefined) return undefined
    const [main, ...fallbacks] = desk.routes.forMain()
    return {
      models: [this.#open(main), ...fallbacks.map((route) => this.#open(route))],
      tools: this.#turnTools.of(request, desk.tools),
      stepsMax: desk.agent.stepsMax ?? STEPS_MAX,
      outputTokensMax: desk.outputTokens,
      countMessage: countersOf(desk.family).countMessage,
    }
  }

  #tell({ sessionId, turn, step, attempt }: LiveAttempt, piece: LivePiece): void {
    const id = { turn, step, attempt }
    this.#parts.onLive(sessionId, liveEvent(piece, id))
  }

  /** A turn's calls stand in the same record as all others: what they cost counts too. */
  #record(record: CallRecord): void {
    const { sessionId, agent, route, model, outcome, usage, at } = record
    const { logger, deskOf, onModelBack, auxiliary } = this.#parts
    const known = deskOf(agent)
      ?.routes.forMain()
      .find(({ name }) => name === route)
    const attempt: Attempt = {
      id: operationId(randomUUID()),
      sessionId,
      task: 'turn',
      modelRoute: route,
      outcome: wordOf(outcome),
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      cachedTokens: usage?.cacheReadTokens ?? 0,
      cost:
        usage === undefined || known === undefined ? null : costOf(usage, known, auxiliary.prices),
      at,
    }
    this.#attempts
      .record(attempt)
      .catch((error: unknown) => logger.warn({ err: error }, 'attempt not recorded'))
    const before = this.#routes.get(route)
    const answered = outcome.kind === 'finished'
    if (outcome.kind === 'interrupted') return
    const failures = answered ? 0 : (before?.failures ?? 0) + 1
    const state = answered ? 'closed' : 'open'
    this.#routes.set(route, { route, model, state, failures, retryAt: null })
    if (answered && before?.state === 'open') onModelBack()
  }
}

function liveEvent(piece: LivePiece, id: AttemptId): LiveEvent {
  if (piece.kind === 'void' || piece.kind === 'call') return { ...piece, ...id }
  const kind = piece.kind === 'text' ? 'delta' : 'reasoning'
  return { kind, text: piece.text, ...id }
}

const counters = new Map<ModelFamily, Counters>()

function countersOf(family: ModelFamily): Counters {
  let found = counters.get(family)
  if (found === undefined) {
    found = {
      countTokens: (text) => estimateText(text, family),
      countMessage: messageCounter(family),
    }
    counters.set(family, found)
  }
  return found
}
