import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ProviderCall } from './provider.ts'

type Options = Pick<LanguageModelV4CallOptions, 'maxOutputTokens' | 'reasoning' | 'providerOptions'>

/** The settings of a request, in the terms of the specification and of each provider. */
export function optionsFor(call: ProviderCall): Options {
  const { route, outputTokensMax, effort, cacheKey } = call
  const common: Options = {
    // The Codex backend refuses the field.
    ...(outputTokensMax !== undefined &&
      route.provider !== 'codex' && { maxOutputTokens: outputTokensMax }),
    ...(effort !== undefined && { reasoning: effort }),
  }
  switch (route.provider) {
    case 'openai-chat':
      return {
        ...common,
        providerOptions: { openai: { store: false, ...openaiOptions(effort, cacheKey) } },
      }
    case 'openai-responses':
    case 'codex':
      return {
        ...common,
        providerOptions: {
          openai: {
            // Never stored at the provider: a session must not depend on data at another host.
            store: false,
            ...(canThink(route.model) && { include: ['reasoning.encrypted_content'] }),
            ...(effort !== undefined && effort !== 'none' && { reasoningSummary: 'auto' }),
            ...openaiOptions(effort, cacheKey),
          },
        },
      }
    case 'anthropic': {
      const own = anthropicOptions(call)
      // No options at all if there is nothing to set, because the package's validation is slow.
      return Object.keys(own).length === 0
        ? common
        : { ...common, providerOptions: { anthropic: own } }
    }
    case 'google':
      return {
        ...common,
        ...(effort !== undefined &&
          effort !== 'none' && {
            providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
          }),
      }
    case 'openai-compatible':
      return common
  }
}

function anthropicOptions({ tools, compaction }: ProviderCall) {
  return {
    // Servers compatible with Anthropic do not support fine-grained streaming of tool inputs.
    ...(tools.length > 0 && { toolStreaming: false }),
    ...(compaction !== undefined && {
      compaction: { type: 'summarize' as const, ...compaction },
    }),
  }
}

/** Reasoning can be returned only in encrypted form; older models refuse the request for it. */
function canThink(model: string): boolean {
  return !/(?:^|[^a-z0-9])(?:gpt-[34]|chatgpt|gpt-5[^/]*-chat)/.test(model.toLowerCase())
}

function openaiOptions(effort: ProviderCall['effort'], cacheKey: string | undefined) {
  return {
    // The package treats unknown model names as models without reasoning and drops the setting.
    ...(effort !== undefined && { forceReasoning: true }),
    ...(cacheKey !== undefined && { promptCacheKey: cacheKey }),
  }
}
