import { expect, it } from 'vitest'
import { readAddress, upstreamFor } from './address.ts'

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
  ['/p/mine/v1/messages', {}, mine],
  ['/l/launch/p/mine?x=1', {}, mine],
])('sends %s with %j to the provider whose credentials it carries', (path, headers, to) => {
  expect(upstreamFor(readAddress(path), headers, { anthropic, openai, named })).toBe(to)
})
