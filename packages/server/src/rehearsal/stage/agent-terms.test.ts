import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readLines } from '../kept.ts'
import type { AgentOptions } from '../terms.ts'
import { agentTerms } from './agent-terms.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-terms-'))
afterAll(() => rmSync(folder, { recursive: true }))

const OPTIONS: AgentOptions = {
  ...{ name: 'agent-1', serves: ['agent-1', 'agent-2'], folder, isOnStage: false },
  ...{ modelUrl: 'http://127.0.0.1:9', windowTokens: 8_000, sabotage: null },
  location: { kind: 'sqlite', path: '/nowhere' },
}

function agentsOf(options: Partial<AgentOptions> = {}) {
  const effects: string[] = []
  const terms = agentTerms({ ...OPTIONS, ...options }, (parcel) => effects.push(parcel))
  const tools = terms.agents.map((agent) =>
    typeof agent.tools === 'function' ? agent.tools({} as never) : (agent.tools ?? []),
  )
  return { terms, effects, tools }
}

it('makes an agent of each name that the process serves, in a hurry', () => {
  const pace = {
    ...{ retryMs: 100, retryMsMax: 1_000, modelRetryMs: 200, modelRetryMsMax: 1_000 },
    idleCompactionMs: null,
  }
  const { agents } = agentsOf().terms
  expect(agents).toMatchObject([
    { name: 'agent-1', settings: { ...pace, lingerMs: 2_000, attemptsPerWindow: 1_000 } },
    { name: 'agent-2', settings: { ...pace, lingerMs: 2_000, attemptsPerWindow: 1_000 } },
  ])
  const [staged] = agentsOf({ isOnStage: true }).terms.agents
  expect(staged?.settings).toMatchObject({
    ...{ ...pace, lingerMs: 400, attemptsPerWindow: 5, attemptWindowMs: 60_000, lossesMax: 3 },
  })
})

it('gives an agent the tools that it needs, and on the stage no processes', () => {
  const names = (tools: ReturnType<typeof agentsOf>['tools']) => tools[0]?.map(({ name }) => name)
  expect(names(agentsOf().tools)).toEqual(['tasks', 'recall', 'process', 'hand_over'])
  expect(names(agentsOf({ isOnStage: true }).tools)).toEqual(['tasks', 'recall', 'hand_over'])
})

it('hands a parcel over once for each call, tells of it at once and answers later', async () => {
  const { tools, effects } = agentsOf()
  const tool = tools[0]?.find(({ name }) => name === 'hand_over')
  const { run, ...rest } = tool ?? {}
  expect(rest).toEqual({
    ...{ name: 'hand_over', description: 'Hand a parcel over.', isRepeatable: false },
    inputSchema: {
      ...{ type: 'object', properties: { parcel: { type: 'string' } } },
      ...{ required: ['parcel'], additionalProperties: false },
    },
  })
  const startedAt = performance.now()
  const result = run?.({ input: { parcel: 'p1x1' } } as never, {} as never)
  expect(effects).toEqual(['p1x1'])
  expect(await result).toEqual({ outcome: 'ok', output: 'Parcel p1x1 is handed over.' })
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(119)
  await run?.({ input: null } as never, {} as never)
  expect(readLines(join(folder, 'handed-over'))).toEqual(['p1x1', ''])
})
