import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Endpoint } from './endpoint.ts'
import { PROBLEMS, type ProblemCode } from './problems.ts'
import { problemDetails } from './schemas.ts'

const JSON_TYPE = 'application/json'
export const PROBLEM_TYPE = 'application/problem+json'

/** What every route may answer, whatever it does. */
const ALWAYS: readonly ProblemCode[] = [
  'bad-request',
  'host-refused',
  'rate-limited',
  'store-damaged',
  'unavailable',
]
const GUARDED: readonly ProblemCode[] = ['unauthorized', 'forbidden']
const WITH_BODY: readonly ProblemCode[] = ['bad-json', 'invalid', 'too-large', 'media-type']
const OF_SESSION: readonly ProblemCode[] = ['snapshot']
const WITH_INPUT: readonly ProblemCode[] = ['invalid']

/** The document that /openapi.json shows, from the same values that the server runs. */
export function describeApi(endpoints: readonly Endpoint[]): object {
  const api = new OpenAPIHono()
  const registry = api.openAPIRegistry
  registry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  for (const endpoint of endpoints) {
    const { method, path, summary, params, query, body, scope } = endpoint
    registry.registerPath({
      method,
      path,
      summary,
      ...(scope !== null && {
        security: [{ token: [] }],
        description: `Needs the scope \`${scope}\`.`,
      }),
      request: {
        ...(params !== undefined && { params }),
        ...(query !== undefined && { query }),
        ...(endpoint.isIdempotent === true && { headers: z.object({ 'Idempotency-Key': KEY }) }),
        ...(body !== undefined && {
          body: {
            content: { [JSON_TYPE]: { schema: body } },
            required: endpoint.isBodyOptional !== true,
          },
        }),
      },
      responses: { ...answersOf(endpoint), ...problemsOf(endpoint) },
    })
  }
  return api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Throughline', version: '1' },
  })
}

export const KEY_FORM = /^[\x21-\x7e]{1,255}$/
const KEY = z
  .string()
  .regex(KEY_FORM)
  .optional()
  .openapi({ description: 'The same key is the same request, however often it comes' })

type Responses = Record<
  string,
  { description: string; content?: Record<string, { schema: z.ZodType }> }
>

function answersOf({ answers }: Endpoint): Responses {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, type }]) => {
      if (schema !== undefined) {
        return [status, { description, content: { [JSON_TYPE]: { schema } } }]
      }
      if (type === undefined) return [status, { description }]
      return [status, { description, content: { [type]: { schema: z.string() } } }]
    }),
  )
}

/** One answer per status, which names the codes that it may have. */
function problemsOf(endpoint: Endpoint): Responses {
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
          content: { [PROBLEM_TYPE]: { schema: problemDetails } },
        },
      ]),
  )
}
