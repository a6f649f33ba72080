import { describe, expect, it } from 'vitest'
import { Faults, readFault, type Target, UnknownFaultError } from './faults.ts'

const target: Target = {
  path: '/v1/messages',
  model: 'main',
  headers: {},
  bodyText: '',
  reused: false,
}

describe('readFault', () => {
  it('reads a kind with settings and fills in the others', () => {
    expect(readFault('status; code=429; retry-after=2')).toMatchObject({
      kind: 'status',
      code: 429,
      retryAfter: '2',
    })
    expect(readFault('drip')).toMatchObject({ ms: 20 })
    expect(readFault('status')).toMatchObject({ ms: 1_000, code: 500, after: 0.5 })
    expect(readFault(' cut-json ;how=reset; after=0.9')).toMatchObject({ how: 'reset', after: 0.9 })
  })

  it('reads every setting, and fills in the rest alike for each kind', () => {
    const rest = { ms: 1_000, after: 0.5 }
    expect(readFault('latency; ms=0; after=0')).toMatchObject({ kind: 'latency', ms: 0, after: 0 })
    expect(readFault('latency; ms=2147483647; after=1')).toMatchObject({
      ms: 2_147_483_647,
      after: 1,
    })
    for (const text of ['latency; ms=2147483648', 'latency; ms=-1', 'cut-json; after=1.01']) {
      expect(() => readFault(text)).toThrow(UnknownFaultError)
    }
    expect(readFault('cut-stream')).toMatchObject({ kind: 'cut-stream', ...rest })
    expect(readFault('status; code=599')).toMatchObject({ code: 599 })
    expect(() => readFault('drip; pace=2')).toThrow('The fault drip has no setting "pace".')
    expect(() => readFault('explode')).toThrow(/^There is no fault "explode"; known are /)
    expect(new UnknownFaultError('x')).toMatchObject({
      ...{ name: 'UnknownFaultError', code: 'unknown-fault', retryable: false },
    })
  })

  it.each<[string, object]>([
    ['latency', {}],
    ['drip', { ms: 20 }],
    ['drip; ms', { ms: 0 }],
    ['status;retry-after', { retryAfter: '' }],
    ['status; retry-after = a=b ; code = 404', { retryAfter: 'a=b', code: 404 }],
    ['cut-stream; after=0.3; how=reset', { after: 0.3, how: 'reset' }],
    ['stream-error; what=overflow', { what: 'overflow' }],
    ['finish; reason=content-filter', { reason: 'content-filter' }],
    ['latency; ms=7', { ms: 7 }],
  ])('reads %j whole', (text, fields) => {
    expect(readFault(text)).toEqual({
      ...{ kind: text.split(';')[0], ms: 1_000, after: 0.5, how: 'fin', code: 500 },
      ...{ what: 'overload', reason: 'length', ...fields },
    })
  })

  it.each<[string, string]>([
    ['drip; ms=soon', 'ms of a fault is a number from 0 to 2147483647.'],
    ['drip; after=-0.1', 'after of a fault is a number from 0 to 1.'],
    ['status; code=399', 'code of a fault is a number from 400 to 599.'],
    ['status; code=600', 'code of a fault is a number from 400 to 599.'],
    ['cut-json; how=gently', 'how of a fault is one of fin, reset, clean.'],
    ['stream-error; what=x', 'what of a fault is one of overload, overflow.'],
    ['finish; reason=x', 'reason of a fault is one of length, content-filter, window.'],
    ['drip; pace', 'The fault drip has no setting "pace".'],
  ])('says why it refuses %j', (text, message) => {
    expect(() => readFault(text)).toThrow(message)
  })

  it.each([
    'explode',
    'drip; ms=soon',
    'cut-stream; how=gently',
    'drip; pace=2',
    'status; code=99',
  ])('refuses %s', (text) => {
    expect(() => readFault(text)).toThrow(UnknownFaultError)
  })
})

describe('Faults', () => {
  it('gives the queue in order, each once, to the requests that are aimed at', () => {
    const faults = new Faults()
    faults.next('empty', { when: ({ model }) => model === 'summaries' })
    faults.next('blank')
    expect(faults.take(target, 1)?.kind).toBe('blank')
    expect(faults.take(target, 2)).toBeUndefined()
    expect(faults.waiting).toBe(1)
    expect(faults.take({ ...target, model: 'summaries' }, 3)?.kind).toBe('empty')
    expect(faults.waiting).toBe(0)
  })

  it('keeps a standing fault until it is taken back', () => {
    const faults = new Faults()
    const stop = faults.always('html')
    expect([1, 2].map((number) => faults.take(target, number)?.kind)).toEqual(['html', 'html'])
    stop()
    expect(faults.take(target, 3)).toBeUndefined()
  })

  it('prefers the older of two standing faults, and forgets all when it is cleared', () => {
    const faults = new Faults()
    const stop = faults.always('html')
    faults.always('blank')
    faults.rates({ empty: 1 }, { seed: 1 })
    expect(faults.take(target, 1)?.kind).toBe('html')
    stop()
    expect(faults.take(target, 2)?.kind).toBe('blank')
    faults.next('refusal')
    faults.clear()
    expect([faults.waiting, faults.take(target, 3)]).toEqual([0, undefined])
  })

  it('puts the header of the request before the queue', () => {
    const faults = new Faults()
    faults.next('blank')
    const asked = { ...target, headers: { 'x-stand-in-fault': 'refusal' } }
    expect(faults.take(asked, 1)?.kind).toBe('refusal')
    expect(faults.waiting).toBe(1)
  })

  it('saves a reset of a reused connection for one', () => {
    const faults = new Faults()
    faults.next('reset-reused-socket')
    expect(faults.take(target, 1)).toBeUndefined()
    expect(faults.take({ ...target, reused: true }, 2)?.kind).toBe('reset-reused-socket')
  })

  it('draws by seed and number, close to the rates', () => {
    const draw = (seed: number) => {
      const faults = new Faults()
      faults.rates({ 'cut-stream': 0.1, 'status; code=503': 0.05 }, { seed })
      return Array.from({ length: 2_000 }, (_, index) => faults.take(target, index + 1)?.kind)
    }
    const kinds = draw(7)
    expect(draw(7)).toEqual(kinds)
    expect(draw(8)).not.toEqual(kinds)
    const share = (kind: string) => kinds.filter((found) => found === kind).length / kinds.length
    expect(share('cut-stream')).toBeCloseTo(0.1, 1)
    expect(share('status')).toBeCloseTo(0.05, 1)
  })
})
