import { type ConfigFlags, loadRequest } from '../../../host/flags.ts'
import type { ClientPrices } from '../../../runtime/client-sessions/client-call.ts'

/** The prices of the configuration, by which the calls of clients are counted. */
export async function clientPrices({ config }: ConfigFlags): Promise<ClientPrices> {
  const { requireConfig } = await import('../../../host/config/load.ts')
  const { pricesOf } = await import('../../../host/config/allowance-of.ts')
  const request = loadRequest(config === undefined ? {} : { config })
  // The agents and their keys do not matter to a client.
  return pricesOf(requireConfig({ ...request, isFormOnly: true }).config)
}

/** For the proxy that `run` starts: a change of the file must not stop it from starting again. */
const PRICES = 'THROUGHLINE_PROXY_PRICES'

export function pricesVariable(prices: ClientPrices): { readonly [name: string]: string } {
  return { [PRICES]: JSON.stringify(prices) }
}

export function pricesIn(env: NodeJS.ProcessEnv): ClientPrices {
  return JSON.parse(env[PRICES] ?? '{}') as ClientPrices
}
