import type { JsonObject, JsonValue } from '#core/base/json'

/** Fields of foreign objects, whatever they hold. */
export function textAt(object: JsonObject, name: string): string {
  const value = object[name]
  return typeof value === 'string' ? value : ''
}

export function countOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0
}
