import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import { isObject, type JsonValue } from '#core/base/json'
import type { CallUsage } from '../model.ts'
import type { FinishReason } from '../outcomes/outcome.ts'
import { readProviderFailure } from './failure.ts'
import type { ProviderPart, ProviderStream } from './provider.ts'

type Take = Parameters<ProviderStream['run']>[0]

/** Converts the stream of a provider's package to our parts. */
export class PackageStream implements ProviderStream {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>
  /** Text blocks that are not text: the provider's own compaction arrives as one. */
  readonly #hidden = new Set<string>()

  constructor(stream: ReadableStream<LanguageModelV4StreamPart>) {
    this.#reader = stream.getReader()
  }

  // A single await per part and no generator, which matters at thousands of tokens a second.
  async run(take: Take): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read()
        if (done) return
        const part = this.#translate(value)
        const wait = part === undefined ? undefined : take(part)
        if (wait !== undefined) await wait
        if (value.type === 'stream-start') for (const each of value.warnings) take(noteOf(each))
      }
    } catch (error) {
      const part = readProviderFailure(error)
      if (part !== undefined) take(part)
    }
  }

  cancel(): void {
    this.#reader.cancel().catch(() => {})
  }

  #translate(part: LanguageModelV4StreamPart): ProviderPart | undefined {
    switch (part.type) {
      case 'raw':
        return { kind: 'event', event: part.rawValue as JsonValue }
      case 'text-delta':
        return this.#hidden.has(part.id) ? undefined : { kind: 'text', text: part.delta }
      case 'reasoning-delta':
        return part.delta === '' ? undefined : { kind: 'reasoning', text: part.delta }
      case 'tool-input-delta':
        return { kind: 'tool-input', text: part.delta }
      case 'text-start':
        if (part.providerMetadata?.['anthropic']?.['type'] === 'compaction') {
          this.#hidden.add(part.id)
        } else this.#hidden.delete(part.id)
        return undefined
      case 'error':
        return readProviderFailure(part.error)
      case 'finish': {
        const { unified, raw } = part.finishReason
        return {
          kind: 'finish',
          finish: FINISHES[unified],
          ...(raw !== undefined && { raw }),
          ...usageOf(part.usage),
        }
      }
      default:
        return undefined
    }
  }
}

const FINISHES: {
  readonly [unified in Extract<
    LanguageModelV4StreamPart,
    { type: 'finish' }
  >['finishReason']['unified']]: FinishReason | 'broken'
} = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content-filter',
  'tool-calls': 'tool-calls',
  other: 'other',
  error: 'broken',
  interrupted: 'broken',
}

/** Warnings quote the conversation; their kind and the name of the setting do not. */
function noteOf(warning: { readonly type: string; readonly feature?: string }): ProviderPart {
  const about = warning.feature ?? ''
  const code = WORD.test(about) ? `${warning.type}:${about}` : warning.type
  return { kind: 'note', code: `package-warning:${code}` }
}

const WORD = /^[A-Za-z][A-Za-z.-]{0,40}$/

function usageOf(usage: LanguageModelV4Usage): {
  usage?: CallUsage
  contextTokens?: number
} {
  const { inputTokens, outputTokens, raw } = usage
  if (inputTokens.total === undefined && outputTokens.total === undefined) return {}
  const billed: CallUsage = {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead !== undefined && { cacheReadTokens: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite !== undefined && { cacheWriteTokens: inputTokens.cacheWrite }),
    ...(outputTokens.reasoning !== undefined && { reasoningTokens: outputTokens.reasoning }),
    ...reportedCost(raw),
  }
  return { usage: billed, contextTokens: lastIteration(raw) ?? billed.inputTokens }
}

/** OpenRouter and similar gateways report the cost of an answer, in dollars. */
function reportedCost(raw: LanguageModelV4Usage['raw']): { cost?: number } {
  const cost = raw?.['cost']
  const isAmount = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0
  return isAmount ? { cost: Math.round(cost * 1_000_000) } : {}
}

/** An answer in several iterations (the provider compacted in between) lists the input of each. */
function lastIteration(raw: LanguageModelV4Usage['raw']): number | undefined {
  const list = raw?.['iterations']
  const last = Array.isArray(list) ? list.at(-1) : undefined
  if (!isObject(last)) return undefined
  const keys = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']
  return keys.reduce((sum, key) => sum + (typeof last[key] === 'number' ? last[key] : 0), 0)
}
