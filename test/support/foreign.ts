import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/base/json.ts'

/**
 * Pieces of foreign documents for property tests of the codecs: fields nobody knows, contents
 * nobody should write, and the strings that break programs.
 */
export const text = fc.oneof(
  fc.constantFrom(
    'hi',
    'two\nlines',
    '',
    ' ',
    '\u0000',
    '\ud800',
    '日本',
    '{"a":1}',
    'a'.repeat(30),
  ),
  fc.string({ maxLength: 12 }),
)

export const id = fc.constantFrom('a', 'b', 'call_1', '', '\udc00')

const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 0, 1.5, -7, [], {}, [null]),
  text,
)

/** Any JSON, keys that could pollute a prototype included. */
export const json: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(JSON.parse('{"__proto__":{"polluted":true},"x":1}')) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('x', 'type', 'text', 'y'), scalar) },
)

/** Fields that no format has. */
export const unknownFields: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: json.map((value) => ({ x_note: value })) },
  { weight: 1, arbitrary: fc.constant(JSON.parse('{"__proto__":[1],"constructor":2}')) },
)

/** An object with required fields, some of the optional ones, and fields nobody knows. */
export function thing(
  required: { readonly [key: string]: fc.Arbitrary<JsonValue> },
  optional: { readonly [key: string]: fc.Arbitrary<JsonValue> } = {},
): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(
      fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) }),
      unknownFields,
    )
    .map(([known, more]) => ({ ...more, ...known }) as JsonObject)
}

/** Content in all its spellings; `parts` are the format's own. */
export function contentOf(parts: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc.oneof(
    { weight: 3, arbitrary: text },
    {
      weight: 4,
      arbitrary: fc.array(fc.oneof({ weight: 6, arbitrary: parts }, json), { maxLength: 4 }),
    },
    { weight: 1, arbitrary: fc.constantFrom<JsonValue>(null, {}, { text: 'dict' }, 7, false) },
  )
}

export const constant = (value: JsonValue) => fc.constant(value)

/** Text that is the same for equal values, whatever the order of their keys. */
export function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: JsonValue) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))
      : inner,
  )
}
