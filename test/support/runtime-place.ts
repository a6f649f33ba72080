import { afterEach } from 'vitest'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import type { Agent } from '../../packages/server/src/runtime/agent.ts'
import {
  type LocalRuntime,
  openRuntime,
  type RuntimeOptions,
} from '../../packages/server/src/runtime/open-runtime.ts'
import type { NewMessage } from '../../packages/server/src/runtime/runtime.ts'
import { type StandIn, standIn } from '../../packages/server/src/stand-in/server.ts'

/** A runtime on a store in memory with the stand-in model; closed after the test. */
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

export async function open(options: Partial<RuntimeOptions> = {}): Promise<{
  runtime: LocalRuntime
  store: Store
  agent: Agent
  url: string
  model: { server: StandIn; stop: () => Promise<void>; start: (port: number) => Promise<void> }
}> {
  const server = standIn()
  let running = await server.start()
  const store = options.store ?? openMemoryStore()
  const { url } = running
  const agent: Agent = {
    name: 'main',
    system: 'You are a helpful agent.',
    routes: {
      main: {
        ...{ provider: 'openai-compatible', baseUrl: `${url}/v1`, model: 'stand-in' },
        windowTokens: 16_000,
      },
      fallbacks: [],
      auxiliary: {},
    },
  }
  const runtime = await openRuntime({ agents: [agent], ...options, store })
  closing.push(async () => {
    await runtime.close()
    await store.close()
    await running.close()
  })
  const model = {
    server,
    stop: () => running.close(),
    start: async (port: number) => {
      running = await server.start({ port })
    },
  }
  return { runtime, store, agent, url, model }
}

export function say(text: string, key: string): NewMessage {
  return { source: 'test', key, parts: [{ type: 'text', text }] }
}

export function mailOf(admission: Awaited<ReturnType<LocalRuntime['admit']>>) {
  if (!('mail' in admission)) throw new Error(`not admitted: ${admission.kind}`)
  return admission.mail
}

export function soon(): AbortSignal {
  return AbortSignal.timeout(60_000)
}
