import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ProviderCall } from './provider.ts'

type Options = Pick<LanguageModelV4CallOptions, 'maxOutputTokens' | 'reasoning' | 'providerOptions'>

/** The settings of a request, in the words of the specification and of each provider. */
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
            // Never kept at the provider's: a session must not depend on what another host stores.
            store: false,
            ...(canThink(route.model) && { include: ['reasoning.encrypted_content'] }),
            ...(effort !== undefined && effort !== 'none' && { reasoningSummary: 'auto' }),
            ...openaiOptions(effort, cacheKey),
          },
        },
      }
    case 'anthropic': {
      const own = anthropicOptions(call)
      // None at all where there is nothing to say: the package checks them at length.
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
    // Tool inputs in fine pieces are a liberty that servers in Anthropic's likeness do not take.
    ...(tools.length > 0 && { toolStreaming: false }),
    ...(compaction !== undefined && {
      compaction: { type: 'summarize' as const, ...compaction },
    }),
  }
}

/** Thoughts go back only sealed; older models refuse the wish for the seal. */
function canThink(model: string): boolean {
  return !/(?:^|[^a-z0-9])(?:gpt-[34]|chatgpt|gpt-5[^/]*-chat)/.test(model.toLowerCase())
}

function openaiOptions(effort: ProviderCall['effort'], cacheKey: string | undefined) {
  return {
    // Names that the package does not know count as models that cannot think, and lose the setting.
    ...(effort !== undefined && { forceReasoning: true }),
    ...(cacheKey !== undefined && { promptCacheKey: cacheKey }),
  }
}
