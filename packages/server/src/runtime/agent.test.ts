import { expect, it } from 'vitest'
import { fixedTokensMax } from '#core/session/limits'
import type { Tool } from '../tools/tool.ts'
import { type Agent, resolveAgent } from './agent.ts'
import type { ToolDependencies } from './tools/tool-dependencies.ts'

const WINDOW = { windowTokens: 16_000 }
const AGENT: Agent = {
  ...{ name: 'main', system: 'You are a helpful agent.' },
  routes: {
    main: {
      ...{ provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model: 'm' },
      ...WINDOW,
    },
    ...{ fallbacks: [], auxiliary: {} },
  },
}

function tool(name: string, words = 5): Tool {
  return {
    ...{ name, description: 'word '.repeat(words), inputSchema: { type: 'object' } },
    ...{ isRepeatable: true, run: async () => ({ outcome: 'ok', output: '' }) },
  }
}

function desk(foreign: readonly Tool[], own: readonly Tool[] = []) {
  const made = resolveAgent({ ...AGENT, tools: own }, {} as ToolDependencies, foreign)
  return { ...made, names: made.tools.map(({ name }) => name), tokens: made.wanted.tokens }
}

it("leaves out a server's tool that does not fit the window, and keeps those that fit", () => {
  const { names, leftOut } = desk([tool('first'), tool('vast', 50_000), tool('last')])
  expect({ names, leftOut }).toEqual({ names: ['first', 'last'], leftOut: ['vast'] })
})

it('leaves out the later tools if they fit one by one but not together', () => {
  const many = Array.from({ length: 12 }, (_, index) => tool(`t${index}`, 1_000))
  const { names, leftOut, tokens, wanted } = desk(many)
  expect(names.length).toBeGreaterThan(3)
  expect([...names, ...leftOut]).toEqual(many.map(({ name }) => name))
  expect(leftOut.length).toBeGreaterThan(3)
  expect(tokens).toBeLessThanOrEqual(fixedTokensMax(WINDOW))
  expect(wanted.body?.['tools']).toEqual(names)
})

it("refuses a server's tool with the name of one of the agent's own", () => {
  const own = tool('search')
  const { tools, leftOut } = desk([tool('search', 9), tool('other')], [own])
  expect(tools[0]).toBe(own)
  expect([tools.length, leftOut]).toEqual([2, []])
})
