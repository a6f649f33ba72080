import { setImmediate as breathe } from 'node:timers/promises'
import type { Clock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import type { SessionId } from '#core/base/ids'
import { type HandoffRequest, type HandoffWriter, handoffWriter } from '#core/session/handoff'
import {
  callsOf,
  type StepOutcome,
  type StepRequest,
  type StepRunner,
  type ToolRunner,
} from '#core/session/step'
import type { Store } from '#core/store/contract'
import { Auxiliary } from '../../auxiliary/auxiliary.ts'
import type { SummarySettings } from '../../auxiliary/summary-rungs.ts'
import { AuxiliaryTasks, type AuxiliaryTasksParts } from '../../auxiliary/tasks.ts'
import { DEADLINES } from '../../model/connections/deadlines.ts'
import { Pool } from '../../model/connections/pool.ts'
import type { Model } from '../../model/model.ts'
import { openModel } from '../../model/provider-model.ts'
import { warmUp } from '../../model/providers/open.ts'
import { Credentials, type Environment } from '../../model/routes/credential.ts'
import type { ModelRoute } from '../../model/routes/route.ts'
import type { Tool } from '../../tools/tool.ts'
import { Calibrations } from '../../turn/calibrations.ts'
import {
  type LiveAttempt,
  type LivePiece,
  modelSteps,
  type StepAgent,
} from '../../turn/model-steps.ts'
import { CALL_MS_MAX, toolRunner } from '../../turn/tool-runner.ts'
import type { ResolvedAgent } from '../agent.ts'
import type { AttemptId, LiveEvent } from '../events/runtime-event.ts'
import type { Health, RouteHealth } from '../health.ts'
import type { Logger } from '../logger.ts'
import { unshelve } from '../sessions/blobs.ts'
import { ImageTexts } from '../sessions/image-texts.ts'
import { nameSession } from '../sessions/session-titles.ts'
import { NoteProposals, type NoteProposalsParts } from '../tools/note-proposals.ts'
import { TurnTools } from '../tools/turn-tools.ts'
import { storedAttempts } from './attempts.ts'
import { countersOf } from './counters.ts'
import { readRouteHealth } from './route-health.ts'
import { TaskNotices } from './task-notices.ts'
import { TurnCalls } from './turn-calls.ts'

/**
 * Everything of a process that talks to models: one pool of connections, one record of attempts and
 * one set of tasks for all agents; steps, tools and handoffs as the sessions want them.
 */
export interface ModelServiceParts extends NoteProposalsParts {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly environment: Environment
  readonly auxiliary: AuxiliaryTerms
  /** The agents as they are now. */
  readonly agents: () => ReadonlyMap<string, ResolvedAgent>
  /** By agent; changes with the configuration. */
  readonly tools: ReadonlyMap<string, readonly Tool[]>
  readonly onLive: (sessionId: SessionId, event: LiveEvent) => void
  /** Nothing more is told of what its step wrote. */
  readonly onStepEnd: (sessionId: SessionId) => void
  readonly onModelBack: () => void
}

export interface AuxiliaryTerms
  extends Pick<AuxiliaryTasksParts, 'tasks' | 'allowance' | 'prices'> {
  readonly summaries?: Pick<SummarySettings, 'atProvider'>
}

const STEPS_MAX = 50

export class ModelService {
  readonly steps: StepRunner
  readonly tools: ToolRunner
  /** `preview` shows what `model` would write, and changes nothing. */
  readonly writers: { readonly [kind in 'model' | 'preview' | 'digest']: HandoffWriter }
  /** What each session's bills have taught about its tokens. */
  readonly calibrations = new Calibrations()
  readonly #parts: ModelServiceParts
  readonly #pool: Pool
  readonly #credentials: Credentials
  readonly #attempts: ReturnType<typeof storedAttempts>
  readonly #auxiliaryTasks: AuxiliaryTasks
  readonly #imageTexts: ImageTexts
  readonly #proposals: NoteProposals
  readonly #notices: TaskNotices
  readonly #turnTools = new TurnTools()
  /** What goes on beside turns and compactions. */
  readonly #beside = new Set<Promise<void>>()
  readonly #closing = new AbortController()

  constructor(parts: ModelServiceParts) {
    this.#parts = parts
    const { clock, logger, auxiliary } = parts
    this.#pool = new Pool({ environment: parts.environment })
    this.#credentials = new Credentials(parts.environment)
    this.#imageTexts = new ImageTexts(clock)
    this.#attempts = storedAttempts(parts.store)
    this.#proposals = new NoteProposals(parts)
    this.#notices = new TaskNotices(parts.onLive)
    this.#auxiliaryTasks = new AuxiliaryTasks({
      ...auxiliary,
      clock,
      attempts: this.#attempts,
      random: Math.random,
      openModel: (route) => this.#open(route),
      report: (notice) => {
        if (notice.kind !== 'attempt') logger.warn({ notice }, 'auxiliary task')
        if (notice.kind === 'budget-spent') this.#notices.notify(notice.sessionId, notice.kind)
      },
    })
    const turnCalls = new TurnCalls({
      ...{ attempts: this.#attempts, prices: auxiliary.prices, logger },
      onModelBack: parts.onModelBack,
    })
    const steps = modelSteps({
      agentOf: (name, request) => this.#stepAgent(name, request),
      deadlines: DEADLINES,
      clock,
      random: Math.random,
      calibrations: this.calibrations,
      onPiece: (attempt, piece) => this.#publish(attempt, piece),
      onCall: (record) => this.#own(turnCalls.record(record), 'attempt not recorded'),
    })
    this.steps = { run: (request, signal) => this.#runStep(steps, request, signal) }
    this.tools = toolRunner({
      tools: parts.tools,
      clock,
      countMessage: (agent, message) => this.#countersFor(agent).countMessage(message),
      callMsMax: CALL_MS_MAX,
      onFailure: ({ sessionId, tool, error }) =>
        logger.error({ sessionId, tool, err: error }, 'tool failed'),
    })
    this.writers = {
      model: { write: (request, signal) => this.#writerWithNotes(request).write(request, signal) },
      preview: { write: (request, signal) => this.#writer(request).write(request, signal) },
      digest: {
        write: (request, signal) =>
          handoffWriter(this.#countersFor(request.agent), { breathe }).write(request, signal),
      },
    }
  }

  /** What the first call would load is loaded before anybody waits. */
  async start(): Promise<void> {
    const agents = [...this.#parts.agents().values()]
    const providers = new Set(agents.flatMap(({ routes }) => [...routes.providers]))
    await Promise.all([...providers].map(warmUp))
  }

  /** A person stops a session: so do its tasks, but those that are shielded. */
  interrupt(sessionId: SessionId): void {
    const tasks = this.#auxiliaryTasks.interrupt(sessionId)
    if (tasks.length > 0)
      this.#parts.logger.info({ sessionId, tasks }, 'auxiliary tasks interrupted')
    const isDeferred = tasks.some(
      (each) => each.task === 'compaction' && each.answer === 'deferred',
    )
    if (isDeferred) this.#notices.notify(sessionId, 'stop-deferred')
  }

  async health(): Promise<readonly RouteHealth[]> {
    const { agents, clock } = this.#parts
    return await readRouteHealth(this.#attempts, agents().values(), clock.now())
  }

  get connections(): Health['connections'] {
    const { opened, lines: open, evicted } = this.#pool
    return { opened, open, evicted }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#auxiliaryTasks.close()
    await Promise.all(this.#beside)
    await this.#pool.close()
  }

  async #runStep(
    steps: StepRunner,
    request: StepRequest,
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const { sessionId, turn, upto, agent } = request
    this.#notices.noteTurn(sessionId, turn)
    let context = request.context
    try {
      context = await unshelve(this.#parts.store, sessionId, context)
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      return { kind: 'failed', reason: error.message, retryable: error.retryable }
    }
    const outcome = await steps
      .run({ ...request, context }, signal)
      .finally(() => this.#parts.onStepEnd(sessionId))
    const resolved = this.#parts.agents().get(agent)
    if (outcome.kind !== 'replied' || callsOf(outcome.message).length > 0) return outcome
    if (resolved !== undefined) {
      const asked = { sessionId, turn, upto, messages: [...request.context, outcome.message] }
      this.#own(
        nameSession(this.#parts, this.#auxiliaryOf(resolved), asked, this.#closing.signal),
        'no title',
      )
    }
    return outcome
  }

  #writerWithNotes(request: HandoffRequest): HandoffWriter {
    const resolved = this.#parts.agents().get(request.agent)
    if (resolved !== undefined) {
      const { signal } = this.#closing
      const auxiliary = this.#auxiliaryOf(resolved)
      this.#own(this.#proposals.propose(resolved.agent, auxiliary, request, signal), 'no notes')
    }
    return this.#writer(request)
  }

  #writer({ agent, operation: { sessionId }, messages, cut }: HandoffRequest): HandoffWriter {
    const resolved = this.#parts.agents().get(agent)
    const counters = this.#countersFor(agent)
    if (resolved === undefined) return handoffWriter(counters, { breathe })
    const ladder = this.#auxiliaryOf(resolved).summaryLadder({ sessionId, messages, cut })
    return handoffWriter(counters, { summarize: (...asked) => ladder.write(...asked), breathe })
  }

  /** Made for each use: it holds nothing, and an agent's routes change with the configuration. */
  #auxiliaryOf({ routes, tools }: ResolvedAgent): Auxiliary {
    const { clock, auxiliary } = this.#parts
    const summaries: SummarySettings = {
      ...auxiliary.summaries,
      conversationOf: (sessionId) => ({
        tools: this.#turnTools.newestOf(sessionId, tools),
        cacheKey: sessionId,
      }),
    }
    return new Auxiliary({ tasks: this.#auxiliaryTasks, routes, clock, summaries })
  }

  /** Nobody waits for it before the end; a failure is told and costs nothing else. */
  #own(work: Promise<unknown>, failure: string): void {
    const owned: Promise<void> = work
      .then(
        () => {},
        (error: unknown) => this.#parts.logger.warn({ err: error }, failure),
      )
      .finally(() => this.#beside.delete(owned))
    this.#beside.add(owned)
  }

  #open(route: ModelRoute): Model {
    const { clock } = this.#parts
    return openModel(route, { pool: this.#pool, credentials: this.#credentials, clock })
  }

  #countersFor(agent: string) {
    return countersOf(this.#parts.agents().get(agent)?.family ?? 'generic')
  }

  #stepAgent(name: string, request: StepRequest): StepAgent | undefined {
    const resolved = this.#parts.agents().get(name)
    if (resolved === undefined) return undefined
    const { sessionId } = request
    const auxiliary = this.#auxiliaryOf(resolved)
    // What the step is told to stop for must not reach a description that is shielded.
    const isShielded = this.#auxiliaryTasks.settingsOf('vision').onInterrupt === 'defer'
    const open = (route: ModelRoute) =>
      this.#imageTexts.through(this.#open(route), (image, stop) => {
        const signal = isShielded ? this.#closing.signal : stop
        return auxiliary.describeImage(image, { sessionId, signal })
      })
    const [main, ...fallbacks] = resolved.routes.forMain()
    return {
      models: [open(main), ...fallbacks.map(open)],
      tools: this.#turnTools.of(request, resolved.tools),
      stepsMax: resolved.agent.stepsMax ?? STEPS_MAX,
      outputTokensMax: resolved.outputTokens,
      countMessage: countersOf(resolved.family).countMessage,
    }
  }

  #publish({ sessionId, turn, step, attempt }: LiveAttempt, piece: LivePiece): void {
    const id = { turn, step, attempt }
    this.#parts.onLive(sessionId, liveEvent(piece, id))
  }
}

function liveEvent(piece: LivePiece, id: AttemptId): LiveEvent {
  if (piece.kind === 'void' || piece.kind === 'call') return { ...piece, ...id }
  const kind = piece.kind === 'text' ? 'delta' : 'reasoning'
  return { kind, text: piece.text, ...id }
}
