import { baseUrlVariables, type ClientStart, startPiWith } from './clients.ts'

/** Clients ask for a credential before they start. The stand-in reads none. */
const KEY = 'stand-in'
const MODEL = 'stand-in'

/**
 * How each client is pointed at the built-in stand-in, through the proxy: without a key or a login,
 * and without a question about either. For this run only, as with a provider.
 */
export function pointAtStandIn(client: string, url: string, launch: string): ClientStart {
  switch (client) {
    case 'claude':
      // Unlike an API key, a token is used without asking.
      return { env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: KEY }, args: [] }
    case 'codex': {
      const provider = `{ name = "Stand-in", base_url = "${url}/v1", wire_api = "responses" }`
      const settings = ['model_provider="stand-in"', `model_providers.stand-in=${provider}`]
      return { env: {}, args: settings.flatMap((setting) => ['-c', setting]) }
    }
    case 'opencode': {
      const models = { [MODEL]: { name: 'Stand-in', tool_call: true } }
      const options = { baseURL: `${url}/v1`, apiKey: KEY }
      const provider = { 'stand-in': { npm: '@ai-sdk/openai-compatible', options, models } }
      const content = JSON.stringify({ model: `stand-in/${MODEL}`, provider })
      return { env: { OPENCODE_CONFIG_CONTENT: content }, args: [] }
    }
    case 'pi': {
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
      const limits = { contextWindow: 128_000, maxTokens: 8_192 }
      const models = [{ id: MODEL, name: 'Stand-in', input: ['text'], cost, ...limits }]
      const base = { api: 'anthropic-messages', baseUrl: `${url}/l/${launch}`, apiKey: KEY }
      const start = startPiWith(new Map([['stand-in', { ...base, models }]]))
      return { ...start, args: [...start.args, '--provider', 'stand-in', '--model', MODEL] }
    }
    default: {
      const keys = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY }
      return { env: { ...keys, ...baseUrlVariables(`${url}/l/${launch}`) }, args: [] }
    }
  }
}
