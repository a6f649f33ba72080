import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { afterEach } from 'vitest'
import { z } from 'zod'
import { openAgent } from '../../packages/core/src/agent/agent.ts'
import type {
  AgentStep,
  DurableAgent,
  OpenAgentOptions,
} from '../../packages/core/src/agent/agent-types.ts'
import type { Format } from '../../packages/core/src/agent/typed-formats/format.ts'
import { type OpenAIChat, openaiChat } from '../../packages/core/src/agent/typed-formats/openai.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'

/** Agents for tests, closed after each test. */
export type Chat = Format<OpenAIChat>
export type ChatStep = AgentStep<Chat>

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

export function openStore(): Store {
  const store = openMemoryStore()
  opened.push(() => store.close())
  return store
}

export async function openFile(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-agent-'))
  const store = await openSqliteStore({ path: join(folder, 'store.db') })
  opened.push(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return store
}

export async function open(
  step: OpenAgentOptions<Chat>['step'],
  more: Partial<OpenAgentOptions<Chat>> = {},
): Promise<DurableAgent<Chat>> {
  const store = more.store ?? openStore()
  const agent = await openAgent({
    ...{ name: 'mine', format: openaiChat, contextWindow: 32_000, system: 'Be brief.' },
    ...{ retry: { attempts: 1 }, ...more, store, step },
  })
  opened.push(() => agent.close())
  return agent
}

export function lastText({ request }: ChatStep): string {
  const last: ChatCompletionMessageParam | undefined = request.messages.at(-1)
  return typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content)
}
export const said = (content: string): ChatCompletionMessageParam & { role: 'assistant' } => ({
  role: 'assistant',
  content,
})
export const echo = (step: ChatStep) => said(`You said: ${lastText(step)}`)

export const town = z.object({ town: z.string() })

/** An answer that calls the tool `weather`. */
export const calling = (input: object): ChatCompletionMessageParam & { role: 'assistant' } => ({
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'c1', type: 'function', function: { name: 'weather', arguments: JSON.stringify(input) } },
  ],
})
