import { describe, expect, it } from 'vitest'
import { ServerFailure, translateServerError } from './failure.ts'

function failure(code: string | undefined): ServerFailure {
  return new ServerFailure(Object.assign(new Error('words'), code === undefined ? {} : { code }))
}

describe('ServerFailure', () => {
  it.each([
    undefined,
    'ECONNRESET',
    'ECONNREFUSED',
    'EPIPE',
    '08006',
    '57P01',
    '57P03',
    '53300',
    '25P03',
  ])('%s means that the connection is lost', (code) => {
    expect(failure(code).kind).toBe('connection')
  })

  it.each(['40001', '40P01', '23505'])('%s means that another transaction was first', (code) => {
    expect(failure(code).kind).toBe('conflict')
  })

  it.each(['57014', '55P03', '42P01', '23514', 'P0001'])('%s is final', (code) => {
    expect(failure(code).kind).toBe('refused')
  })

  it('reports all addresses that were tried', () => {
    const tried = new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')])
    expect(new ServerFailure(tried).message).toBe('::1 refused; 127.0.0.1 refused')
  })
})

describe('translate', () => {
  it.each([
    ['53100', 'store-full'],
    ['25006', 'store-read-only'],
    ['57014', 'store-busy'],
    ['55P03', 'store-busy'],
    ['ECONNREFUSED', 'store-busy'],
    ['40P01', 'store-busy'],
  ])('%s is reported as %s', (code, told) => {
    expect(translateServerError(failure(code), 'place', 1)).toMatchObject({ code: told })
  })

  it.each([
    ['28P01', /password is wrong/],
    ['28000', /pg_hba/],
    ['3D000', /createdb/],
    ['42501', /grant/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /sslrootcert/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /sslrootcert/],
  ])('%s is refused with the remedy', (code, remedy) => {
    const told = translateServerError(failure(code), 'place', 1)
    expect(told).toMatchObject({ code: 'store-refused', retryable: false })
    expect(String(told)).toMatch(remedy)
  })

  it('distinguishes an unknown host from one that does not answer; both are retryable', () => {
    const told = translateServerError(failure('ENOTFOUND'), 'place', 1)
    expect(told).toMatchObject({ code: 'store-busy', retryable: true })
    expect(String(told)).toContain('the host of place is not known')
  })

  it('passes our own bugs through', () => {
    const mistake = new TypeError('ours')
    expect(translateServerError(mistake, 'place', 1)).toBe(mistake)
    const syntax = failure('42601')
    expect(translateServerError(syntax, 'place', 1)).toBe(syntax)
  })
})
