import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { findChoices } from './choices.ts'

const STAND_IN = {
  label: 'The stand-in',
  hint: 'built in, needs no key, not a real model',
  provider: 'stand-in',
}
const nowhere = { OLLAMA_HOST: 'http://127.0.0.1:1' }

/** A server that answers `/api/tags` with this, and its port. */
async function serve(body: string): Promise<number> {
  const server = createServer((request, response) => {
    if (request.url !== '/api/tags') response.writeHead(404)
    response.end(body)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

it('offers each provider whose key is there, and the stand-in last', async () => {
  expect(await findChoices(nowhere)).toEqual([STAND_IN])
  const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b', GEMINI_API_KEY: 'c', ...nowhere }
  expect(await findChoices(env)).toEqual([
    {
      ...{ label: 'Anthropic', provider: 'anthropic', model: 'claude-sonnet-4-5' },
      hint: 'ANTHROPIC_API_KEY is set',
    },
    {
      ...{ label: 'OpenAI', provider: 'openai-responses', model: 'gpt-5-mini' },
      hint: 'OPENAI_API_KEY is set',
    },
    {
      ...{ label: 'Google', provider: 'google', model: 'gemini-2.5-flash' },
      hint: 'GEMINI_API_KEY is set',
    },
    STAND_IN,
  ])
  const blank = { ANTHROPIC_API_KEY: ' ', OPENAI_API_KEY: '', ...nowhere }
  expect(await findChoices(blank)).toEqual([STAND_IN])
})

it.each<[number, string]>([
  [1, '1 model'],
  [2, '2 models'],
])('offers the first of %i models of an Ollama', async (count, models) => {
  const names = [{ name: 5 }, ...['llama', 'qwen'].slice(0, count).map((name) => ({ name }))]
  const port = await serve(JSON.stringify({ models: names }))
  const base = `http://127.0.0.1:${port}`
  const choice = {
    ...{ label: 'Ollama', hint: `answers at ${base}, ${models}`, provider: 'openai-compatible' },
    ...{ model: 'llama', baseUrl: `${base}/v1`, windowTokens: 32_768 },
  }
  for (const host of [`127.0.0.1:${port}`, ` http://127.0.0.1:${port}/x `, `0.0.0.0:${port}`])
    expect([host, ...(await findChoices({ OLLAMA_HOST: host }))]).toEqual([host, choice, STAND_IN])
})

it.each(['{"models":[]}', '{}', '[', '{"models":[{"name":5}]}', '{"models":5}'])(
  'offers nothing of a server that answers %s',
  async (body) => {
    const port = await serve(body)
    expect(await findChoices({ OLLAMA_HOST: `127.0.0.1:${port}` })).toEqual([STAND_IN])
  },
)

it('offers no Ollama at an address that is none', async () => {
  expect(await findChoices({ OLLAMA_HOST: 'http://a b' })).toEqual([STAND_IN])
})
