import { describe, expect, it } from 'vitest'
import { describeApi } from '../open-api.ts'
import { PROBLEMS } from '../problems.ts'
import { ENDPOINTS } from './all.ts'

/**
 * What each route demands and how it answers. `whole`: not for tokens limited to some sessions;
 * `once`: takes an Idempotency-Key; `body?`: the body may be left out.
 */
const ROUTES = `
post /v1/sessions: write whole once body 200 201
get /v1/sessions: read 200
get /v1/sessions/{id}: read 200
get /v1/sessions/{id}/transcript: read 200
get /v1/sessions/{id}/context: read 200
get /v1/sessions/{id}/tasks: read 200
get /v1/sessions/{id}/blobs/{hash}: read 200
get /v1/sessions/{id}/search: read 200
get /v1/search: read 200
put /v1/sessions/{id}/title: write body 204
get /v1/sessions/{id}/export: read 200
delete /v1/sessions/{id}: write 202 204
post /v1/sessions/{id}/forks: write whole once body 200 201
post /v1/sessions/{id}/messages: write once body 200 202
post /v1/sessions/{id}/stop: write once 202
post /v1/sessions/{id}/continue: write once 202
get /v1/sessions/{id}/pins: read 200
put /v1/sessions/{id}/pins/{name}: write once body 202
delete /v1/sessions/{id}/pins/{name}: write once 202
get /v1/sessions/{id}/mailbox: read 200
delete /v1/sessions/{id}/mailbox/{number}: write 204
get /v1/sessions/{id}/mailbox/{number}/outcome: read 200
get /v1/sessions/{id}/memory: read 200
put /v1/sessions/{id}/notes/{note}: write body 204
delete /v1/sessions/{id}/notes/{note}: write 204
delete /v1/sessions/{id}/reminders/{reminder}: write 204
post /v1/sessions/{id}/compactions: write once body? 200 202
get /v1/sessions/{id}/compactions: read 200
get /v1/sessions/{id}/compactions/{number}: read 200
post /v1/sessions/{id}/compactions/{number}/revert: write once 200 202
get /v1/usage: read whole 200
get /v1/activity: read whole 200
get /v1/sessions/{id}/usage: read 200
get /v1/sessions/{id}/events: read stream 200
get /v1/events: read stream 200
post /v1/hooks/{name}: open signed 202
get /v1/agents: read 200
get /v1/access: read 200
get /v1/proof: open 200
get /v1/health: read whole 200
get /v1/audit: read whole 200
get /v1/rehearsal: read whole 200
get /healthz: open unlimited 200
get /readyz: open unlimited 200 503
get /metrics: read whole 200
get /openapi.json: open 200
`

const CHANGES = ['unknown-session', 'gone', 'key-conflict', 'mailbox-full', 'too-large']

/** The problems of each route beside those that follow from its form. */
const OWN_PROBLEMS: Readonly<Record<string, readonly string[]>> = {
  'post /v1/sessions': ['session-exists', 'route-taken', 'unknown-agent', 'key-conflict'],
  'get /v1/sessions/{id}': ['unknown-session'],
  'get /v1/sessions/{id}/transcript': ['unknown-session'],
  'get /v1/sessions/{id}/context': ['unknown-session', 'unknown-entry'],
  'get /v1/sessions/{id}/tasks': ['unknown-session'],
  'get /v1/sessions/{id}/blobs/{hash}': ['unknown-session', 'unknown-blob'],
  'get /v1/sessions/{id}/search': ['unknown-session'],
  'put /v1/sessions/{id}/title': ['unknown-session', 'gone', 'unavailable'],
  'get /v1/sessions/{id}/export': ['unknown-session', 'gone', 'too-large'],
  'delete /v1/sessions/{id}': ['unknown-session', 'has-forks'],
  'post /v1/sessions/{id}/forks': [
    ...['unknown-session', 'gone', 'unknown-entry', 'session-exists', 'key-conflict'],
  ],
  'post /v1/sessions/{id}/messages': CHANGES,
  'post /v1/sessions/{id}/stop': CHANGES,
  'post /v1/sessions/{id}/continue': CHANGES,
  'get /v1/sessions/{id}/pins': ['unknown-session'],
  'put /v1/sessions/{id}/pins/{name}': [...CHANGES, 'turned-down'],
  'delete /v1/sessions/{id}/pins/{name}': [...CHANGES, 'turned-down'],
  'get /v1/sessions/{id}/mailbox': ['unknown-session'],
  'delete /v1/sessions/{id}/mailbox/{number}': ['unknown-mail', 'unknown-session', 'not-pending'],
  'get /v1/sessions/{id}/mailbox/{number}/outcome': ['unknown-session'],
  'get /v1/sessions/{id}/memory': ['unknown-session'],
  'put /v1/sessions/{id}/notes/{note}': ['unknown-session', 'unknown-note', 'gone', 'turned-down'],
  'delete /v1/sessions/{id}/notes/{note}': [
    ...['unknown-session', 'unknown-note', 'gone', 'turned-down'],
  ],
  'delete /v1/sessions/{id}/reminders/{reminder}': ['unknown-session', 'unknown-reminder'],
  'post /v1/sessions/{id}/compactions': [
    ...[...CHANGES, 'turned-down', 'no-preview', 'changed-preview'],
  ],
  'get /v1/sessions/{id}/compactions': ['unknown-session'],
  'get /v1/sessions/{id}/compactions/{number}': ['unknown-session', 'unknown-compaction'],
  'post /v1/sessions/{id}/compactions/{number}/revert': [
    ...CHANGES,
    'turned-down',
    'not-in-effect',
  ],
  'get /v1/sessions/{id}/usage': ['unknown-session'],
  'get /v1/sessions/{id}/events': ['unknown-session', 'too-many-streams'],
  'get /v1/events': ['too-many-streams'],
  'post /v1/hooks/{name}': [...CHANGES, 'bad-signature'],
  'get /v1/proof': ['wrong-address'],
}

describe('the routes of the server', () => {
  it('demand the scope, take the input and give the answers that their table says', () => {
    const lines = ENDPOINTS.map((endpoint) => {
      const { method, path, scope, answers, body, isBodyOptional } = endpoint
      const words = [
        scope ?? 'open',
        ...(endpoint.isUnlimited ? ['unlimited'] : []),
        ...(endpoint.isWhole ? ['whole'] : []),
        ...(endpoint.isIdempotent ? ['once'] : []),
        ...(endpoint.isStream ? ['stream'] : []),
        ...(endpoint.isSigned ? ['signed'] : []),
        ...(body === undefined ? [] : [isBodyOptional ? 'body?' : 'body']),
        ...Object.keys(answers),
      ]
      return `${method} ${path}: ${words.join(' ')}`
    })
    expect(lines).toEqual(ROUTES.trim().split('\n'))
  })

  it('announce the problems that they may answer with', () => {
    const announced = ENDPOINTS.filter(({ problems }) => problems.length > 0).map(
      ({ method, path, problems }) => [`${method} ${path}`, [...problems]],
    )
    expect(Object.fromEntries(announced)).toEqual(OWN_PROBLEMS)
  })

  it('check every part of their path', () => {
    for (const { path, params } of ENDPOINTS) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect([path, Object.keys(params?.shape ?? {})]).toEqual([path, names])
    }
  })
})

interface Operation {
  readonly summary: string
  readonly description?: string
  readonly security?: unknown
  readonly parameters: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: { readonly required: boolean; readonly content: object }
  readonly responses: Readonly<Record<string, { description: string; content?: object }>>
}
interface Document {
  readonly openapi: string
  readonly info: object
  readonly components: { readonly securitySchemes: object; readonly schemas: object }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

describe('describeApi', () => {
  const document = describeApi(ENDPOINTS) as Document
  const operation = (method: string, path: string) => {
    const found = document.paths[path]?.[method]
    if (found === undefined) throw new Error(`no ${method} ${path}`)
    return found
  }

  it('publishes these routes, answers and schemas', () => {
    const { paths, components, ...rest } = document
    const parts = { ...paths, ...components.schemas, ...rest }
    // Their problems are judged below.
    const isProblem = (value: unknown) => JSON.stringify(value)?.includes('application/problem')
    const own = (_: string, value: object) =>
      value !== null && typeof value === 'object' && 'content' in value && isProblem(value)
        ? undefined
        : value
    const lines = Object.entries(parts).map(
      ([name, part]) => `${name} ${JSON.stringify(part, own)}`,
    )
    expect(lines.join('\n')).toMatchSnapshot()
  })

  it('describes every method of every route under one version', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(described.sort()).toEqual(
      ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort(),
    )
    expect(document).toMatchObject({
      ...{ openapi: '3.1.0', info: { title: 'Throughline', version: '1' } },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    })
  })

  it('names the scope of guarded routes, and none for open ones', () => {
    expect(operation('post', '/v1/sessions')).toMatchObject({
      security: [{ token: [] }],
      description: 'Needs the scope `write`.',
    })
    expect(operation('get', '/healthz')).not.toHaveProperty('security')
    expect(operation('get', '/healthz')).not.toHaveProperty('description')
  })

  it('lists the parameters of path and query, and the key if the request can be repeated', () => {
    const found = operation('put', '/v1/sessions/{id}/pins/{name}').parameters
    expect(found).toMatchObject([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
      {
        ...{ name: 'Idempotency-Key', in: 'header', required: false },
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      },
    ])
    const search = operation('get', '/v1/search').parameters
    const of = (name: string) => search.find((parameter) => parameter['name'] === name)
    expect(of('q')).toMatchObject({ in: 'query', required: true })
    expect(of('limit')).toMatchObject({ in: 'query', required: false })
    expect(search.some(({ name }) => name === 'Idempotency-Key')).toBe(false)
  })

  it('says whether a body is needed', () => {
    const json = { 'application/json': { schema: expect.anything() } }
    expect(operation('post', '/v1/sessions').requestBody).toEqual({ required: true, content: json })
    expect(operation('post', '/v1/sessions/{id}/compactions').requestBody).toEqual({
      ...{ required: false, content: json },
    })
    expect(operation('get', '/v1/sessions')).not.toHaveProperty('requestBody')
  })

  it('describes answers with JSON, with text, and without a body', () => {
    expect(operation('get', '/v1/sessions').responses['200']).toEqual({
      description: expect.any(String),
      content: { 'application/json': { schema: expect.anything() } },
    })
    expect(operation('get', '/v1/events').responses['200']?.content).toEqual({
      'text/event-stream': { schema: { type: 'string' } },
    })
    expect(operation('delete', '/v1/sessions/{id}').responses['204']).toEqual({
      description: expect.any(String),
    })
  })

  it('refers to named schemas that are there, and to nothing else', () => {
    const text = JSON.stringify(document)
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    )
    expect(names.length).toBeGreaterThan(0)
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(names))
    expect(text).not.toContain('$defs')
    expect(text).not.toMatch(/"type":"integer"[^{}]*"pattern"/)
  })

  /** The codes that the responses of a route name. */
  const codes = (method: string, path: string) =>
    Object.entries(operation(method, path).responses).flatMap(
      ([status, { description, content }]) => {
        const found = [...description.matchAll(/`([\w-]+)`: /g)].map(([, code = '']) => code)
        for (const code of found) {
          expect(`${PROBLEMS[code as keyof typeof PROBLEMS][0]}`).toBe(status)
          expect(Object.keys(content ?? {})).toEqual(['application/problem+json'])
        }
        return found
      },
    )
  const ALWAYS = [
    ...['bad-request', 'host-refused', 'wrong-address', 'rate-limited'],
    ...['store-damaged', 'unavailable'],
  ]
  const GUARDED = ['unauthorized', 'forbidden']

  it.each<[string, string, readonly string[]]>([
    ['get', '/healthz', ALWAYS],
    ['get', '/v1/agents', [...ALWAYS, ...GUARDED]],
    ['get', '/v1/usage', [...ALWAYS, ...GUARDED, 'invalid']],
    ['get', '/v1/sessions/{id}', [...ALWAYS, ...GUARDED, 'invalid', 'snapshot', 'unknown-session']],
    [
      ...(['post', '/v1/sessions'] as const),
      [
        ...[...ALWAYS, ...GUARDED, 'bad-json', 'invalid', 'too-large', 'media-type'],
        ...['session-exists', 'route-taken', 'unknown-agent', 'key-conflict'],
      ],
    ],
    // Its own answer has this status.
    ['get', '/readyz', ALWAYS.filter((code) => code !== 'unavailable')],
  ])('lists the problems of %s %s by their status', (method, path, expected) => {
    expect(codes(method, path).sort()).toEqual([...expected].sort())
  })
})
