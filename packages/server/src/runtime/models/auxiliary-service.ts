import { setImmediate as breathe } from 'node:timers/promises'
import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { LiveEvent } from '#core/session/events/runtime-event'
import {
  type HandoffReply,
  type HandoffRequest,
  type HandoffWriter,
  handoffWriter,
} from '#core/session/handoff'
import type { StepRequest } from '#core/session/step'
import type { ModelFamily } from '#core/tokens/family'
import type { Attempts } from '../../auxiliary/attempts.ts'
import { Auxiliary } from '../../auxiliary/auxiliary.ts'
import type { SummaryLadder } from '../../auxiliary/summary-ladder.ts'
import type { SummarySettings } from '../../auxiliary/summary-rungs.ts'
import { AuxiliaryTasks, type AuxiliaryTasksParts } from '../../auxiliary/tasks.ts'
import { TitleQueue } from '../../auxiliary/title-queue.ts'
import type { ResolvedAgent } from '../agent.ts'
import type { HandoffThread } from '../handoff-thread/handoff-thread.ts'
import { nameSession } from '../sessions/session-titles.ts'
import { NoteProposals, type NoteProposalsParts } from '../tools/note-proposals.ts'
import type { TurnTools } from '../tools/turn-tools.ts'
import { countersOf } from './counters.ts'
import type { SpendLimits } from './spend-caps.ts'
import { TaskNotices } from './task-notices.ts'

export interface AuxiliaryTerms
  extends Pick<AuxiliaryTasksParts, 'tasks' | 'allowance' | 'prices'> {
  readonly summaries?: Pick<SummarySettings, 'atProvider'>
  /** Spending limits of turns. */
  readonly spend?: SpendLimits
}

export interface AuxiliaryServiceParts extends NoteProposalsParts {
  readonly clock: Clock
  readonly auxiliary: AuxiliaryTerms
  /** The current agents. */
  readonly agents: () => ReadonlyMap<string, ResolvedAgent>
  readonly onLive: (sessionId: SessionId, event: LiveEvent) => void
  readonly handoffThread?: HandoffThread
}

interface Shared {
  readonly attempts: Attempts
  readonly openModel: AuxiliaryTasksParts['openModel']
  readonly turnTools: TurnTools
}

/** Auxiliary model calls: one set of tasks and one budget for all agents of a process. */
export class AuxiliaryService {
  /** `preview` returns what `model` would write, and changes nothing. */
  readonly writers: { readonly [kind in 'model' | 'preview' | 'digest']: HandoffWriter }
  readonly #parts: AuxiliaryServiceParts
  readonly #turnTools: TurnTools
  readonly #tasks: AuxiliaryTasks
  readonly #proposals: NoteProposals
  readonly #notices: TaskNotices
  readonly #running = new Set<Promise<void>>()
  readonly #titles = new TitleQueue()
  readonly #closing = new AbortController()

  constructor(parts: AuxiliaryServiceParts, { attempts, openModel, turnTools }: Shared) {
    this.#parts = parts
    const { clock, logger, auxiliary } = parts
    this.#turnTools = turnTools
    this.#proposals = new NoteProposals(parts)
    this.#notices = new TaskNotices(parts.onLive)
    this.#tasks = new AuxiliaryTasks({
      ...{ ...auxiliary, clock, attempts, openModel },
      random: Math.random,
      report: (notice) => {
        if (notice.kind !== 'attempt') logger.warn({ notice }, 'auxiliary task')
        if (notice.kind === 'budget-spent') this.#notices.notify(notice.sessionId, notice.kind)
      },
    })
    this.writers = {
      model: {
        write: (request, signal) => {
          this.#proposeNotes(request)
          return this.#write(request, signal, this.#ladderFor(request))
        },
      },
      preview: {
        write: (request, signal) => this.#write(request, signal, this.#ladderFor(request)),
      },
      digest: { write: (request, signal) => this.#write(request, signal) },
    }
  }

  /** Aborted when the process closes. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** False: a person's stop does not cancel the description of an image. */
  get stopsVision(): boolean {
    return this.#tasks.settingsOf('vision').onInterrupt !== 'defer'
  }

  countersFor(agent: string) {
    return countersOf(this.#familyOf(agent))
  }

  #familyOf(agent: string): ModelFamily {
    return this.#parts.agents().get(agent)?.family ?? 'generic'
  }

  /** Created for each use: it holds no state, and an agent's routes change with the configuration. */
  of({ routes, tools }: ResolvedAgent): Auxiliary {
    const { clock, auxiliary } = this.#parts
    const summaries: SummarySettings = {
      ...auxiliary.summaries,
      conversationOf: (sessionId) => ({
        tools: this.#turnTools.newestOf(sessionId, tools),
        cacheKey: sessionId,
      }),
    }
    return new Auxiliary({ tasks: this.#tasks, routes, clock, summaries })
  }

  noteTurn({ sessionId, turn, isShortened }: StepRequest): void {
    this.#notices.noteTurn(sessionId, turn)
    if (isShortened) this.#notices.notify(sessionId, 'message-shortened')
  }

  nameSession(resolved: ResolvedAgent, asked: Parameters<typeof nameSession>[2]): void {
    const name = () => nameSession(this.#parts, this.of(resolved), asked, this.#closing.signal)
    this.run(this.#titles.write(asked.sessionId, name), 'no title')
  }

  /** A person's stop also cancels the session's tasks, except shielded ones. */
  interrupt(sessionId: SessionId): void {
    const tasks = this.#tasks.interrupt(sessionId)
    if (tasks.length > 0)
      this.#parts.logger.info({ sessionId, tasks }, 'auxiliary tasks interrupted')
    const isDeferred = tasks.some(
      (each) => each.task === 'compaction' && each.answer === 'deferred',
    )
    if (isDeferred) this.#notices.notify(sessionId, 'stop-deferred')
  }

  /** Only `close` waits for it; a failure is logged and has no other effect. */
  run(work: Promise<unknown>, failure: string): void {
    const running: Promise<void> = work
      .then(
        () => {},
        (error: unknown) => this.#parts.logger.warn({ err: error }, failure),
      )
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#titles.close()
    await this.#tasks.close()
    await Promise.all(this.#running)
  }

  #proposeNotes(request: HandoffRequest): void {
    const resolved = this.#parts.agents().get(request.agent)
    if (resolved === undefined) return
    const { signal } = this.#closing
    const auxiliary = this.of(resolved)
    this.run(this.#proposals.propose(resolved.agent, auxiliary, request, signal), 'no notes')
  }

  #ladderFor({ agent, operation: { sessionId }, messages, cut }: HandoffRequest) {
    const resolved = this.#parts.agents().get(agent)
    if (resolved === undefined) return undefined
    return this.of(resolved).summaryLadder({ sessionId, messages, cut })
  }

  /** Without a ladder, writes the digest. */
  async #write(
    request: HandoffRequest,
    signal: AbortSignal,
    ladder?: SummaryLadder,
  ): Promise<HandoffReply> {
    const summarize = ladder && { summarize: ladder.write.bind(ladder) }
    const family = this.#familyOf(request.agent)
    const { handoffThread } = this.#parts
    return handoffThread === undefined
      ? await handoffWriter(countersOf(family), { breathe, ...summarize }).write(request, signal)
      : await handoffThread.write({ kind: 'session', request, family }, { signal, ...summarize })
  }
}
