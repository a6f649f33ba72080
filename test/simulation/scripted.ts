import type { Handoff } from '../../packages/core/src/message/handoff/handoff.ts'
import type { AssistantMessage } from '../../packages/core/src/message/message.ts'
import type { HandoffReply, HandoffWriter } from '../../packages/core/src/session/handoff.ts'
import type { Edge } from '../../packages/core/src/session/sender.ts'
import type {
  StepOutcome,
  StepRunner,
  ToolOutcome,
  ToolRequest,
  ToolRunner,
} from '../../packages/core/src/session/step.ts'
import type { Laws } from './laws.ts'
import type { Life } from './sim-process.ts'
import type { World } from './world.ts'

/**
 * The external parties: a model, tools, a handoff writer and an edge, each with its own failures.
 */

/** For dead processes. One promise for all would keep every waiting process of every seed alive. */
const never = () => new Promise<never>(() => {})

export function scriptedSteps(world: World, owner: Life, laws: Laws): StepRunner {
  const { chance, timeline } = world
  return {
    run(request, signal) {
      if (owner.isDead) return never()
      laws.stepBegins(owner, request)
      if (laws.isPoisoned(request)) {
        timeline.plan(owner, chance.between(1, 100), () => owner.process.crash('by poison'))
        return new Promise(() => {})
      }
      return new Promise<StepOutcome>((resolve) => {
        const answerMs = chance.between(20, chance.hits(0.1) ? 2_500 : 500)
        let isOver = false
        const cancel = timeline.plan(owner, answerMs, () => {
          isOver = true
          resolve(outcome())
        })
        const outcome = (): StepOutcome => {
          if (world.fault(0.02)) {
            laws.overflowed(request)
            return { kind: 'overflow' }
          }
          if (world.fault(0.03)) return { kind: 'failed', reason: 'overloaded', retryable: true }
          if (world.fault(0.01)) return { kind: 'failed', reason: 'refused', retryable: false }
          const calls = chance.hits(world.hasFaults ? 0.55 : 0.3) ? chance.between(1, 3) : 0
          return { kind: 'replied', message: speak(laws, calls), tokens: chance.between(20, 300) }
        }
        const stop = () => {
          if (isOver) return
          cancel()
          world.count('step interrupted')
          const message = chance.hits(0.5) ? speak(laws, 0) : null
          const tokens = message === null ? 0 : chance.between(5, 100)
          timeline.plan(owner, chance.between(1, 5), () =>
            resolve({ kind: 'interrupted', message, tokens }),
          )
        }
        if (signal.aborted) stop()
        else signal.addEventListener('abort', stop, { once: true })
      })
    },
  }
}

function speak(laws: Laws, calls: number): AssistantMessage {
  const text = laws.nextWord()
  return {
    role: 'assistant',
    parts: [
      { type: 'text', text },
      ...Array.from({ length: calls }, (_, index) => ({
        type: 'tool-call' as const,
        id: `${text}c${index}`,
        name: (index + text.length) % 3 === 0 ? 'read' : 'send',
        input: null,
      })),
    ],
  }
}

export function scriptedTools(world: World, owner: Life, laws: Laws): ToolRunner {
  const { chance, timeline } = world
  // In some sessions nearly all is read by tools: there a clearing suffices.
  const sizeOfResult = ({ sessionId }: ToolRequest) =>
    sessionId.endsWith('1') ? chance.between(500, 760) : chance.between(10, 200)
  return {
    isRepeatable: (name) => name === 'read',
    run(request, signal) {
      if (owner.isDead) return never()
      laws.toolBegins(owner, request)
      return new Promise<ToolOutcome>((resolve) => {
        const end = (outcome: ToolOutcome['outcome']) => {
          const tokens = chance.hits(0.05) ? chance.between(900, 5_000) : sizeOfResult(request)
          resolve({ outcome, output: `result:${request.call.id}`, tokens })
        }
        const ms = chance.between(5, 300)
        let isOver = false
        const cancel = timeline.plan(owner, ms, () => {
          isOver = true
          end(world.fault(0.1) ? 'error' : 'ok')
        })
        const stop = () => {
          if (isOver) return
          cancel()
          timeline.plan(owner, 1, () => end('interrupted'))
        }
        if (signal.aborted) stop()
        else signal.addEventListener('abort', stop, { once: true })
      })
    },
  }
}

export function scriptedWriter(
  world: World,
  owner: Life,
  laws: Laws,
  by: 'model' | 'digest',
): HandoffWriter {
  const { chance, timeline } = world
  return {
    write(request, signal) {
      if (owner.isDead) return never()
      laws.handoffBegins(owner, request)
      const { operation } = request
      const { limits } = request
      return new Promise<HandoffReply>((resolve) => {
        let isOver = false
        const give = () => {
          isOver = true
          if (by === 'model' && world.fault(0.25)) {
            return resolve({
              kind: 'failed',
              reason: chance.pick(['summary-failed', 'not-smaller']),
            })
          }
          // Sometimes a handoff that must be refused.
          const isTooLong = by === 'model' && world.fault(0.05)
          const tokens = isTooLong
            ? limits.handoffTokens + 1
            : chance.between(60, by === 'digest' ? 200 : limits.handoffTokens)
          laws.handoffGiven(request, tokens)
          resolve({ kind: 'written', handoff: laws.handoffFor(request, by), tokens })
        }
        if (by === 'digest') {
          const isErasure = operation.reason === 'erasure'
          timeline.plan(owner, isErasure ? world.erasing.between(1, 900) : 1, give)
          return
        }
        const hangs = world.fault(0.05)
        const ms = hangs ? 100_000 : chance.between(50, chance.hits(0.3) ? 3_000 : 600)
        const cancel = timeline.plan(owner, ms, give)
        const stop = () => {
          if (isOver) return
          cancel()
          laws.handoffAborted(owner, operation, signal.reason)
          timeline.plan(owner, 1, () => resolve({ kind: 'failed', reason: 'aborted' }))
        }
        if (signal.aborted) stop()
        else signal.addEventListener('abort', stop, { once: true })
      })
    },
  }
}

/** A handoff that contains each of these words once, and nothing else. */
export function handoffOfWords(
  by: Handoff['by'],
  summary: string,
  kept: number,
  words: readonly string[],
): Handoff {
  return {
    version: 1,
    by,
    covers: 0,
    kept,
    compactions: 1,
    preserved: [],
    tasks: [],
    files: [],
    ledger: words.map((text) => ({ kind: 'name', text, count: 1, number: 1 })),
    summary,
  }
}

export function scriptedEdge(world: World, owner: Life, laws: Laws): Edge {
  const { chance, timeline } = world
  return {
    name: 'edge',
    send(reply) {
      if (owner.isDead) return never()
      laws.replySent(owner, reply)
      return new Promise((resolve) => {
        const isLost = world.fault(0.05)
        timeline.plan(owner, chance.between(1, 150), () => {
          if (isLost) laws.sendFailed(reply)
          resolve(isLost ? { kind: 'failed' } : { kind: 'sent', receipt: 'ok' })
        })
      })
    },
  }
}
