import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../packages/core/src/base/clock.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { isObject } from '../../packages/core/src/base/json.ts'
import type { Logger } from '../../packages/core/src/base/logger.ts'
import type { UserPart } from '../../packages/core/src/message/message.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import type { Agent } from '../../packages/server/src/runtime/agent.ts'
import { openRuntime, type RuntimeOptions } from '../../packages/server/src/runtime/open-runtime.ts'
import type { JournalEntry } from '../../packages/server/src/stand-in/journal.ts'
import { type StandInOptions, standIn } from '../../packages/server/src/stand-in/server.ts'

/** A whole runtime before a stand-in, over real sockets. */
export interface RuntimeBenchOptions {
  readonly server?: StandInOptions
  readonly agents?: (url: string) => readonly Agent[]
  readonly runtime?: Partial<RuntimeOptions>
}

export async function openRuntimeBench(options: RuntimeBenchOptions = {}) {
  const server = standIn(options.server ?? {})
  const running = await server.start()
  const store = options.runtime?.store ?? openMemoryStore()
  const time = { aheadMs: 0 }
  const clock: Clock = { ...ticking, now: () => systemClock.now() + time.aheadMs }
  const lines: Line[] = []
  const agents = options.agents?.(running.url) ?? [agentOf(running.url)]
  const open = async (more: Partial<RuntimeOptions> = {}) =>
    await openRuntime({
      store,
      agents,
      clock,
      logger: loggerOf(lines),
      ...options.runtime,
      ...more,
    })
  const runtime = await open()
  const opened = [runtime]
  const session = async (id: string, agent = 'main') => {
    await runtime.createSession({ agent, id })
    return runtime.session(sessionId(id))
  }
  type Session = Awaited<ReturnType<typeof session>>
  const say = async (to: Session, ...parts: readonly (string | UserPart)[]) => {
    const admitted = await to.admit({
      source: 'test',
      key: randomUUID(),
      parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
    })
    if (!('mail' in admitted)) throw new Error(`not admitted: ${admitted.kind}`)
    return await to.reply(admitted.mail, AbortSignal.timeout(15_000))
  }
  return {
    ...{ server, url: running.url, store, runtime, agents, lines, time, session, say },
    /** Another process on the same store. */
    openAnother: async () => {
      const another = await open({ runs: false })
      opened.push(another)
      return another
    },
    /** So much said that there is something to compact. */
    fill: async (to: Session, turns = 6) => {
      for (let turn = 1; turn <= turns; turn++) {
        await say(to, `Fact ${turn}: ${'the river is wide and slow here. '.repeat(120)}`)
      }
    },
    requestsOf: (isMeant: (entry: JournalEntry) => boolean) =>
      server.journal.entries.filter(isMeant),
    close: async () => {
      for (const each of opened.reverse()) await each.close()
      await store.close()
      await running.close()
    },
  }
}

const ticking = {
  monotonic: () => systemClock.monotonic(),
  after: (delayMs: number, callback: () => void) => systemClock.after(delayMs, callback),
}

export function routeOf(url: string, model = 'stand-in', more: object = {}) {
  const provider = 'openai-compatible' as const
  return { provider, baseUrl: `${url}/v1`, model, windowTokens: 16_000, ...more }
}

export function agentOf(url: string, more: Partial<Agent> = {}): Agent {
  return {
    name: 'main',
    system: 'You are a helpful agent.',
    routes: { main: routeOf(url), fallbacks: [], auxiliary: {} },
    ...more,
  }
}

export function modelOf({ body }: JournalEntry): unknown {
  return isObject(body) ? body['model'] : undefined
}

export interface Line {
  readonly facts: Readonly<Record<string, unknown>>
  readonly sentence: string
}

function loggerOf(lines: Line[]): Logger {
  const write = (facts: object, sentence: string) => {
    lines.push({ facts: facts as Line['facts'], sentence })
  }
  return { error: write, warn: write, info: write, debug: write }
}
