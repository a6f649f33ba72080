import { expect, it } from 'vitest'
import { readAddress, refusalFor, upstreamFor } from './address.ts'

const anthropic = new URL('https://anthropic.test')
const openai = new URL('https://openai.test')
const mine = new URL('https://mine.test/base')
const named = new Map([['mine', mine]])

it.each([
  ['/v1/messages', {}, anthropic],
  ['/v1/responses', {}, openai],
  ['/v1/models', {}, openai],
  ['/v1/models', { 'x-api-key': 'k' }, anthropic],
  ['/api/oauth/profile', { authorization: 'Bearer sk-ant-oat01-k' }, anthropic],
  ['/v1/messages/count_tokens?beta=true', { authorization: 'Bearer sk-of-a-gateway' }, anthropic],
  ['/messages', {}, anthropic],
  ['/v1/threads/thread_1/messages', { authorization: 'Bearer sk-proj-k' }, openai],
  ['/v1/threads/thread_1/messages', {}, openai],
  ['/', { authorization: 'Bearer sk-proj-k' }, openai],
  ['/', {}, anthropic],
  ['/p/mine/v1/messages', {}, mine],
  ['/l/launch/p/mine?x=1', {}, mine],
])('sends %s with %j to the provider whose credentials it carries', (path, headers, to) => {
  expect(upstreamFor(readAddress(path), headers, { anthropic, openai, named })).toBe(to)
})

it.each(['/p/mine/../../secret', '/v1/%2E%2e/secret', '/v1/..\\secret', '/v1/.', '/..?x=1'])(
  'refuses %s, which would leave the path of the provider',
  (url) => {
    const headers = { host: '127.0.0.1:1' }
    expect(refusalFor({ url, headers, headersDistinct: {} }, true)?.status).toBe(400)
  },
)

it.each(['/v1/models/gpt-5.1', '/v1/files/...', '/v1/models?after=/../x', '/v1/.well-known'])(
  'passes %s on',
  (url) => {
    const headers = { host: '127.0.0.1:1' }
    expect(refusalFor({ url, headers, headersDistinct: {} }, true)).toBeNull()
  },
)
