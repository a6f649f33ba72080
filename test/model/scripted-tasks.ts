import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { AssistantPart } from '../../packages/core/src/message/message.ts'
import type { AuxiliaryTasksParts, TaskNotice } from '../../packages/server/src/auxiliary/tasks.ts'
import { AuxiliaryTasks } from '../../packages/server/src/auxiliary/tasks.ts'
import type {
  CallOptions,
  CallUsage,
  ModelRequest,
  StreamPiece,
} from '../../packages/server/src/model/model.ts'
import type { Outcome } from '../../packages/server/src/model/outcomes/outcome.ts'
import type { ModelRoute } from '../../packages/server/src/model/routes/route.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryAttempts } from './memory-attempts.ts'

export const HERE = sessionId('here')

export interface Answer {
  readonly text?: string
  readonly parts?: readonly AssistantPart[]
  readonly outcome?: Outcome
  readonly usage?: CallUsage
  /** Answers nothing until the call is aborted. */
  readonly hangs?: true
}

export function routeOf(name: string, more: Partial<ModelRoute> = {}): ModelRoute {
  return {
    ...{ name, provider: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1', model: name },
    ...{ credential: { kind: 'none' }, windowTokens: 100_000, ...more },
  }
}

/** Auxiliary tasks over models that play a list of answers, with all that was asked of them. */
export function scriptedTasks(
  answers: readonly Answer[],
  parts: Partial<AuxiliaryTasksParts> = {},
) {
  const clock = new FakeClock()
  const attempts = new MemoryAttempts()
  const asked: (CallOptions & { readonly route: ModelRoute; readonly request: ModelRequest })[] = []
  const notices: TaskNotice[] = []
  async function* stream(
    route: ModelRoute,
    request: ModelRequest,
    options: CallOptions,
  ): AsyncGenerator<StreamPiece> {
    const { text = '', parts: own, outcome, usage, hangs } = answers[asked.length] ?? {}
    asked.push({ ...options, route, request })
    if (hangs && !options.signal.aborted) {
      await new Promise((resolve) => options.signal.addEventListener('abort', resolve))
    }
    const said = own ?? (text === '' ? [] : [{ type: 'text' as const, text }])
    yield {
      kind: 'end',
      outcome: options.signal.aborted
        ? { kind: 'interrupted' }
        : (outcome ?? { kind: 'finished', finish: 'stop' }),
      reply: said.length === 0 ? null : { role: 'assistant', parts: said },
      ...(usage !== undefined && { usage }),
    }
  }
  const tasks = new AuxiliaryTasks({
    attempts,
    clock,
    random: () => 0,
    openModel: (route) => ({
      route,
      stream: (request, options) => stream(route, request, options),
      renew: async () => false,
    }),
    report: (notice) => notices.push(notice),
    ...parts,
  })
  return { tasks, clock, attempts, asked, notices }
}
