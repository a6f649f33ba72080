/** Any value that JSON can hold. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

export type JsonObject = { readonly [key: string]: JsonValue }

/** `Array.isArray` for JSON, which keeps the element type of a readonly array. */
export function isArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same text for the same value, whatever the order of its fields. */
export function orderedJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: JsonValue) =>
    isObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}
