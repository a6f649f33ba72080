import { describe, expect, it } from 'vitest'
import { HttpProblem } from '../problems.ts'
import { AllowedOrigins, checkHost, isLoopback } from './addresses.ts'

const codeOf = (check: () => void): string | null => {
  try {
    check()
    return null
  } catch (error) {
    return error instanceof HttpProblem ? error.code : 'not a problem'
  }
}

describe('isLoopback', () => {
  it.each(['127.0.0.1', '127.8.8.8', 'localhost', '::1', '[::1]'])('knows %s', (host) => {
    expect(isLoopback(host)).toBe(true)
  })
  it.each(['0.0.0.0', '::', '192.168.1.1', '127.evil.example', 'example.org', ''])(
    'rejects %j',
    (host) => {
      expect(isLoopback(host)).toBe(false)
    },
  )
})

describe('checkHost', () => {
  it.each(['127.0.0.1:7420', 'localhost', 'LOCALHOST:1', '[::1]:80', '10.0.0.5', 'box.lan:7420'])(
    'accepts %s',
    (host) => {
      expect(codeOf(() => checkHost(host, ['box.lan'], null))).toBeNull()
    },
  )
  it.each([
    ['evil.example', 'host-refused'],
    ['localhost.evil.example', 'host-refused'],
    ['127.0.0.1.evil.example', 'host-refused'],
    ['box.lan.evil.example', 'host-refused'],
    ['2130706433', 'host-refused'],
    ['a@localhost', 'bad-request'],
    ['localhost/evil', 'bad-request'],
    ['', 'bad-request'],
  ])('refuses %j', (host, code) => {
    expect(codeOf(() => checkHost(host, ['box.lan'], null))).toBe(code)
  })
})

describe('the name localhost', () => {
  const refused = (host: string, names: readonly string[] = []) =>
    codeOf(() => checkHost(host, names, '127.8.8.8:7420'))
  it.each(['localhost', 'LOCALHOST:7420', 'localhost.:7420'])(
    'is refused where it may lead to another program: %s',
    (host) => {
      expect(refused(host)).toBe('wrong-address')
      expect(() => checkHost(host, [], '127.8.8.8:7420')).toThrow(
        expect.objectContaining({ detail: expect.stringContaining('http://127.8.8.8:7420') }),
      )
    },
  )
  it('is taken if the operator names it, and does not matter to other names', () => {
    expect(refused('localhost:7420', ['localhost'])).toBeNull()
    expect([refused('127.0.0.1:7420'), refused('box.lan', ['box.lan'])]).toEqual([null, null])
    expect(refused('sub.localhost')).toBe('host-refused')
  })
})

describe('AllowedOrigins', () => {
  const host = 'localhost:7420'
  const origins = new AllowedOrigins(['https://Trusted.example:443'])
  it.each([
    {},
    { origin: 'http://localhost:7420', 'sec-fetch-site': 'same-origin' },
    { origin: 'https://LOCALHOST:7420' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://trusted.example', 'sec-fetch-site': 'cross-site' },
  ])('lets %j in', (headers) => {
    expect(codeOf(() => origins.check({ host, ...headers }))).toBeNull()
  })
  it.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:9999' },
    { origin: 'http://localhost:7420.evil.example' },
    { origin: 'http://localhost:7420/x' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('refuses %j', (headers) => {
    expect(codeOf(() => origins.check({ host, ...headers }))).toBe('origin-refused')
  })
})
