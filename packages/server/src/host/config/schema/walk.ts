import { z } from 'zod'
import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { Path } from '../read/problem.ts'
import { configSchema } from './schema.ts'
import { RESTART } from './values.ts'

/**
 * The zod schema converted to JSON Schema, so that code can walk it. The names of variables,
 * suggestions, the guide and the keys that need a restart are derived from it.
 */
export function buildJsonSchema(): JsonObject {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { io: 'input' })
  return JSON.parse(JSON.stringify({ $schema, title: 'throughline.yaml', ...rest })) as JsonObject
}

let known: JsonObject | undefined

/** Made when asked for: most commands need no key's schema, and the conversion takes 20 ms of each start. */
function root(): JsonObject {
  known ??= buildJsonSchema()
  return known
}

/** The schema of a key; undefined for an unknown key. */
export function describeAt(path: Path): JsonObject | undefined {
  let node: JsonObject | undefined = root()
  for (const key of path) {
    node = node === undefined ? undefined : stepInto(node, key)
  }
  return node
}

function stepInto(node: JsonObject, key: string | number): JsonObject | undefined {
  // The check of the whole would drop it silently.
  if (key === '__proto__') return undefined
  for (const branch of branchesOf(node)) {
    const { properties, additionalProperties, items } = branch
    if (isObject(properties) && Object.hasOwn(properties, key)) return asNode(properties[key])
    if (isObject(additionalProperties)) return additionalProperties
    if (isObject(items) && /^\d{1,3}$/.test(String(key))) return items
  }
  return undefined
}

/** The node itself, or the forms that it may take. */
export function branchesOf(node: JsonObject): readonly JsonObject[] {
  const forms = node['anyOf'] ?? node['oneOf']
  return isArray(forms) ? forms.filter(isObject) : [node]
}

function asNode(value: JsonValue | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

export function fieldsOf(node: JsonObject): ReadonlyMap<string, JsonObject> {
  const fields = branchesOf(node).flatMap(({ properties }) =>
    isObject(properties) ? Object.entries(properties) : [],
  )
  return new Map(fields.filter((field): field is [string, JsonObject] => isObject(field[1])))
}

/** Maps whose names the operator chooses: agents, pins, prices, headers. */
export function hasChosenNames(node: JsonObject): boolean {
  return branchesOf(node).some(({ additionalProperties }) => isObject(additionalProperties))
}

/** Strings are used unchanged; everything else is parsed as YAML. */
export function takesText(node: JsonObject): boolean {
  return branchesOf(node).every(({ type }) => type === 'string')
}

export function needsRestartAt(path: Path): boolean {
  return path.some((_, at) => describeAt(path.slice(0, at + 1))?.[RESTART] === true)
}

/** Every key of the schema; `*` replaces names that the operator chooses. */
export function listKeys(): readonly {
  readonly path: readonly string[]
  readonly node: JsonObject
}[] {
  const walk = (node: JsonObject, path: readonly string[]): ReturnType<typeof listKeys> => {
    const named = [...fieldsOf(node)].flatMap(([key, field]) => {
      const at = [...path, key]
      return [{ path: at, node: field }, ...(isCredential(field) ? [] : walk(field, at))]
    })
    const open = branchesOf(node).flatMap(({ additionalProperties }) =>
      isObject(additionalProperties) ? walk(additionalProperties, [...path, '*']) : [],
    )
    return [...named, ...open]
  }
  return walk(root(), [])
}

/** A choice between several maps is one key. */
function isCredential(node: JsonObject): boolean {
  return isArray(node['oneOf'])
}
