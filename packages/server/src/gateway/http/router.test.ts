import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { HttpProblem } from './problems.ts'
import { Router } from './router.ts'

const route = (method: 'get' | 'put', path: string) =>
  endpoint({
    ...{ method, path, summary: '', scope: null, answers: {}, problems: [] },
    params: z.object({}),
    run: async () => ({ status: 200 }),
  })
const one = route('get', '/v1/things/{id}')
const pin = route('put', '/v1/things/{id}/pins/{name}')
const page = { bytes: Buffer.from('page'), headers: {} }
const router = new Router([one, pin, route('get', '/a.json')], new Map([['/', page]]))

describe('a router', () => {
  it.each([
    ['GET', '/v1/things/7?a=1&b=x%20y', one, { id: '7' }],
    ['HEAD', '/v1/things/7', one, { id: '7' }],
    ['GET', 'http://host/v1/things/7', one, { id: '7' }],
    ['GET', '/v1/things/a%2Fb', one, { id: 'a/b' }],
    ['GET', '/v1/things/%E0%A4', one, { id: '%E0%A4' }],
    ['PUT', '/v1/things/7/pins/x', pin, { id: '7', name: 'x' }],
  ])('finds the endpoint of %s %s', (method, url, found, params) => {
    expect(router.find({ method, url, headers: {} })).toMatchObject({ endpoint: found, params })
  })

  it('keeps every value of the query', () => {
    const found = router.find({ method: 'GET', url: '/v1/things/7?a=1&a=2', headers: {} })
    expect(found.endpoint && found.query.getAll('a')).toEqual(['1', '2'])
  })

  it.each([
    ['DELETE', '/v1/things/7', 'method-not-allowed'],
    ['GET', '/v1/things/', 'unknown-path'],
    ['GET', '/v1/things/7/', 'unknown-path'],
    ['GET', '/aXjson', 'unknown-path'],
    ['OPTIONS', '*', 'bad-request'],
    ['GET', 'ftp://host/a.json', 'bad-request'],
  ])('answers %s %s with %s', (method, url, code) => {
    const found = router.find({ method, url, headers: {} })
    expect(
      found.endpoint === null && found.otherwise instanceof HttpProblem && found.otherwise.code,
    ).toBe(code)
  })

  it('serves the files of the page to GET', () => {
    expect(router.find({ method: 'GET', url: '/?x', headers: {} })).toEqual({
      endpoint: null,
      otherwise: page,
    })
  })
})
