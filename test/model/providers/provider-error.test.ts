import { expect, it } from 'vitest'
import {
  isReportedError,
  reportedErrorOf,
} from '../../../packages/core/src/message/dialects/provider-error.ts'

it.each([
  ['OpenAI', { error: { code: 'Context_Length_Exceeded', type: 'invalid_request_error' } }],
  ['a stream of Responses', { response: { error: { code: 'context_length_exceeded' } } }],
  ['a proxy', { data: { error: { code: 'context_length_exceeded' } } }],
  ['a flat body', { code: 'context_length_exceeded' }],
])('the code of %s is found, in lower case', (_who, body) => {
  expect(reportedErrorOf(body).codes[0]).toBe('context_length_exceeded')
  expect(reportedErrorOf(JSON.stringify(body)).codes[0]).toBe('context_length_exceeded')
})

it('the kinds come in the order of code, type, status and reason', () => {
  const error = { reason: 'D', status: 'C', type: 'B', code: 'A' }
  expect(reportedErrorOf({ error }).codes).toEqual(['a', 'b', 'c', 'd'])
})

it('the status of the answer counts before one in its body, and only if it is an error', () => {
  expect(reportedErrorOf({ error: { code: 429 } }, 503).status).toBe(503)
  expect(reportedErrorOf({ error: { code: 429 } }, 200).status).toBe(429)
  expect(reportedErrorOf({ error: { code: 429, status: 500 } }).status).toBe(429)
  expect(reportedErrorOf({ error: { statusCode: 500, status: 502 } }).status).toBe(500)
  expect(reportedErrorOf({ error: { status: 502 } }).status).toBe(502)
  for (const code of [399, 600, '429', null]) {
    expect(reportedErrorOf({ error: { code } })).not.toHaveProperty('status')
  }
  expect(reportedErrorOf({ error: { code: 400 } }).status).toBe(400)
  expect(reportedErrorOf({ error: { code: 599 } }).status).toBe(599)
})

it('the words are all there, in lower case and bounded', () => {
  expect(reportedErrorOf('Too LARGE').text).toBe('too large')
  expect(reportedErrorOf({ error: { message: 'Too LARGE' } }).text).toContain('too large')
  expect(reportedErrorOf(undefined)).toEqual({ codes: [], text: '""' })
  expect(reportedErrorOf('x'.repeat(9_000)).text).toHaveLength(8_192)
})

it('an error is distinguished from an answer', () => {
  expect(isReportedError('{"error":{"message":"a"}}')).toBe(true)
  expect(isReportedError('{"type":"error"}')).toBe(true)
  expect(isReportedError('{"type":"message"}')).toBe(false)
  expect(isReportedError('error')).toBe(false)
})
