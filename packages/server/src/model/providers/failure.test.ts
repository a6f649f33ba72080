import { expect, it } from 'vitest'
import { readProviderFailure } from './failure.ts'

const named = (name: string, facts: object = {}) =>
  Object.assign(new Error('secret words'), { name, ...facts })
const failed = { error: { message: 'Too many.', type: 'rate_limit_error' } }

it.each<[string, unknown, unknown]>([
  ['an event that is no JSON', named('AI_JSONParseError'), { kind: 'unparsable' }],
  ['an unknown event', named('AI_TypeValidationError'), { kind: 'note', code: 'unknown-event' }],
  ['a broken connection', named('TypeError'), undefined],
  ['a call without facts', named('AI_APICallError'), undefined],
  ['a number', 5, undefined],
])('%s is told without its words', (_, error, part) => {
  expect(readProviderFailure(error)).toEqual(part)
})

it.each<[string, unknown, number | undefined]>([
  ['of an event', failed, undefined],
  ['of an event as text', JSON.stringify(failed), undefined],
  ['of the package', named('AI_APICallError', { data: failed, statusCode: 429 }), 429],
  [
    'of the body',
    named('AI_APICallError', { responseBody: JSON.stringify(failed), statusCode: 400 }),
    400,
  ],
  [
    'of the first event of an answer',
    named('AI_APICallError', { data: failed, statusCode: 399 }),
    undefined,
  ],
])('a complaint %s is told with its status', (_, error, status) => {
  const part = readProviderFailure(error)
  expect(part?.kind).toBe('complaint')
  const complaint = part?.kind === 'complaint' ? part.complaint : undefined
  expect(complaint?.status).toBe(status)
  expect(JSON.stringify(complaint)).toContain('Too many.')
})
