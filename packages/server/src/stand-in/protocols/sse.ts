import type { JsonValue } from '#core/base/json'
import type { Frame } from './protocol.ts'

/** One event of an event stream. Providers send one JSON document per event, on one line. */
export function frame(data: JsonValue, options: { event?: string; tokens?: number } = {}): Frame {
  return textFrame(JSON.stringify(data), options)
}

export function textFrame(
  data: string,
  { event, tokens = 0 }: { event?: string; tokens?: number } = {},
): Frame {
  const name = event === undefined ? '' : `event: ${event}\n`
  return { text: `${name}data: ${data}\n\n`, tokens }
}
