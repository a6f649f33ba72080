import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../base/json.ts'
import { findOverflow, isOverflowFinish } from './overflow.ts'
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

  it.each([399, 600, '500', null])('ignores %s as a status', (code) => {
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

describe('findOverflow', () => {
  const found = (text: string, status?: number, codes: readonly string[] = []) =>
    findOverflow({ text: text.toLowerCase(), codes, ...(status !== undefined && { status }) })

  it.each([
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      8_192,
      9_000,
    ],
    ['The maximum context length is 4096 tokens, you requested 5000 tokens', 4_096, 5_000],
    ['prompt is too long: 210000 tokens > 200000 maximum', 200_000, 210_000],
    [
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      200_000,
      undefined,
    ],
    [
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      1_048_576,
      1_200_000,
    ],
    ['the request exceeds the available context size (4096 tokens)', 4_096, undefined],
    [
      'the request exceeds the available context size. {"n_prompt_tokens":5000,"n_ctx":4096}',
      4_096,
      5_000,
    ],
    [
      'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
      4_096,
      undefined,
    ],
    ['Your input exceeds the context window of this model', undefined, undefined],
    ['The prompt is longer than the maximum model length', undefined, undefined],
    ['Input is too long for requested model.', undefined, undefined],
    ['input length 9000 exceeds the limit', undefined, undefined],
    ['too many tokens: 9000', undefined, undefined],
    ['Please reduce the length of the messages.', undefined, undefined],
    ['Your request exceeded model token limit: 8192', undefined, undefined],
    ['context window exceeds limit', undefined, undefined],
    ['Range of input length should be [1, 30720]', undefined, undefined],
    ['inputs tokens + max_new_tokens must be <= 4096', undefined, undefined],
    ['token limit exceeded', undefined, undefined],
  ])('reads %s', (text, limitTokens, askedTokens) => {
    const sizes = {
      ...(limitTokens !== undefined && { limitTokens }),
      ...(askedTokens !== undefined && { askedTokens }),
    }
    expect(found(text, 400)).toEqual({ kind: 'overflow', ...sizes })
  })

  it.each([
    ...['context_length_exceeded', 'exceed_context_size_error', 'request_too_large'],
    ...['model_context_window_exceeded', 'context_window_exceeded', 'string_above_max_length'],
  ])('recognizes the code %s', (code) => {
    expect(found('no', 400, ['other', code])).toEqual({ kind: 'overflow' })
  })

  it('treats a request that is too large for the server as an overflow', () => {
    expect(found('no', 413)).toEqual({ kind: 'overflow' })
    expect(found('no', 400)).toBeUndefined()
    expect(found('no')).toBeUndefined()
    expect(found('prompt is too long')).toEqual({ kind: 'overflow' })
  })

  it.each([401, 403, 429])('finds no overflow with the status %i', (status) => {
    expect(found('prompt is too long', status)).toBeUndefined()
  })

  it.each([
    'Too many tokens per minute',
    'too many tokens: 40000 input tokens per minute',
    'Limit (TPM) reached: too many tokens',
    'too many tokens, see your tpm limit',
  ])('finds no overflow if waiting helps: %s', (text) => {
    expect(found(text, 400)).toBeUndefined()
  })

  it('finds no overflow with a code for rate limits', () => {
    expect(found('too many tokens', 400, ['rate_limit_exceeded'])).toBeUndefined()
  })

  it('finds an overflow in the finish reason of an answer', () => {
    expect(isOverflowFinish('model_context_window_exceeded')).toBe(true)
    expect([isOverflowFinish('stop'), isOverflowFinish(undefined)]).toEqual([false, false])
  })
})
