import { describe, expect, it } from 'vitest'
import { reportedErrorOf } from '#core/message/dialects/provider-error'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import type { WireRecord } from '../calls/exchange.ts'
import { judgeConnection } from './connection-fault.ts'
import { judgeCall } from './judge.ts'
import { explainOutcome, type Outcome, type ProviderRefusal, prospectOf } from './outcome.ts'

/** A request that a server answered with an error. */
function refused(status: number, body: unknown, headers: WireRecord['headers'] = {}): Outcome {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const wire: WireRecord = { phase: 'over', wasSent: true, status, headers, text, isComplete: true }
  return judgeCall({ wire, nowMs: 0 })
}

/** Error messages of real servers. */
const OVERFLOWS: readonly (readonly [string, number, unknown])[] = [
  [
    'OpenAI chat',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
        code: 'context_length_exceeded',
      },
    },
  ],
  ['OpenAI by its code alone', 400, { error: { message: '…', code: 'context_length_exceeded' } }],
  [
    'OpenAI Responses, in a failed response',
    200,
    { error: 1, response: { error: { code: 'context_length_exceeded', message: '' } } },
  ],
  [
    'Anthropic',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
      },
    },
  ],
  [
    'Anthropic with max_tokens',
    400,
    {
      error: {
        type: 'invalid_request_error',
        message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      },
    },
  ],
  ['Anthropic, too many bytes', 413, { error: { type: 'request_too_large', message: '' } }],
  ['a proxy before Anthropic', 413, '<html><h1>413 Payload Too Large</h1></html>'],
  [
    'Google',
    400,
    {
      error: {
        code: 400,
        message:
          'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
  [
    'vLLM, flat',
    400,
    { object: 'error', message: "This model's maximum context length is 8192 tokens.", code: 400 },
  ],
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        type: 'exceed_context_size_error',
        message: 'the request exceeds the available context size',
        n_prompt_tokens: 9000,
        n_ctx: 8192,
      },
    },
  ],
  ['Ollama', 500, { error: 'the input length exceeds the context length' }],
  ['LM Studio', 400, { error: 'The number of tokens to keep is greater than the context length' }],
  ['Bedrock', 400, { message: 'Input is too long for requested model.' }],
  ['a gateway in plain text', 422, 'prompt too long; exceeded max context length by 12 tokens'],
  [
    'OpenAI, for one text that is too long, by its code alone',
    400,
    { error: { message: '…', code: 'string_above_max_length' } },
  ],
]

/** Errors about tokens that compaction does not solve. */
const OTHERS: readonly (readonly [string, number, unknown])[] = [
  [
    'too many tokens per minute under 413',
    413,
    {
      error: {
        message:
          'Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000',
        code: 'rate_limit_exceeded',
      },
    },
  ],
  [
    'the same without a code',
    413,
    { error: { message: 'Request too large on tokens per minute (TPM): Limit 6000, Used 0' } },
  ],
  [
    'a rate limit that speaks of input tokens',
    429,
    { error: { message: 'would exceed your rate limit of 40,000 input tokens per minute' } },
  ],
  ['an unknown field', 400, { error: { message: 'max_tokens: must be at most 8192' } }],
  ['a key', 401, { error: { message: 'prompt is too long' } }],
]

describe('a context that is too large', () => {
  it.each(OVERFLOWS)('is recognized in the words of %s', (_, status, body) => {
    expect(refused(status, body)).toMatchObject({ kind: 'overflow' })
  })

  it.each(OTHERS)('is not confused with %s', (_, status, body) => {
    expect(refused(status, body)).toMatchObject({ kind: 'refused' })
  })

  it('includes the sizes if the error has them', () => {
    const sizes = OVERFLOWS.map(([, status, body]) => refused(status, body))
    expect(sizes[0]).toEqual({ kind: 'overflow', limitTokens: 128_000, askedTokens: 130_001 })
    expect(sizes[3]).toEqual({ kind: 'overflow', limitTokens: 200_000, askedTokens: 210_000 })
    expect(sizes[7]).toEqual({ kind: 'overflow', limitTokens: 1_048_576, askedTokens: 1_200_000 })
    expect(sizes[9]).toEqual({ kind: 'overflow', limitTokens: 8_192, askedTokens: 9_000 })
  })

  it('is found in linear time in a hostile text', () => {
    const prepare = (length: number) => {
      const text = 'input token count '.repeat(length / 18)
      return () => refused(400, text)
    }
    expect(costOfTenfold(prepare, { size: 100_000, floorMs: 2 })).toBeLessThan(15)
  })
})

describe('a refusal', () => {
  const cases: readonly (readonly [number, unknown, ProviderRefusal])[] = [
    [400, { error: { type: 'invalid_request_error', message: 'bad' } }, 'bad-request'],
    [401, { error: { code: 'invalid_api_key' } }, 'bad-key'],
    [403, '', 'bad-key'],
    [400, { error: { message: 'API key not valid. Please pass a valid API key.' } }, 'bad-key'],
    [402, '', 'no-credit'],
    [429, { error: { code: 'insufficient_quota' } }, 'no-credit'],
    [400, { error: { message: 'Your credit balance is too low' } }, 'no-credit'],
    [404, { error: { code: 'model_not_found' } }, 'not-found'],
    [408, '', 'server-error'],
    [422, '', 'bad-request'],
    [429, '', 'rate-limit'],
    [500, '', 'server-error'],
    [502, '<html>', 'server-error'],
    [503, '', 'overloaded'],
    [504, '', 'server-error'],
    [529, { error: { type: 'overloaded_error' } }, 'overloaded'],
    [400, { error: { code: 'content_policy_violation' } }, 'content'],
  ]
  it.each(cases)('with status %i and %j is %s', (status, body, refusal) => {
    expect(refused(status, body)).toMatchObject({ kind: 'refused', refusal, status })
  })

  it('may come as a document with status 200', () => {
    expect(refused(200, { error: { code: 429, message: 'slow down' } })).toMatchObject({
      kind: 'refused',
      refusal: 'rate-limit',
      status: 429,
    })
    expect(refused(200, { choices: [] })).toEqual({ kind: 'malformed', what: 'no-stream' })
    expect(refused(200, '<!doctype html>')).toEqual({ kind: 'malformed', what: 'no-stream' })
  })

  it('reads the delay in seconds, milliseconds or as a date, and ignores nonsense', () => {
    const wait = (headers: WireRecord['headers']) => {
      const outcome = refused(429, '', headers)
      return outcome.kind === 'refused' ? outcome.retryAfterMs : Number.NaN
    }
    expect(wait({ 'retry-after': '2.5' })).toBe(2_500)
    expect(wait({ 'retry-after': '0' })).toBe(0)
    expect(wait({ 'retry-after': '604800' })).toBe(604_800_000)
    expect(wait({ 'retry-after': '604801' })).toBe(604_800_000)
    expect(wait({})).toBeUndefined()
    expect(wait({ 'retry-after-ms': '120', 'retry-after': '1' })).toBe(120)
    expect(wait({ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' })).toBe(60_000)
    expect(wait({ 'retry-after': '1e99' })).toBe(7 * 24 * 3_600_000)
    for (const value of ['-3', 'soon', 'Infinity', 'NaN']) {
      expect(wait({ 'retry-after': value })).toBeUndefined()
    }
  })

  it("keeps nothing of the provider's text but its code", () => {
    const secret = 'sk-live-0123456789abcdef'
    const outcome = refused(400, { error: { message: secret, code: secret, type: 'bad_thing' } })
    expect(JSON.stringify(outcome)).not.toContain('0123')
    expect(outcome).toMatchObject({ code: 'bad_thing' })
    expect(explainOutcome(outcome)).toContain('bad_thing')
  })

  it('without a status is judged by its event', () => {
    const said = (data: object) =>
      judgeCall({
        wire: { phase: 'over', wasSent: true, status: 200, isComplete: true },
        complaint: reportedErrorOf(JSON.parse(JSON.stringify(data))),
        nowMs: 0,
      })
    expect(said({ type: 'overloaded_error', message: 'Overloaded' })).toMatchObject({
      refusal: 'overloaded',
    })
    expect(said({ message: 'boom', code: null })).toMatchObject({ refusal: 'server-error' })
    expect(said({ message: 'maximum context length is 10 tokens', code: 400 })).toEqual({
      kind: 'overflow',
      limitTokens: 10,
    })
  })
})

describe('a failed connection', () => {
  const chain = (code: string) => new TypeError('fetch failed', { cause: coded(code) })
  const coded = (code: string) => Object.assign(new Error('no'), { code })

  it.each([
    ['UND_ERR_DESTROYED', 'dispatcher-closed', true],
    ['UND_ERR_CLOSED', 'dispatcher-closed', true],
    ['ECONNRESET', 'reset', true],
    ['UND_ERR_SOCKET', 'closed', true],
    ['ECONNREFUSED', 'server-down', false],
    ['ENOTFOUND', 'dns', false],
    ['EAI_AGAIN', 'dns', false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', false],
    ['UND_ERR_CONNECT_TIMEOUT', 'unreachable', false],
  ] as const)('%s along the chain is told apart', (code, fault, freshLoanHelps) => {
    expect(judgeConnection(chain(code))).toEqual({ kind: 'connection', fault, freshLoanHelps })
  })

  it('of several addresses is read from all of them, and circular causes terminate', () => {
    const many = new AggregateError([coded('EHOSTUNREACH'), coded('ECONNREFUSED')])
    expect(judgeConnection(many).fault).toBe('server-down')
    const circle = new Error('a')
    circle.cause = circle
    expect(judgeConnection(circle).fault).toBe('unknown')
  })
})

describe('the order of evidence', () => {
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  const wire: WireRecord = { phase: 'over', wasSent: true, status: 200 }
  const end = { finish: 'stop' } as const

  it('prefers our own abort to the error that it caused', () => {
    const aborted = { ...wire, abortedBy: 'idle', error: reset } as const
    expect(judgeCall({ wire: aborted, end, nowMs: 0 })).toEqual({
      kind: 'deadline',
      deadline: 'idle',
    })
    const flood = { ...wire, abortedBy: 'too-large' } as const
    expect(judgeCall({ wire: flood, end, nowMs: 0 })).toEqual({
      kind: 'malformed',
      what: 'too-large',
    })
  })

  it('prefers a broken connection to a finish that the package made up', () => {
    expect(judgeCall({ wire: { ...wire, error: reset }, end, nowMs: 0 })).toMatchObject({
      kind: 'connection',
    })
  })

  it('never counts as finished without a finish event, or with a lost connection', () => {
    const whole = { ...wire, isComplete: true } as const
    expect(judgeCall({ wire: whole, nowMs: 0 })).toEqual({ kind: 'malformed', what: 'no-end' })
    expect(judgeCall({ wire: whole, end: { finish: 'broken' }, nowMs: 0 })).toEqual({
      kind: 'malformed',
      what: 'no-end',
    })
    expect(judgeCall({ wire: whole, end, fault: 'unparsable', nowMs: 0 })).toEqual({
      kind: 'malformed',
      what: 'unparsable',
    })
    expect(judgeCall({ wire: whole, end, nowMs: 0 })).toEqual({ kind: 'finished', finish: 'stop' })
  })

  it('refuses an answer with the id of another request [fault 57]', () => {
    const headers = { 'x-client-request-id': 'other' }
    const other = { ...wire, isComplete: true, requestId: 'mine', headers } as const
    expect(judgeCall({ wire: other, end, nowMs: 0 })).toEqual({
      kind: 'malformed',
      what: 'other-request',
    })
  })

  it('says for every outcome whether a retry can help and what to do', () => {
    const hopeless: Outcome = { kind: 'refused', refusal: 'bad-key', status: 401 }
    expect(prospectOf(hopeless)).toBe('hopeless')
    expect(explainOutcome(hopeless)).toMatch(/401.*Log in again/)
    const route = { model: 'm', host: 'api.example.org', variable: 'EXAMPLE_KEY' }
    expect(explainOutcome(hopeless, route)).toBe(
      'api.example.org refuses the key in EXAMPLE_KEY (status 401). Set EXAMPLE_KEY to a valid key (or log in again) and restart.',
    )
    expect(explainOutcome({ kind: 'refused', refusal: 'no-credential' }, route)).toMatch(
      /^The environment variable EXAMPLE_KEY is not set\. /,
    )
    expect(prospectOf({ kind: 'overflow' })).toBe('needs-compaction')
    expect(prospectOf({ kind: 'deadline', deadline: 'total' })).toBe('heals')
    expect(prospectOf({ kind: 'refused', refusal: 'no-credit' })).toBe('heals')
  })
})

describe('an outcome for people', () => {
  const route = { model: 'm-5', host: 'a.example', variable: 'A_KEY' }
  const login = { ...route, variable: null }
  it.each<[Outcome, typeof route | typeof login | undefined, string]>([
    [{ kind: 'finished', finish: 'stop' }, route, 'The model answered.'],
    [{ kind: 'finished', finish: 'length' }, route, 'The answer reached its limit.'],
    [{ kind: 'interrupted' }, route, 'The call was interrupted.'],
    [
      { kind: 'deadline', deadline: 'idle' },
      ...[route, 'The model did not answer in time (the answer stopped coming).'],
    ],
    [
      { kind: 'overflow' },
      ...[route, 'The context is larger than the model takes; it has to be compacted.'],
    ],
    [{ kind: 'refused', refusal: 'overloaded' }, undefined, 'The provider is overloaded.'],
    [
      { kind: 'refused', refusal: 'no-credit', status: 402 },
      route,
      'a.example says that the account has no credit or allowance left (status 402). Check its billing.',
    ],
    [
      { kind: 'refused', refusal: 'not-found', status: 404, code: 'gone' },
      route,
      'a.example has no such model or address (status 404, gone). Check model and base URL. Asked for: m-5.',
    ],
    [
      { kind: 'refused', refusal: 'not-found', code: 'gone' },
      undefined,
      'The provider has no such model or address (gone). Check model and base URL.',
    ],
    [
      { kind: 'refused', refusal: 'bad-key', status: 401 },
      login,
      'a.example refuses the credential (status 401). Log in again or replace the key.',
    ],
    [
      { kind: 'refused', refusal: 'no-credential' },
      login,
      'The credential of the model route could not be read. Check its source.',
    ],
  ] as [Outcome, typeof route, string][])('says of %j at %j: %s', (outcome, at, text) => {
    expect(explainOutcome(outcome, at)).toBe(text)
  })

  it('says whether another attempt can succeed', () => {
    const kinds: Outcome[] = [
      { kind: 'interrupted' },
      { kind: 'overflow' },
      { kind: 'deadline', deadline: 'total' },
      { kind: 'connection', fault: 'tls', freshLoanHelps: false },
      { kind: 'connection', fault: 'dns', freshLoanHelps: false },
      { kind: 'malformed', what: 'redirect' },
      { kind: 'malformed', what: 'not-sent' },
      { kind: 'malformed', what: 'no-end' },
      { kind: 'refused', refusal: 'no-credit' },
      { kind: 'refused', refusal: 'content' },
    ]
    expect(kinds.map(prospectOf)).toEqual([
      ...['done', 'needs-compaction', 'heals', 'hopeless', 'heals', 'hopeless', 'hopeless'],
      ...['heals', 'heals', 'hopeless'],
    ])
  })
})
