import type { JsonValue } from '../../base/json.ts'

/** Checks a value from outside. Returns it with its type, unknown fields dropped. */
export interface Shape<T> {
  read(value: unknown, path: string): T
}

export type Shaped<S> = S extends Shape<infer T> ? T : never

/** The value does not have its shape; the message names the field. */
export class ShapeError extends Error {
  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`)
    this.name = 'ShapeError'
  }
}

export function wholeNumber(max: number): Shape<number> {
  return shape((value, path) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > max)
      throw new ShapeError(path, `expected a whole number from 0 to ${max}`)
    return value
  })
}

/** Text. `isValid` restricts it further, and `expected` describes how. */
export function text(isValid?: (value: string) => boolean, expected = 'text'): Shape<string> {
  return shape((value, path) => {
    if (typeof value !== 'string') throw new ShapeError(path, 'expected text')
    if (isValid !== undefined && !isValid(value)) throw new ShapeError(path, `expected ${expected}`)
    return value
  })
}

export function oneOf<const T extends string>(...values: readonly T[]): Shape<T> {
  return shape((value, path) => {
    const found = values.find((known) => known === value)
    if (found === undefined) throw new ShapeError(path, `expected one of ${values.join(', ')}`)
    return found
  })
}

export function nullable<T>(inner: Shape<T>): Shape<T | null> {
  return shape((value, path) => (value === null ? null : inner.read(value, path)))
}

/** A field that older files do not have. */
export function absentAs<T>(absent: T, inner: Shape<T>): Shape<T> {
  return shape((value, path) => (value === undefined ? absent : inner.read(value, path)))
}

export function list<T>(inner: Shape<T>): Shape<readonly T[]> {
  return shape((value, path) => {
    if (!Array.isArray(value)) throw new ShapeError(path, 'expected a list')
    return value.map((item, index) => inner.read(item, join(path, String(index))))
  })
}

export function record<T>(inner: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return shape((value, path) =>
    Object.fromEntries(
      Object.entries(fieldsOf(value, path)).map(([key, item]) => [
        key,
        inner.read(item, join(path, key)),
      ]),
    ),
  )
}

export function object<const Fields extends Readonly<Record<string, Shape<unknown>>>>(
  fields: Fields,
): Shape<{ readonly [Key in keyof Fields]: Shaped<Fields[Key]> }> {
  return shape((value, path) => {
    const given = fieldsOf(value, path)
    const entries = Object.entries(fields).map(([key, inner]) => [
      key,
      inner.read(Object.hasOwn(given, key) ? given[key] : undefined, join(path, key)),
    ])
    return Object.fromEntries(entries)
  })
}

/** Lines are parsed from JSON, so every value in one is JSON. */
export const json: Shape<JsonValue> = shape((value, path) => {
  if (value === undefined) throw new ShapeError(path, 'expected a value')
  return value as JsonValue
})

function shape<T>(read: (value: unknown, path: string) => T): Shape<T> {
  return { read }
}

function fieldsOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ShapeError(path, 'expected an object')
  return value as Readonly<Record<string, unknown>>
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
