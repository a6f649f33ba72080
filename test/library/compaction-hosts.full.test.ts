import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { compactRequest } from '../../packages/core/src/adapters/adk.ts'
import { compactProcessor } from '../../packages/core/src/adapters/mastra.ts'
import type { GeminiContent } from '../../packages/core/src/agent/typed-formats/gemini.ts'
import { installPackage } from '../clients/install.ts'

/** The lowest and the highest version that were tried. Needs npm's registry on the first run. */
const MASTRA = ['1.50.0', '1.71.0']
/** Earlier ones ask for a package that npm no longer has. */
const ADK = ['2.0.0']

const said = (number: number) => `${number}: ${'The river is wide and slow here. '.repeat(30)}`
const options = { targetTokens: 4_000 }

async function load(name: string, version: string, ...entry: string[]) {
  const path = join(installPackage(name, version), name, ...entry)
  // biome-ignore lint/suspicious/noExplicitAny: the declarations are compiled by `npm run drill:package`
  return (await import(pathToFileURL(path).href)) as any
}

describe.each(MASTRA)('an agent of Mastra %s', (version) => {
  it('sends its model a prompt that fits, with calls and results together', async () => {
    const { Agent } = await load('@mastra/core', version, 'dist', 'agent', 'index.js')
    const { createTool } = await load('@mastra/core', version, 'dist', 'tools', 'index.js')
    const prompts: { role: string; content: unknown }[][] = []
    const model = {
      ...{ specificationVersion: 'v2', provider: 'test', modelId: 'm', supportedUrls: {} },
      async doGenerate({ prompt }: { prompt: { role: string; content: unknown }[] }) {
        prompts.push(prompt)
        const isCall = prompts.length === 1
        const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{}' }
        return {
          content: [isCall ? call : { type: 'text', text: 'Done.' }],
          finishReason: isCall ? 'tool-calls' : 'stop',
          usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
          warnings: [],
        }
      },
    }
    const look = createTool({ id: 'look', description: 'Looks.', execute: async () => 'Blue.' })
    const agent = new Agent({
      ...{ id: 'a', name: 'a', instructions: 'Be brief.', model, tools: { look } },
      inputProcessors: [compactProcessor(options)],
    })
    const history = Array.from({ length: 60 }, (_, number) => ({
      ...{ role: number % 2 === 0 ? 'user' : 'assistant', content: said(number) },
    }))
    const { text } = await agent.generate([...history, { role: 'user', content: 'And now?' }])
    expect(text).toBe('Done.')
    expect(prompts).toHaveLength(2)
    for (const prompt of prompts) {
      expect(prompt.length).toBeLessThan(20)
      expect(prompt[0]).toMatchObject({ role: 'system', content: 'Be brief.' })
      expect(JSON.stringify(prompt)).toContain('And now?')
      expect(JSON.stringify(prompt)).toContain('[handoff ')
    }
    expect(prompts[1]?.slice(-2).map(({ role }) => role)).toEqual(['assistant', 'tool'])
  }, 300_000)
})

describe.each(ADK)('an agent of ADK %s', (version) => {
  it('sends its model contents that fit, and the session keeps every event', async () => {
    const adk = await load('@google/adk', version, 'dist', 'esm', 'index.js')
    const seen: GeminiContent[][] = []
    const Base: new (options: object) => object = adk.BaseLlm
    class Model extends Base {
      async *generateContentAsync(request: { contents: GeminiContent[] }) {
        seen.push(request.contents)
        yield { content: { role: 'model', parts: [{ text: said(seen.length) }] } }
      }
    }
    const agent = new adk.LlmAgent({
      ...{ name: 'a', instruction: 'Be brief.', model: new Model({ model: 'gemini-test' }) },
      beforeModelCallback: compactRequest(options),
    })
    const runner = new adk.InMemoryRunner({ agent, appName: 'app' })
    const key = { appName: 'app', userId: 'u', sessionId: 's' }
    await runner.sessionService.createSession(key)
    for (let turn = 0; turn < 20; turn++) {
      const newMessage = { role: 'user', parts: [{ text: `Question ${said(turn)}` }] }
      for await (const _ of runner.runAsync({ userId: 'u', sessionId: 's', newMessage }));
    }
    const { events } = await runner.sessionService.getSession(key)
    expect(events).toHaveLength(40)
    const last = seen.at(-1) ?? []
    expect(last.length).toBeLessThan(20)
    expect(JSON.stringify(last)).toContain('[handoff ')
    expect(JSON.stringify(last.at(-1))).toContain('Question 19')
    expect(last[0]?.role).toBe('user')
  }, 300_000)
})
