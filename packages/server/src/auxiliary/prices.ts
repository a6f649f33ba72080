import type { CallUsage } from '../model/model.ts'
import type { ModelRoute } from '../model/routes/route.ts'

/** Prices per million tokens, in the operator's currency. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** By the exact name of the model; these override the built-in list. */
export type Prices = { readonly [model: string]: Price }

/**
 * The cost of a call, in millionths of the currency: as the provider reported it, or by the prices
 * of the configuration, or by those of the list. Null if unknown: a model that is not on the list,
 * a gateway with its own prices, a kind of token without a price. It is never guessed.
 */
export function costOf(
  usage: CallUsage,
  route: Pick<ModelRoute, 'model' | 'baseUrl'>,
  prices: Prices = {},
): number | null {
  if (usage.cost !== undefined) return usage.cost
  const price = priceOf(route, prices, usage.inputTokens)
  if (price === undefined) return null
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const bill: readonly (readonly [tokens: number, price: number | undefined])[] = [
    [plain, price.input],
    [outputTokens, price.output],
    [cacheReadTokens, price.cacheRead],
    [cacheWriteTokens, price.cacheWrite],
  ]
  let cost = 0
  for (const [tokens, each] of bill) {
    if (tokens === 0) continue
    if (each === undefined) return null
    cost += tokens * each
  }
  return Math.round(cost)
}

function priceOf(
  { model, baseUrl }: Pick<ModelRoute, 'model' | 'baseUrl'>,
  prices: Prices,
  inputTokens: number,
): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const host = URL.parse(baseUrl)?.host
  const undated = model.replace(DATE, '')
  const found = LISTED.find((each) => each.host === host && each.models.includes(undated))
  if (found === undefined) return undefined
  const { price, longer } = found
  return longer !== undefined && inputTokens > longer.over ? raised(price, longer) : price
}

function raised({ input, output, cacheRead, cacheWrite }: Price, longer: Longer): Price {
  return {
    ...{ input: input * longer.input, output: output * longer.output },
    ...(cacheRead !== undefined && { cacheRead: cacheRead * longer.input }),
    ...(cacheWrite !== undefined && { cacheWrite: cacheWrite * longer.input }),
  }
}

const DATE = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/

/** A request with more input than this costs so many times as much, all of it. */
interface Longer {
  readonly over: number
  readonly input: number
  readonly output: number
}

interface Listed {
  readonly host: string
  readonly models: readonly string[]
  readonly price: Price
  readonly longer?: Longer
}

const listed =
  (host: string, longer?: Longer) =>
  (
    models: readonly string[],
    [input, output, cacheRead, cacheWrite]: readonly [number, number, number, number?],
  ): Listed => ({
    ...{ host, models, ...(longer !== undefined && { longer }) },
    price: { input, output, cacheRead, ...(cacheWrite !== undefined && { cacheWrite }) },
  })

const ANTHROPIC = 'api.anthropic.com'
const OPENAI = 'api.openai.com'
const GOOGLE = 'generativelanguage.googleapis.com'

const anthropic = listed(ANTHROPIC)
const haiku = listed(ANTHROPIC, { over: 100_000, input: 5, output: 5 })
const openai = listed(OPENAI)
const openaiLong = listed(OPENAI, { over: 272_000, input: 2, output: 1.5 })
const google = listed(GOOGLE)
const geminiPro = listed(GOOGLE, { over: 200_000, input: 2, output: 1.5 })

// US dollars, the makers' list prices of single requests in November 2026; a write to the cache at
// its shortest life. Prices move: an operator who keeps a money budget names them in the configuration.
const LISTED: readonly Listed[] = [
  anthropic(['claude-opus-5-5'], [4, 20, 0.2, 5]),
  anthropic(
    ['claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6', 'claude-opus-4-5'],
    [5, 25, 0.5, 6.25],
  ),
  anthropic(['claude-opus-4-1', 'claude-opus-4'], [15, 75, 1.5, 18.75]),
  anthropic(['claude-fable-5-2', 'claude-mythos-5-2'], [8, 40, 0.2, 10]),
  anthropic(['claude-fable-5-1', 'claude-mythos-5-1'], [10, 50, 0.25, 12.5]),
  anthropic(['claude-fable-5', 'claude-mythos-5'], [10, 50, 1, 12.5]),
  anthropic(['claude-sonnet-5-5'], [2, 10, 0.1, 2.5]),
  anthropic(['claude-sonnet-5'], [2, 10, 0.2, 2.5]),
  anthropic(['claude-sonnet-4-6', 'claude-sonnet-4-5', 'claude-sonnet-4'], [3, 15, 0.3, 3.75]),
  haiku(['claude-haiku-5-5'], [0.1, 0.5, 0.01, 0.125]),
  anthropic(['claude-haiku-4-5'], [1, 5, 0.1, 1.25]),
  openaiLong(['gpt-6.1-sol'], [2, 10, 0.1]),
  openaiLong(['gpt-6.1-terra'], [1, 5, 0.05, 1.25]),
  openaiLong(['gpt-6-astra'], [10, 50, 1, 12.5]),
  openaiLong(['gpt-6-sol'], [2, 10, 0.2, 2.5]),
  openaiLong(['gpt-6-luna'], [0.1, 0.5, 0.01, 0.125]),
  openaiLong(['gpt-5.6', 'gpt-5.6-sol'], [4, 20, 0.4, 5]),
  openaiLong(['gpt-5.6-terra'], [2, 12, 0.2, 2.5]),
  openaiLong(['gpt-5.6-luna'], [0.2, 1.2, 0.02, 0.25]),
  openaiLong(['gpt-5.5'], [5, 30, 0.5]),
  openaiLong(['gpt-5.4'], [2.5, 15, 0.25]),
  openai(['gpt-5.4-mini'], [0.75, 4.5, 0.075]),
  openai(['gpt-5.4-nano'], [0.2, 1.25, 0.02]),
  openai(['gpt-5.3-codex', 'gpt-5.2-codex', 'gpt-5.2'], [1.75, 14, 0.175]),
  openai(['gpt-5.1-codex', 'gpt-5-codex', 'gpt-5.1', 'gpt-5'], [1.25, 10, 0.125]),
  openai(['gpt-5-mini'], [0.25, 2, 0.025]),
  openai(['gpt-5-nano'], [0.05, 0.4, 0.005]),
  openai(['gpt-4.1'], [2, 8, 0.5]),
  openai(['gpt-4.1-mini'], [0.4, 1.6, 0.1]),
  openai(['gpt-4o'], [2.5, 10, 1.25]),
  openai(['gpt-4o-mini'], [0.15, 0.6, 0.075]),
  geminiPro(['gemini-3.1-pro-preview'], [2, 12, 0.2]),
  geminiPro(['gemini-2.5-pro'], [1.25, 10, 0.125]),
  google(['gemini-3.8-flash', 'gemini-3.7-flash', 'gemini-3.6-flash'], [0.75, 3.75, 0.075]),
  google(['gemini-3.5-flash'], [1.5, 9, 0.15]),
  google(['gemini-3.5-flash-lite'], [0.3, 2.5, 0.03]),
  google(['gemini-3.1-flash-lite'], [0.25, 1.5, 0.025]),
  google(['gemini-3-flash-preview'], [0.5, 3, 0.05]),
  google(['gemini-2.5-flash'], [0.3, 2.5, 0.03]),
  google(['gemini-2.5-flash-lite'], [0.1, 0.4, 0.01]),
]
