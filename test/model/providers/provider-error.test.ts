import { expect, it } from 'vitest'
import {
  complaintOf,
  isComplaint,
} from '../../../packages/core/src/message/dialects/provider-error.ts'

it.each([
  ['OpenAI', { error: { code: 'Context_Length_Exceeded', type: 'invalid_request_error' } }],
  ['a stream of Responses', { response: { error: { code: 'context_length_exceeded' } } }],
  ['a proxy', { data: { error: { code: 'context_length_exceeded' } } }],
  ['a flat body', { code: 'context_length_exceeded' }],
])('the code of %s is found, in lower case', (_who, body) => {
  expect(complaintOf(body).codes[0]).toBe('context_length_exceeded')
  expect(complaintOf(JSON.stringify(body)).codes[0]).toBe('context_length_exceeded')
})

it('the kinds come in the order of code, type, status and reason', () => {
  const error = { reason: 'D', status: 'C', type: 'B', code: 'A' }
  expect(complaintOf({ error }).codes).toEqual(['a', 'b', 'c', 'd'])
})

it('the status of the answer counts before one in its body, and only if it is an error', () => {
  expect(complaintOf({ error: { code: 429 } }, 503).status).toBe(503)
  expect(complaintOf({ error: { code: 429 } }, 200).status).toBe(429)
  expect(complaintOf({ error: { code: 429, status: 500 } }).status).toBe(429)
  expect(complaintOf({ error: { statusCode: 500, status: 502 } }).status).toBe(500)
  expect(complaintOf({ error: { status: 502 } }).status).toBe(502)
  for (const code of [399, 600, '429', null]) {
    expect(complaintOf({ error: { code } })).not.toHaveProperty('status')
  }
  expect(complaintOf({ error: { code: 400 } }).status).toBe(400)
  expect(complaintOf({ error: { code: 599 } }).status).toBe(599)
})

it('the words are all there, in lower case and bounded', () => {
  expect(complaintOf('Too LARGE').text).toBe('too large')
  expect(complaintOf({ error: { message: 'Too LARGE' } }).text).toContain('too large')
  expect(complaintOf(undefined)).toEqual({ codes: [], text: '""' })
  expect(complaintOf('x'.repeat(9_000)).text).toHaveLength(8_192)
})

it('an error is told from an answer', () => {
  expect(isComplaint('{"error":{"message":"a"}}')).toBe(true)
  expect(isComplaint('{"type":"error"}')).toBe(true)
  expect(isComplaint('{"type":"message"}')).toBe(false)
  expect(isComplaint('error')).toBe(false)
})
