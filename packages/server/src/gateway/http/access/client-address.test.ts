import { describe, expect, it } from 'vitest'
import { ClientAddresses, type ForwardingHeader } from './client-address.ts'

const PROXIES = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8']

function addressOf(peer: string, said = '', header: ForwardingHeader = 'x-forwarded-for') {
  const headers = said === '' ? {} : { [header]: said }
  const addresses = new ClientAddresses(PROXIES, header)
  return addresses.of({ socket: { remoteAddress: peer }, headers } as never)
}

describe('ClientAddresses', () => {
  it('accepts a forwarding header from a trusted proxy only', () => {
    expect(addressOf('127.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
    expect(addressOf('::ffff:127.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
    expect(addressOf('203.0.113.9', '198.51.100.7')).toBe('203.0.113.9')
    expect(addressOf('127.0.0.1')).toBe('127.0.0.1')
  })

  it("reads it from the right, so that a client's own entries are ignored", () => {
    expect(addressOf('127.0.0.1', '1.1.1.1, 198.51.100.7')).toBe('198.51.100.7')
    expect(addressOf('127.0.0.1', '1.1.1.1, 198.51.100.7, 10.1.2.3')).toBe('198.51.100.7')
    expect(addressOf('127.0.0.1', '127.0.0.1, 198.51.100.7')).toBe('198.51.100.7')
    const long = `${'10.0.0.1,'.repeat(100)}198.51.100.7`
    expect(addressOf('127.0.0.1', long)).toBe('198.51.100.7')
  })

  it('stops at an entry that is not an address', () => {
    expect(addressOf('127.0.0.1', '198.51.100.7, unknown')).toBe('127.0.0.1')
    expect(addressOf('127.0.0.1', '198.51.100.7, x, 10.0.0.2')).toBe('10.0.0.2')
    expect(addressOf('')).toBe('unknown')
  })

  it.each([
    ['for=198.51.100.7;proto=https', '198.51.100.7'],
    ['for=1.1.1.1, By=10.0.0.1;For="198.51.100.7:4711"', '198.51.100.7'],
    ['for="1.1.1.1, for=198.51.100.7', '198.51.100.7'],
    ['for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe:0::/64'],
    ['for=_hidden', '127.0.0.1'],
  ])('reads the header Forwarded: %s', (said, address) => {
    expect(addressOf('127.0.0.1', said, 'forwarded')).toBe(address)
  })

  it('ignores the header that the proxy does not write', () => {
    const addresses = new ClientAddresses(PROXIES, 'x-forwarded-for')
    const headers = { forwarded: 'for=1.1.1.1' }
    const found = addresses.of({ socket: { remoteAddress: '10.0.0.1' }, headers } as never)
    expect(found).toBe('10.0.0.1')
  })

  it('counts the addresses of one IPv6 network as one', () => {
    const [one, two] = ['2001:db8::1', '2001:db8:0:0:ffff::2%eth0']
    expect(addressOf(one)).toBe(addressOf(two))
    expect(addressOf('2001:db8:0:1::1')).not.toBe(addressOf(one))
    expect(addressOf('fd00::1', '2001:db8::1')).toBe(addressOf(one))
  })
})
