import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ENDPOINTS } from '../../packages/server/src/gateway/http/endpoints/all.ts'
import { openPlace } from './http-place.ts'

/**
 * Every route, from the document that describes it: requests that are right, almost right and
 * nonsense. Whatever comes, the answer has a status of the document and the form that goes with it.
 */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
}
interface Operation {
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[]
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } }
  readonly responses: Readonly<Record<string, { content?: Record<string, unknown> }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
interface Sent {
  readonly method: string
  readonly path: string
  readonly values: Readonly<Record<string, string>>
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const TIME_MS = 3_000
/** Of each route, before chance chooses: a slow machine does not get round to all of them. */
const FIRST = 3
const odd = fc.oneof(
  fc.constantFrom('', '0', '-1', '1e9', '999999999999', '__proto__', 'constructor', '%', '\u0000'),
  fc.constantFrom('\ud800', '\u202e', "' or 1=1 --", '{{7*7}}', '../..', 'a.snapshot.1', 'true'),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const oddJson = fc.oneof(odd, fc.jsonValue({ stringUnit: 'binary' }), fc.double(), fc.integer())

function arbitraryOf(schema: Schema, document: Document, depth = 0): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const known = document.components.schemas[schema.$ref.split('/').at(-1) ?? '']
    return arbitraryOf(known ?? {}, document, depth)
  }
  const right = ((): fc.Arbitrary<unknown> => {
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    if (schema.anyOf)
      return fc.oneof(...schema.anyOf.map((each) => arbitraryOf(each, document, depth)))
    if (schema.properties && depth < 4) {
      const fields = Object.entries(schema.properties).map(([name, field]) => [
        name,
        arbitraryOf(field, document, depth + 1),
      ])
      return fc.record(Object.fromEntries(fields), { requiredKeys: [] })
    }
    if (schema.items)
      return fc.array(arbitraryOf(schema.items, document, depth + 1), { maxLength: 3 })
    if (schema.type === 'integer') return fc.integer({ min: 0, max: 20 })
    if (schema.type === 'boolean') return fc.boolean()
    return fc.oneof(fc.constantFrom('main', 'hello', 'sfuzz'), fc.string({ minLength: 1 }))
  })()
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: oddJson })
}

function requestOf(
  document: Document,
  path: string,
  method: string,
  { parameters = [], requestBody }: Operation,
): fc.Arbitrary<Sent> {
  const places = parameters.filter((each) => each.in === 'path')
  const asked = parameters.filter((each) => each.in === 'query')
  const sessionId = fc.oneof({ weight: 4, arbitrary: fc.constant('sfuzz') }, odd)
  const values = Object.fromEntries(
    places.map(({ name, schema }) => [
      name,
      name === 'id' ? sessionId : fc.oneof(arbitraryOf(schema, document).map(asText), odd),
    ]),
  )
  const queries = asked.map(({ name, schema }) =>
    fc.oneof(
      fc.constant(''),
      arbitraryOf(schema, document).map((value) => `${name}=${escaped(asText(value))}`),
    ),
  )
  const header = fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((text) => text.trim())
  const schema = requestBody?.content['application/json'].schema
  const json = schema === undefined ? fc.constant(undefined) : arbitraryOf(schema, document)
  const body = json.map((value) => (value === undefined ? undefined : JSON.stringify(value)))
  return fc.record({
    method: fc.constant(method),
    path: fc.constant(path),
    values: fc.record(values),
    query: fc
      .tuple(...queries, fc.oneof({ weight: 9, arbitrary: fc.constant('') }, odd.map(escaped)))
      .map((parts) => parts.filter((part) => part !== '').join('&')),
    headers: fc.record(
      { 'idempotency-key': header, 'last-event-id': header, 'x-request-id': header },
      { requiredKeys: [] },
    ),
    body: fc.oneof({ weight: 9, arbitrary: body }, fc.string({ maxLength: 30 })),
  })
}

/** `String` fails for an object whose own `toString` is no function. */
function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

it('every route answers anything as its description says, and never with 500', async () => {
  const place = await openPlace({ limits: { requestsPerMinute: 10_000_000, waitMsMax: 20 } })
  await place.runtime.createSession({ agent: 'main', id: 'sfuzz' })
  const document: Document = (await place.call('/openapi.json')).json
  const requests = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      requestOf(document, path, method, operation).filter(isRouted),
    ),
  )
  expect(requests).toHaveLength(ENDPOINTS.length)
  const seen = new Map<string, number>()
  const answers = (request: fc.Arbitrary<Sent>) =>
    fc.asyncProperty(request, async (sent) => {
      const { status, type, text } = await send(place.url, sent)
      const operation = document.paths[sent.path]?.[sent.method]
      const responses = operation?.responses ?? {}
      expect([status, Object.keys(responses)]).toEqual([
        status,
        expect.arrayContaining([`${status}`]),
      ])
      expect(status).not.toBe(500)
      const content = responses[status]?.content
      if (content !== undefined) expect(Object.keys(content)).toContain(type)
      const route = ENDPOINTS.find(
        ({ path, method }) => path === sent.path && method === sent.method,
      )
      const schema = route?.answers[status]?.schema
      if (schema !== undefined) expect(schema.safeParse(JSON.parse(text)).error).toBeUndefined()
      const key = `${sent.method} ${sent.path} ${status}`
      seen.set(key, (seen.get(key) ?? 0) + 1)
    })
  for (const request of requests) await fc.assert(answers(request), { numRuns: FIRST })
  await fc.assert(answers(fc.oneof(...requests)), {
    ...{ numRuns: 100_000, interruptAfterTimeLimit: TIME_MS, markInterruptAsFailure: false },
  })
  const routes = new Set([...seen.keys()].map((key) => key.split(' ').slice(0, 2).join(' ')))
  expect(routes.size).toBe(ENDPOINTS.length)
  const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
  const taken = [...seen].filter(([key]) => / 20\d$/.test(key)).reduce((sum, [, n]) => sum + n, 0)
  console.log(`fuzzed ${routes.size} routes with ${total} requests, ${taken} of them taken`)
  await place.close()
})

function isRouted({ values }: Sent): boolean {
  return Object.values(values).every((value) => !/^\.{0,2}$/.test(value))
}

async function send(url: string, sent: Sent) {
  const { method, values, query, headers, body } = sent
  const path = sent.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => escaped(values[name] ?? ''))
  const isStream = path.endsWith('/events')
  const stop = new AbortController()
  const hasBody = body !== undefined && method !== 'get'
  const response = await fetch(`${url}${path}${query === '' ? '' : `?${query}`}`, {
    method: method.toUpperCase(),
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    signal: stop.signal,
    ...(hasBody && { body }),
  })
  const text = isStream && response.status === 200 ? '' : await response.text()
  stop.abort()
  const type = response.headers.get('content-type')?.split(';')[0]
  return { status: response.status, type, text }
}
