import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { shortText } from './clean-text.ts'

/**
 * The schema of a foreign tool, rewritten in the subset that every provider accepts: one that a
 * provider refuses would silence the whole agent, not only this tool. References to the schema's
 * own definitions are inlined; depth and size are bounded; a pattern, which may take exponential
 * time, and every keyword that is not known here are left out. Omissions make the schema wider,
 * never narrower: the server itself checks its input.
 */
const DEPTH_MAX = 8
const NODES_MAX = 400
const NAMES_MAX = 100
const TEXT_MAX = 500
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/
const NUMBERS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems'],
]

export function safeSchema(schema: unknown): JsonObject {
  const root = isObject(schema) ? schema : {}
  const written = new Writer(root).write(root, 0)
  const properties = written['properties'] ?? {}
  const { description, required, additionalProperties } = written
  return {
    type: 'object',
    properties,
    ...(description !== undefined && { description }),
    ...(required !== undefined && { required }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  }
}

class Writer {
  readonly #root: JsonObject
  #nodes = 0

  constructor(root: JsonObject) {
    this.#root = root
  }

  write(asked: unknown, depth: number): JsonObject {
    this.#nodes += 1
    if (!isObject(asked) || depth > DEPTH_MAX || this.#nodes > NODES_MAX) return {}
    const schema = this.#resolve(asked)
    return {
      ...typeOf(schema),
      ...textsOf(schema),
      ...valuesOf(schema),
      ...numbersOf(schema),
      ...this.#children(schema, depth),
    }
  }

  /** A reference into the schema itself; any other allows anything. */
  #resolve(schema: JsonObject): JsonObject {
    const reference = schema['$ref']
    if (typeof reference !== 'string') return schema
    const [, table = '', name = ''] =
      /^#\/(\$defs|definitions)\/([^/]{1,200})$/.exec(reference) ?? []
    const found = own(own(this.#root, table), name)
    const { $ref: _, ...beside } = schema
    return isObject(found) && !('$ref' in found) ? { ...found, ...beside } : beside
  }

  #children(schema: JsonObject, depth: number): JsonObject {
    const written: { [key: string]: JsonValue } = {}
    const { properties, items, additionalProperties: others } = schema
    if (isObject(properties)) {
      const known = Object.entries(properties)
        .slice(0, NAMES_MAX)
        .filter(([name]) => PROPERTY.test(name) && name !== '__proto__')
      written['properties'] = Object.fromEntries(
        known.map(([name, value]) => [name, this.write(value, depth + 1)]),
      )
      const names = new Set(known.map(([name]) => name))
      const { required } = schema
      if (isArray(required)) {
        const wanted = required.filter((name) => typeof name === 'string' && names.has(name))
        if (wanted.length > 0) written['required'] = [...new Set(wanted)]
      }
    }
    if (isObject(items)) written['items'] = this.write(items, depth + 1)
    // Providers require the item type of a list.
    else if (typeOf(schema)['type'] === 'array') written['items'] = {}
    if (typeof others === 'boolean') written['additionalProperties'] = others
    else if (isObject(others)) written['additionalProperties'] = this.write(others, depth + 1)
    const choices = schema['anyOf'] ?? schema['oneOf']
    if (isArray(choices) && choices.length > 0 && depth > 0) {
      written['anyOf'] = choices.slice(0, 20).map((choice) => this.write(choice, depth + 1))
    }
    return written
  }
}

function own(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function typeOf({ type }: JsonObject): JsonObject {
  if (typeof type === 'string' && TYPES.includes(type)) return { type }
  if (!isArray(type)) return {}
  const known = [...new Set(type)].filter((each) => TYPES.includes(String(each)))
  return known.length === 0 ? {} : { type: known }
}

function textsOf({ title, description, format }: JsonObject): JsonObject {
  return {
    ...(typeof title === 'string' && { title: shortText(title, TEXT_MAX) }),
    ...(typeof description === 'string' && { description: shortText(description, TEXT_MAX) }),
    ...(typeof format === 'string' && /^[a-z-]{1,32}$/.test(format) && { format }),
  }
}

function valuesOf(schema: JsonObject): JsonObject {
  const { enum: listed, const: only, default: usual } = schema
  const values = isArray(listed) ? listed.slice(0, NAMES_MAX).filter(isPlain) : []
  return {
    ...(values.length > 0 && { enum: [...new Set(values)] }),
    ...(isPlain(only) && { const: only }),
    ...(isPlain(usual) && { default: usual }),
  }
}

/**
 * Values must be returned to the server unchanged, so values that cleaning would change are left
 * out.
 */
function isPlain(value: JsonValue | undefined): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= 200 && shortText(value, 200) === value
  return typeof value === 'number' || typeof value === 'boolean' || value === null
}

function numbersOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    NUMBERS.flatMap((key) => {
      const value = schema[key]
      return typeof value === 'number' && Number.isFinite(value) ? [[key, value]] : []
    }),
  )
}
