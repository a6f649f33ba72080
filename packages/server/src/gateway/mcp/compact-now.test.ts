import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { buildMcpServer, type McpServerParts } from './server.ts'

interface World {
  readonly runners?: readonly string[]
  readonly admission?: object
  /** `late`: it does not come in time. */
  readonly outcome?: object | 'late' | null
  readonly compactions?: readonly object[] | undefined
}

/** The answer of `compact_now`, and what it asked of the session. */
async function compact(world: World, input: object = {}) {
  const { runners = ['runner-1'], admission = { kind: 'admitted', mail: 3 } } = world
  const { outcome = { kind: 'done' }, compactions = [] } = world
  const asked: unknown[] = []
  const session = {
    summary: async () => ({ agent: 'main' }),
    compact: async (request: object) => {
      asked.push(request)
      return admission
    },
    controlOutcome: async (mail: number, signal: AbortSignal) => {
      asked.push(mail)
      if (outcome !== 'late') return outcome
      if (!signal.aborted) await once(signal, 'abort')
      return null
    },
    compactions: async (query: object) => {
      asked.push(query)
      return compactions
    },
  }
  const runtime = {
    session: () => session,
    health: async () => ({ runners: runners.map((id) => ({ id })) }),
  }
  const parts = { runtime, agent: 'main', sessions: null, version: '1' }
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  const server = buildMcpServer(parts as unknown as McpServerParts)
  await Promise.all([server.connect(there), client.connect(here)])
  const request = { name: 'compact_now', arguments: { session: 's1', key: 'k', ...input } }
  const answer = await client.callTool(request)
  await client.close()
  return { asked, answer: answer.structuredContent ?? answer.content }
}

const none = { covers: null, tokensBefore: null, tokensAfter: null }
const asks = { source: 'mcp', key: 'k' }
const LATER =
  'Requested. No process serves this store now; it will be done once `throughline serve` runs with ' +
  'an agent of this name.'
const refused = (why: string) => ({ kind: 'turned-down', why })
const newest = [
  { state: 'failed', covers: 9, tokensBefore: 8, tokensAfter: 7 },
  { state: 'committed', covers: 4, tokensBefore: 900, tokensAfter: 300 },
  { state: 'committed', covers: 2, tokensBefore: 500, tokensAfter: 200 },
]

it.each<[string, World, object, unknown[]]>([
  [
    'a compaction',
    { compactions: newest },
    {
      ...{ outcome: 'compacted', covers: 4, tokensBefore: 900, tokensAfter: 300 },
      note: 'A handoff replaces entries 1 to 4.',
    },
    [asks, 3, { limit: 10 }],
  ],
  [
    'a compaction that was asked for before',
    { admission: { kind: 'duplicate', mail: 5 }, compactions: undefined },
    { outcome: 'compacted', ...none, note: 'Compacted.' },
    [asks, 5, { limit: 10 }],
  ],
  [
    'nothing to compact',
    { outcome: refused('nothing-to-compact') },
    {
      ...{ outcome: 'nothing-to-compact', ...none },
      note: 'Not compacted: there is nothing worth compacting yet.',
    },
    [asks, 3],
  ],
  [
    'a compaction that failed',
    { outcome: refused('compaction-failed') },
    {
      ...{ outcome: 'failed', ...none },
      note: 'Not compacted: the compaction failed; the session is as it was.',
    },
    [asks, 3],
  ],
  [
    'a request that was withdrawn',
    { outcome: null },
    { outcome: 'failed', ...none, note: 'Not compacted: the request was withdrawn.' },
    [asks, 3],
  ],
])('compact_now answers with %s', async (_, world, answer, asked) => {
  expect(await compact(world)).toEqual({
    ...{ asked, answer: { session: 's1', isServed: true, ...answer } },
  })
})

it.each([[[]], [['mcp-1', 'import-2']]])(
  'compact_now says that nobody serves: %j',
  async (runners) => {
    expect(await compact({ runners }, { focus: 'harbour' })).toEqual({
      asked: [{ ...asks, focus: 'harbour' }],
      answer: { session: 's1', outcome: 'asked', isServed: false, ...none, note: LATER },
    })
  },
)

it('compact_now knows a serving process among others by its name', async () => {
  const { answer } = await compact({ runners: ['mcp-1', 'runner-2', 'my-import-3'], outcome: null })
  expect(answer).toMatchObject({ outcome: 'failed', isServed: true })
})

it('compact_now does not wait longer than it was told to', async () => {
  const { answer } = await compact({ outcome: 'late' }, { waitSeconds: 0 })
  const note = 'Requested, but not done within 0 s. It continues in the background.'
  expect(answer).toEqual({ session: 's1', outcome: 'asked', isServed: true, ...none, note })
})

it('compact_now knows no session that is gone meanwhile', async () => {
  const { answer } = await compact({ admission: { kind: 'gone' } })
  expect(answer).toEqual([
    {
      type: 'text',
      text: 'There is no session s1 here. session_append creates one with its first message.',
    },
  ])
})
