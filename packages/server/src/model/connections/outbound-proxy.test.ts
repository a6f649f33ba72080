import { describe, expect, it } from 'vitest'
import { ProxyError, proxyFor } from './outbound-proxy.ts'

const HTTP = 'http://plain:3128'
const HTTPS = 'http://secure:3128'
const environment = { HTTP_PROXY: HTTP, https_proxy: HTTPS }

describe('the proxy for a server', () => {
  it('is the one that the environment names for its protocol, in upper or lower case', () => {
    expect(proxyFor('https://api.example', environment)).toBe(HTTPS)
    expect(proxyFor('http://api.example', environment)).toBe(HTTP)
    expect(proxyFor('https://api.example', { HTTP_PROXY: HTTP })).toBe(HTTP)
    expect(proxyFor('http://api.example', { HTTPS_PROXY: HTTPS })).toBeUndefined()
    expect(proxyFor('https://api.example', { HTTPS_PROXY: ' ', HTTP_PROXY: '' })).toBeUndefined()
    expect(proxyFor('https://api.example', { HTTPS_PROXY: 'secure:3128' })).toBe(HTTPS)
  })

  it.each([
    ...['http://localhost:1', 'http://127.0.0.1', 'https://127.9.9.9', 'http://[::1]:80'],
    ...['http://agent.localhost', 'http://localhost.:1'],
  ])('is never asked for %s, which is on this host', (origin) => {
    expect(proxyFor(origin, environment)).toBeUndefined()
  })

  it.each([
    ['*', true],
    ['api.example', true],
    ['example', true],
    ['.example', true],
    ['*.example', true],
    ['API.Example', true],
    ['other.test, api.example:8443', true],
    ['other.test api.example:443', false],
    ['xample', false],
    ['api.example.com', false],
    ['', false],
    [',', false],
  ])('is left out by NO_PROXY=%s: %s', (no_proxy, isDirect) => {
    const found = proxyFor('https://api.example:8443', { ...environment, no_proxy })
    expect(found).toBe(isDirect ? undefined : HTTPS)
  })

  it('is skipped for IPv4 and IPv6 addresses', () => {
    const direct = { ...environment, NO_PROXY: '192.168.0.7,[fd00::1]:11434,fd00::2' }
    for (const origin of ['http://192.168.0.7:1', 'http://[fd00::1]:11434', 'https://[fd00::2]']) {
      expect(proxyFor(origin, direct)).toBeUndefined()
    }
    expect(proxyFor('http://[fd00::1]:1', direct)).toBe(HTTP)
  })

  it('that is invalid is refused without showing its value', () => {
    for (const wrong of ['socks5://user:hunter2@proxy:1', 'http://', 'nonsense with spaces']) {
      const ask = () => proxyFor('https://api.example', { HTTPS_PROXY: wrong })
      expect(ask).toThrow(ProxyError)
      expect(ask).not.toThrow(/hunter2/)
    }
  })
})
