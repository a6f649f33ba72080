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
  const price = priceOf(route, prices)
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
): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const host = URL.parse(baseUrl)?.host
  const undated = model.replace(DATE, '')
  return LISTED.find((each) => each.host === host && each.models.includes(undated))?.price
}

const DATE = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/

interface Listed {
  readonly host: string
  readonly models: readonly string[]
  readonly price: Price
}

const listed = (
  host: string,
  models: readonly string[],
  [input, output, cacheRead, cacheWrite]: readonly [number, number, number, number?],
): Listed => ({
  host,
  models,
  price: { input, output, cacheRead, ...(cacheWrite !== undefined && { cacheWrite }) },
})

const ANTHROPIC = 'api.anthropic.com'
const OPENAI = 'api.openai.com'

// US dollars, the makers' list prices of single requests without tiers. Prices move: an operator who
// keeps a money budget names them in the configuration.
const LISTED: readonly Listed[] = [
  listed(ANTHROPIC, ['claude-opus-5-5'], [4, 20, 0.2, 5]),
  listed(ANTHROPIC, ['claude-opus-5', 'claude-opus-4-5'], [5, 25, 0.5, 6.25]),
  listed(ANTHROPIC, ['claude-sonnet-5'], [2, 10, 0.2, 2.5]),
  listed(ANTHROPIC, ['claude-sonnet-4-5'], [3, 15, 0.3, 3.75]),
  listed(ANTHROPIC, ['claude-haiku-4-5'], [1, 5, 0.1, 1.25]),
  listed(OPENAI, ['gpt-5', 'gpt-5.1'], [1.25, 10, 0.125]),
  listed(OPENAI, ['gpt-5-mini'], [0.25, 2, 0.025]),
  listed(OPENAI, ['gpt-5-nano'], [0.05, 0.4, 0.005]),
  listed(OPENAI, ['gpt-4.1'], [2, 8, 0.5]),
  listed(OPENAI, ['gpt-4.1-mini'], [0.4, 1.6, 0.1]),
  listed(OPENAI, ['gpt-4o'], [2.5, 10, 1.25]),
  listed(OPENAI, ['gpt-4o-mini'], [0.15, 0.6, 0.075]),
]
