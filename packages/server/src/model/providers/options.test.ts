import { expect, it } from 'vitest'
import type { ProviderName } from './names.ts'
import { optionsFor } from './options.ts'
import type { ProviderCall } from './provider.ts'

const TOOL = { name: 'look', inputSchema: {} }

function optionsOf(provider: ProviderName, { model = 'm', ...more }: Record<string, unknown> = {}) {
  const route = { name: 'main', provider, model, baseUrl: 'http://127.0.0.1:1' }
  return optionsFor({ route, tools: [], ...more } as unknown as ProviderCall)
}

const all = { outputTokensMax: 500, effort: 'high', cacheKey: 'k', tools: [TOOL] }
const openai = { store: false, forceReasoning: true, promptCacheKey: 'k' }
const include = ['reasoning.encrypted_content']

it.each<[string, ProviderName, object, object]>([
  ['nothing', 'openai-chat', {}, { providerOptions: { openai: { store: false } } }],
  [
    'everything',
    'openai-chat',
    all,
    { maxOutputTokens: 500, reasoning: 'high', providerOptions: { openai } },
  ],
  ['nothing', 'openai-responses', {}, { providerOptions: { openai: { store: false, include } } }],
  [
    'everything',
    'openai-responses',
    all,
    {
      ...{ maxOutputTokens: 500, reasoning: 'high' },
      providerOptions: { openai: { ...openai, include, reasoningSummary: 'auto' } },
    },
  ],
  [
    'no effort',
    'openai-responses',
    { effort: 'none' },
    {
      reasoning: 'none',
      providerOptions: { openai: { store: false, include, forceReasoning: true } },
    },
  ],
  [
    'everything but its limit',
    'codex',
    all,
    {
      reasoning: 'high',
      providerOptions: { openai: { ...openai, include, reasoningSummary: 'auto' } },
    },
  ],
  ['nothing', 'anthropic', {}, {}],
  [
    'everything',
    'anthropic',
    all,
    {
      ...{ maxOutputTokens: 500, reasoning: 'high' },
      providerOptions: { anthropic: { toolStreaming: false } },
    },
  ],
  [
    'a compaction',
    'anthropic',
    { compaction: { instructions: 'Write.' } },
    {
      providerOptions: { anthropic: { compaction: { type: 'summarize', instructions: 'Write.' } } },
    },
  ],
  ['nothing', 'google', {}, {}],
  ['no effort', 'google', { effort: 'none' }, { reasoning: 'none' }],
  [
    'everything',
    'google',
    all,
    {
      ...{ maxOutputTokens: 500, reasoning: 'high' },
      providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
    },
  ],
  ['everything', 'openai-compatible', all, { maxOutputTokens: 500, reasoning: 'high' }],
])('asked for %s, %s has these options', (_, provider, asked, options) => {
  expect(optionsOf(provider, asked as Record<string, unknown>)).toEqual(options)
})

it.each([
  ['gpt-3.5-turbo', false],
  ['gpt-4o', false],
  ['GPT-4.1', false],
  ['openai/gpt-4', false],
  ['chatgpt-4o-latest', false],
  ['gpt-5-chat', false],
  ['gpt-5.2-chat-latest', false],
  ['gpt-5', true],
  ['gpt-6-sol', true],
  ['o3', true],
  ['my-gpt40', true],
])('the reasoning of %s is asked for: %s', (model, isAsked) => {
  for (const provider of ['openai-responses', 'codex'] as const) {
    const { openai: own } = optionsOf(provider, { model }).providerOptions ?? {}
    expect(own?.['include']).toEqual(isAsked ? include : undefined)
  }
})
