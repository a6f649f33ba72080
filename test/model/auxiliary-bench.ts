import type { Clock } from '../../packages/core/src/base/clock.ts'
import type { SessionId } from '../../packages/core/src/base/ids.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { type HandoffRequest, handoffWriter } from '../../packages/core/src/session/handoff.ts'
import { SESSION_SETTINGS } from '../../packages/core/src/session/settings.ts'
import type { Limits, OperationRow } from '../../packages/core/src/store/tables/rows.ts'
import { estimateMessage, estimateText } from '../../packages/core/src/tokens/estimate.ts'
import type { Attempt } from '../../packages/server/src/auxiliary/attempts.ts'
import { Auxiliary } from '../../packages/server/src/auxiliary/auxiliary.ts'
import type { LadderParts } from '../../packages/server/src/auxiliary/summary-ladder.ts'
import {
  AuxiliaryTasks,
  type AuxiliaryTasksParts,
  type TaskNotice,
  type TaskOptions,
  type TaskRequest,
} from '../../packages/server/src/auxiliary/tasks.ts'
import { openModel } from '../../packages/server/src/model/provider-model.ts'
import type { ProviderName } from '../../packages/server/src/model/providers/names.ts'
import type { ModelRoute } from '../../packages/server/src/model/routes/route.ts'
import { Routes, routesSchema } from '../../packages/server/src/model/routes/routes.ts'
import type { StandInOptions } from '../../packages/server/src/stand-in/server.ts'
import { openBench } from './bench.ts'
import { MemoryAttempts } from './memory-attempts.ts'

/** Auxiliary tasks over real sockets: a main model and one beside it, both at one stand-in. */
export async function openAuxiliary(options: AuxiliaryOptions = {}) {
  const { auxiliary: own = {}, main = {}, task = {}, separate = true, ...standing } = options
  const bench = await openBench(standing)
  const time = { aheadMs: 0 }
  const clock: Clock = {
    now: () => bench.clock.now() + time.aheadMs,
    monotonic: () => bench.clock.monotonic(),
    after: (delayMs, callback) => bench.clock.after(delayMs, callback),
  }
  const route = (model: string, more: object) => ({
    provider: 'openai-chat' as ProviderName,
    baseUrl: `${bench.url}/v1`,
    credential: { kind: 'variable' as const, name: 'KEY' },
    model,
    ...more,
  })
  const routes = new Routes(
    routesSchema.parse({
      main: route('main-model', { windowTokens: 128_000, ...main }),
      auxiliary: separate
        ? { compaction: route('aux-model', { windowTokens: 128_000, ...task }) }
        : {},
    }),
  )
  const notices: TaskNotice[] = []
  const attempts = own.attempts ?? new MemoryAttempts()
  const { summaries, ...terms } = own
  const deps = { ...bench.deps, clock }
  const open = () => {
    const tasks = new AuxiliaryTasks({
      ...terms,
      attempts,
      clock,
      random: () => 0,
      openModel: (each) => openModel(each, deps),
      report: (notice) => notices.push(notice),
    })
    const parts = { tasks, routes, clock, ...(summaries !== undefined && { summaries }) }
    const auxiliary = new Auxiliary(parts)
    const handoffs = {
      write: async (request: HandoffRequest, signal: AbortSignal) => {
        const { messages, cut, operation } = request
        const ladder = auxiliary.summaryLadder({ messages, cut, sessionId: operation.sessionId })
        const writer = handoffWriter(counters, { summarize: (...asked) => ladder.write(...asked) })
        return { ...(await writer.write(request, signal)), spend: ladder.spend }
      },
    }
    return { tasks, auxiliary, handoffs }
  }
  const { tasks, auxiliary, handoffs } = open()
  /** Over the routes of the task, as an agent's own tasks are. */
  const start = (name: string, request: TaskRequest, asking: Omit<TaskOptions, 'routes'>) =>
    tasks.start(name, request, { ...asking, routes: routes.forTask(name) })
  const rows = () => notices.flatMap((each) => (each.kind === 'attempt' ? [each.attempt] : []))
  return {
    ...bench,
    routes,
    tasks,
    auxiliary,
    start,
    run: (...asked: Parameters<typeof start>) => start(...asked).outcome,
    notices,
    attempts,
    /** What was recorded, oldest first, in short. */
    outcomes: (): readonly string[] =>
      rows().map(({ modelRoute, outcome }) => `${modelRoute.split(/[/@]/)[1]} ${outcome}`),
    rows: rows as () => readonly Attempt[],
    handoffs,
    /** The wall clock of the tasks goes ahead by so much. */
    time,
    /** As after a restart: nothing is left but what was recorded. */
    reopen: open,
    close: async () => {
      await tasks.close()
      await bench.close()
    },
  }
}

export interface AuxiliaryOptions extends StandInOptions {
  readonly auxiliary?: Pick<LadderParts, 'summaries'> &
    Partial<Pick<AuxiliaryTasksParts, 'tasks' | 'allowance' | 'prices' | 'attempts'>>
  readonly main?: Partial<ModelRoute>
  readonly task?: Partial<ModelRoute>
  /** Whether summaries have a route of their own. */
  readonly separate?: boolean
}

export const counters = {
  countTokens: (text: string) => estimateText(text, 'generic'),
  countMessage: (message: Message) => estimateMessage(message, 'generic'),
}

export const SESSION: SessionId = sessionId('s1')

/** A request as a session makes it: cover all but the last message. */
export function handoffOf(
  messages: readonly Message[],
  options: { limits?: Partial<Limits>; focus?: string; sessionId?: SessionId } = {},
): HandoffRequest {
  const operation = {
    id: 'op1',
    sessionId: options.sessionId ?? SESSION,
    by: 'model',
    trigger: 'background',
  } as unknown as OperationRow
  return {
    operation,
    agent: 'a',
    focus: options.focus ?? null,
    messages,
    cut: messages.length - 1,
    open: [],
    entries: messages.map((_, index) => [index + 1]),
    limits: { ...LIMITS, ...options.limits },
    settings: SESSION_SETTINGS,
  }
}

const LIMITS: Limits = {
  hardTokens: 120_000,
  pinTokens: 4_000,
  handoffTokens: 8_000,
  inputTokens: 30_000,
  stepTokens: 30_000,
  outputTokens: 8_000,
  laneMailMax: 1_000,
  sourceMailMax: 1_000,
}
