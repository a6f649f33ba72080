import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { openSqliteStore } from '#core/store/sqlite/open'
import { inShort } from '../../../../../test/doctor/homes/damaged-sample.ts'
import { SESSION, screens } from '../../../../../test/terminal/screens.ts'
import { openRuntime } from '../../runtime/open-runtime.ts'
import { ForeignHistory } from '../../runtime/sessions/foreign-history.ts'
import { buildMcpServer, type McpServerParts } from './server.ts'

const { path } = screens()

async function connect(parts: McpServerParts): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  await Promise.all([buildMcpServer(parts).connect(there), client.connect(here)])
  return client
}

it('offers these tools, with their inputs, outputs and hints', async () => {
  const client = await connect({ version: '7' } as McpServerParts)
  const { tools } = await client.listTools()
  const told = [client.getServerVersion(), client.getInstructions(), ...tools]
  expect(told.map((each) => JSON.stringify(each, inShort)).join('\n')).toMatchSnapshot()
  await client.close()
})

const said = (key: string, text: string, role = 'user', at = '2026-11-17T10:00:00Z') => ({
  ...{ key, role, text, at },
})
const session = 'notes'

const CALLS: readonly (readonly [name: string, input: Record<string, unknown>])[] = [
  ['context_status', { session: SESSION }],
  ['session_search', { text: 'harbour', limit: 2, neighbours: 0 }],
  ['session_search', { text: 'harbour', session: SESSION, limit: 1, neighbours: 2 }],
  ['session_search', { text: 'granite', speaker: 'agent', limit: 1 }],
  ['session_search', { text: 'xylophone' }],
  ['session_recall', { session: SESSION, from: 2, to: 4 }],
  ['session_recall', { session: SESSION }],
  ['session_recall', { session: SESSION, from: 40, offset: 3 }],
  ['session_recall', { session: SESSION, from: 99 }],
  ['session_append', { session: SESSION, messages: [said('a', 'For the agent.')] }],
  ['session_append', { session: SESSION, messages: [said('a', 'For the agent.')] }],
  ['session_append', { session: SESSION, messages: [said('a', 'Other.'), said('b', 'x', 'tool')] }],
  ['session_append', { session, messages: [said('a', 'One.'), said('b', 'Two.', 'assistant')] }],
  [
    'session_append',
    { session, messages: [said('a', 'One.'), said('a', 'Other.'), said('c', 'Three.', 'tool')] },
  ],
  ['session_append', { session, messages: [said('d', 'y'.repeat(25_000)), said('e', 'End.')] }],
  ['session_recall', { session }],
  ['session_recall', { session, from: 5, offset: 20_000 }],
  ['context_status', { session }],
  ['compact_now', { session, key: 'k', focus: 'harbour', waitSeconds: 0 }],
  ['compact_now', { session: 'nobody', waitSeconds: 0 }],
  ['context_status', { session: 'nobody' }],
  ['context_status', { session: 'a b' }],
]

it.each([
  ['all sessions', null],
  ['one session', new Set([SESSION])],
])('answers calls of a client that may use %s', async (_, sessions) => {
  const store = await openSqliteStore({ path })
  const runtime = await openRuntime({ store, agents: [], runs: false })
  const client = await connect({
    ...{ runtime, history: new ForeignHistory(store), agent: 'main' },
    ...{ sessions: sessions && new Set([...sessions].map(sessionId)) },
    ...{ windowTokens: 9_000, version: '7' },
  })
  const told: string[] = []
  for (const [name, input] of CALLS) {
    const { content, structuredContent, ...rest } = await client.callTool({
      name,
      arguments: input,
    })
    const isSame = JSON.stringify(content) === JSON.stringify(asText(structuredContent))
    const answer = { ...(isSame ? (structuredContent as object) : { content }), ...rest }
    told.push(`${name} ${JSON.stringify(input, inShort)}\n${JSON.stringify(answer, inShort)}`)
  }
  await client.close()
  await runtime.close()
  await store.close()
  expect(told.join('\n\n')).toMatchSnapshot()
})

/** For clients that do not read structured answers. */
function asText(answer: unknown): readonly object[] {
  return [{ type: 'text', text: JSON.stringify(answer) }]
}
