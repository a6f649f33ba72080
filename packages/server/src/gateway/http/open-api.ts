import { z } from 'zod'
import type { Endpoint } from './endpoint.ts'
import { PROBLEMS, type ProblemCode } from './problems.ts'
import { problemDetails } from './schemas.ts'

const JSON_TYPE = 'application/json'
export const PROBLEM_TYPE = 'application/problem+json'

/** Problems that every route may answer with. */
const ALWAYS: readonly ProblemCode[] = [
  'bad-request',
  'host-refused',
  'wrong-address',
  'rate-limited',
  'store-damaged',
  'unavailable',
]
const GUARDED: readonly ProblemCode[] = ['unauthorized', 'forbidden']
const WITH_BODY: readonly ProblemCode[] = ['bad-json', 'invalid', 'too-large', 'media-type']
const OF_SESSION: readonly ProblemCode[] = ['snapshot']
const WITH_INPUT: readonly ProblemCode[] = ['invalid']

export const KEY_FORM = /^[\x21-\x7e]{1,255}$/
const KEY_PARAMETER = {
  ...{ name: 'Idempotency-Key', in: 'header', required: false },
  schema: { type: 'string', pattern: KEY_FORM.source },
  description: 'The same key is the same request, however often it comes',
}

/** The document at /openapi.json, built from the same values that the server runs. */
export function describeApi(endpoints: readonly Endpoint[]): object {
  const schemas: Record<string, unknown> = {}
  const paths: Record<string, Record<string, object>> = {}
  // Every route has the same problems.
  const converted = new Map<z.ZodType, unknown>()
  const convert = (schema: z.ZodType) => {
    if (!converted.has(schema)) converted.set(schema, schemaOf(schema, schemas))
    return converted.get(schema)
  }
  for (const endpoint of endpoints) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method]: operationOf(endpoint, convert),
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Throughline', version: '1' },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas },
    paths,
  }
}

/** JSON Schema. Schemas that have an id are collected in `named` and referenced from lists. */
function schemaOf(schema: z.ZodType, named: Record<string, unknown>): unknown {
  const converted = z.toJSONSchema(z.array(schema), {
    ...{ io: 'input', unrepresentable: 'any' },
    override: ({ jsonSchema }) => {
      delete jsonSchema['id']
      if (jsonSchema.type === 'integer') delete jsonSchema.pattern
    },
  })
  const text = JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')
  const { items, $defs } = JSON.parse(text) as { items: unknown; $defs?: object }
  Object.assign(named, $defs)
  return items
}

type Convert = (schema: z.ZodType) => unknown

function operationOf(endpoint: Endpoint, convert: Convert): object {
  const { summary, params, query, body, scope } = endpoint
  return {
    summary,
    ...(scope !== null && {
      security: [{ token: [] }],
      description: `Needs the scope \`${scope}\`.`,
    }),
    parameters: [
      ...parametersIn('path', params, convert),
      ...parametersIn('query', query, convert),
      ...(endpoint.isIdempotent === true ? [KEY_PARAMETER] : []),
    ],
    ...(body !== undefined && {
      requestBody: {
        content: { [JSON_TYPE]: { schema: convert(body) } },
        required: endpoint.isBodyOptional !== true,
      },
    }),
    responses: { ...answersOf(endpoint, convert), ...problemsOf(endpoint, convert) },
  }
}

function parametersIn(location: string, object: z.ZodObject | undefined, convert: Convert) {
  return Object.entries(object?.shape ?? {}).map(([name, schema]) => ({
    ...{ name, in: location, required: !schema.safeParse(undefined).success },
    schema: convert(schema),
  }))
}

function answersOf({ answers }: Endpoint, convert: Convert): object {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, types = [] }]) => {
      if (schema === undefined && types.length === 0) return [status, { description }]
      const content =
        schema === undefined
          ? Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]))
          : { [JSON_TYPE]: { schema: convert(schema) } }
      return [status, { description, content }]
    }),
  )
}

/** One response per status, listing its possible codes. */
function problemsOf(endpoint: Endpoint, convert: Convert): object {
  const codes = new Set([
    ...ALWAYS,
    ...(endpoint.scope === null ? [] : GUARDED),
    ...(endpoint.body === undefined ? [] : WITH_BODY),
    ...((endpoint.params ?? endpoint.query) ? WITH_INPUT : []),
    ...(endpoint.path.includes('{id}') ? OF_SESSION : []),
    ...endpoint.problems,
  ])
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code][0])
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => endpoint.answers[status] === undefined)
      .map(([status, group]) => [
        `${status}`,
        {
          description: group.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}`).join('; '),
          content: { [PROBLEM_TYPE]: { schema: convert(problemDetails) } },
        },
      ]),
  )
}
