import { describe, expect, it } from 'vitest'
import { ServerFailure, translate } from './failure.ts'

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
  ])('%s means that the connection is no more', (code) => {
    expect(failure(code).kind).toBe('connection')
  })

  it.each(['40001', '40P01', '23505'])('%s means that somebody else was first', (code) => {
    expect(failure(code).kind).toBe('conflict')
  })

  it.each(['57014', '55P03', '42P01', '23514', 'P0001'])('%s is the server’s last word', (code) => {
    expect(failure(code).kind).toBe('refused')
  })

  it('tells all addresses that were tried', () => {
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
  ])('%s is told as %s', (code, told) => {
    expect(translate(failure(code), 'place', 1)).toMatchObject({ code: told })
  })

  it('leaves a mistake of ours what it is', () => {
    const mistake = new TypeError('ours')
    expect(translate(mistake, 'place', 1)).toBe(mistake)
    const syntax = failure('42601')
    expect(translate(syntax, 'place', 1)).toBe(syntax)
  })
})
