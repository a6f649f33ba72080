import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../base/json.ts'
import { isReportedError, type ReportedError, reportedErrorOf } from './provider-error.ts'

describe('complaintOf', () => {
  it.each<[JsonValue | undefined, number | undefined, Partial<ReportedError>]>([
    [
      { error: { code: 'Rate_Limit', type: 'REQUESTS', message: 'Slow.' } },
      429,
      { status: 429, codes: ['rate_limit', 'requests'] },
    ],
    [{ response: { error: { code: 'server_error' } } }, undefined, { codes: ['server_error'] }],
    [{ response: { error: 'no object' }, type: 'flat' }, undefined, { codes: ['flat'] }],
    [
      { data: { error: { reason: 'OVER' } }, type: 'outer' },
      undefined,
      { codes: ['outer', 'over'] },
    ],
    [{ status: 'NOT_FOUND', reason: 'gone' }, undefined, { codes: ['not_found', 'gone'] }],
    ['{"error":{"code":"quoted"}}', undefined, { codes: ['quoted'] }],
    ['Bad Gateway', 502, { status: 502, codes: [], text: 'bad gateway' }],
    [undefined, undefined, { codes: [], text: '""' }],
    [[1], undefined, { codes: [], text: '[1]' }],
    // Without an HTTP status, the first error status in the body counts.
    [{ error: { code: 503 } }, undefined, { status: 503 }],
    [{ error: { code: 503 } }, 500, { status: 500 }],
    [{ error: { code: 503 } }, 200, { status: 503 }],
    [{ error: { statusCode: 404 } }, undefined, { status: 404 }],
    [{ error: { status: 400 } }, undefined, { status: 400 }],
    [{ error: { code: 399, status: 599 } }, undefined, { status: 599 }],
  ])('reads %j with status %s', (said, status, complaint) => {
    expect(reportedErrorOf(said, status)).toMatchObject(complaint)
  })

  it.each([399, 600, '500', null])('takes %s for no status of an error', (code) => {
    expect(reportedErrorOf({ error: { code } })).not.toHaveProperty('status')
  })

  it('keeps the provider’s text, shortened and in lower case', () => {
    expect(reportedErrorOf({ error: { message: 'SLOW' } }).text).toBe(
      '{"error":{"message":"slow"}}',
    )
    expect(reportedErrorOf('A'.repeat(9_000)).text).toBe('a'.repeat(8_192))
  })
})

describe('isComplaint', () => {
  it.each<[string, boolean]>([
    ['{"error":{"message":"no"}}', true],
    ['{"error":null}', true],
    ['{"type":"error"}', true],
    ['{"type":"message"}', false],
    ['{"id":"1"}', false],
    ['["error"]', false],
    ['error', false],
  ])('%s: %s', (text, is) => {
    expect(isReportedError(text)).toBe(is)
  })
})
