import type { JsonObject } from '#core/base/json'
import { capabilitiesOf } from '../../model/routes/windows.ts'
import { textAt } from '../../proxy/wire/fields.ts'

/** Agents do not fit into a small window, so an unknown model gets a common window size. */
const UNKNOWN_TOKENS = 128_000
const LONG_TOKENS = 1_000_000
const UNKNOWN = capabilitiesOf({ model: 'unknown' }).windowTokens

export function windowOf(
  model: string,
  headers: { readonly [name: string]: string | undefined },
): number {
  if (headers['anthropic-beta']?.includes('context-1m') || model.includes('[1m]')) {
    return LONG_TOKENS
  }
  const { windowTokens } = capabilitiesOf({ model })
  return windowTokens === UNKNOWN ? UNKNOWN_TOKENS : windowTokens
}

/** The model that a request names. */
export function requestedModel({
  body,
}: {
  readonly body: { readonly fields: JsonObject }
}): string {
  return textAt(body.fields, 'model')
}
