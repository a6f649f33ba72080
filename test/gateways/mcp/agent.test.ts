import { describe, expect, it } from 'vitest'
import { type SessionId, sessionId } from '../../../packages/core/src/base/ids.ts'
import { isObject, type JsonObject } from '../../../packages/core/src/base/json.ts'
import { textOf } from '../../../packages/core/src/message/text.ts'
import { openMemoryStore } from '../../../packages/core/src/store/memory/open.ts'
import {
  type LocalRuntime,
  openRuntime,
} from '../../../packages/server/src/runtime/open-runtime.ts'
import type { JournalEntry } from '../../../packages/server/src/stand-in/journal.ts'
import { standIn } from '../../../packages/server/src/stand-in/server.ts'
import type { McpServerConfig } from '../../../packages/server/src/tools/mcp/server-config.ts'
import { until } from '../../support/until.ts'
import { closeAfterAll, closeLater, hostileProgram } from './world.ts'

closeAfterAll()

/** A runtime with one agent on the built-in model, and these servers. */
async function open(mcp: Readonly<Record<string, McpServerConfig>>, windowTokens = 32_000) {
  const model = standIn()
  const { url, close } = await model.start()
  const store = openMemoryStore()
  const route = { provider: 'openai-compatible', baseUrl: `${url}/v1`, model: 'm' } as const
  const routes = { main: { ...route, windowTokens }, fallbacks: [], auxiliary: {} }
  const agent = { name: 'ada', system: 'You help.', routes, mcp }
  const runtime = await openRuntime({ store, agents: [agent] })
  closeLater(async () => {
    await runtime.close()
    await store.close()
    await close()
  })
  await runtime.createSession({ agent: 'ada', id: 'one' })
  return { runtime, offered: () => model.journal.entries.map(toolsOf), id: sessionId('one') }
}

function toolsOf({ body }: JournalEntry): readonly string[] {
  const tools = isObject(body) && Array.isArray(body['tools']) ? body['tools'] : []
  return (tools as JsonObject[]).map((tool) => String((tool['function'] as JsonObject)['name']))
}

async function ask(runtime: LocalRuntime, id: SessionId, lines: readonly string[]) {
  const session = runtime.session(id)
  const parts = [{ type: 'text', text: lines.join('\n') } as const]
  const admission = await session.admit({ source: 'test', key: lines.join(), parts })
  if (!('mail' in admission)) throw new Error(admission.kind)
  const reply = await session.reply(admission.mail as never, AbortSignal.timeout(15_000))
  const entries = (await session.transcript({ from: 1, to: 500 })) ?? []
  const results = entries.flatMap(({ kind, message }) =>
    kind === 'result' && message !== null ? [textOf(message)] : [],
  )
  return { text: reply?.text, results }
}

describe('an agent with servers', () => {
  it('uses their tools, is not held up by a hostile server, and says which ones are down', async () => {
    const { runtime, id } = await open({
      good: hostileProgram('plain'),
      bad: hostileProgram('forged'),
      mute: hostileProgram('silent', { startMs: 500 }),
      many: hostileProgram('many'),
    })
    const { text, results } = await ask(runtime, id, [
      'use good__echo {"a":1}',
      'then',
      'say Done.',
    ])
    expect(text).toContain('Done.')
    expect(results[0]).toContain('echo {"a":1}')
    const { problems } = await runtime.health()
    expect(problems.filter((problem) => problem.includes('mute'))).toHaveLength(1)
    // Thousands of words about tools have left the agent its window.
    const [summary] = runtime.agents
    expect(summary?.tools).toContain('good__echo')
    expect(summary?.tools.length).toBeLessThan(60)
  })

  it('keeps the tools of a turn to its end, and has the new ones in the next', async () => {
    const { runtime, offered, id } = await open({ good: hostileProgram('plain') })
    await ask(runtime, id, ['use good__change {}', 'then', 'use good__slow {}', 'then', 'say One.'])
    await until(() => runtime.agents[0]?.tools.includes('good__later') === true)
    const { results } = await ask(runtime, id, ['use good__echo {"b":2}', 'then', 'say Two.'])
    expect(results.at(-1)).toContain('echo {"b":2}')
    const turns = offered().filter((tools) => tools.length > 0)
    expect(turns.at(-1)).toEqual(['good__echo', 'good__later'])
    for (const tools of turns.slice(0, 3)) expect(tools).toEqual(turns[0])
    expect(turns[0]).toContain('good__slow')
  })
})
