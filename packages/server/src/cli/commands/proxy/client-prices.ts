import type { Prices } from '../../../auxiliary/prices.ts'
import { type ConfigFlags, loadRequest } from '../../../host/flags.ts'

/** The prices of the configuration, by which the calls of clients are counted. */
export async function clientPrices({ config }: ConfigFlags): Promise<Prices> {
  const { requireConfig } = await import('../../../host/config/load.ts')
  const { pricesOf } = await import('../../../host/config/allowance-of.ts')
  const request = loadRequest(config === undefined ? {} : { config })
  // The agents and their keys do not matter to a client.
  return pricesOf(requireConfig({ ...request, isFormOnly: true }).config)
}

/** For the proxy that `run` starts: a change of the file must not stop it from starting again. */
const PRICES = 'THROUGHLINE_PROXY_PRICES'

export function pricesVariable(prices: Prices): { readonly [name: string]: string } {
  return { [PRICES]: JSON.stringify(prices) }
}

export function pricesIn(env: NodeJS.ProcessEnv): Prices {
  return JSON.parse(env[PRICES] ?? '{}') as Prices
}
