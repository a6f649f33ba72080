import { describe, expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import { isPublicAddress, withoutPrivateAddresses } from './addresses.ts'

describe('isPublicAddress', () => {
  it.each([
    'https://example.com/a.png',
    'https://cdn.example.co.uk:8443/x?y=1',
    'https://8.8.8.8/a.png',
    'https://[2606:4700::1111]/a.png',
  ])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    'http://example.com/a.png',
    'https://localhost/a',
    'https://localhost./a',
    'https://LOCALHOST/a',
    'https://printer/a',
    'https://db.internal/a',
    'https://box.local/a',
    'https://127.0.0.1/a',
    'https://127.1/a',
    'https://2130706433/a',
    'https://0x7f000001/a',
    'https://0177.0.0.1/a',
    'https://0/a',
    'https://10.1.2.3/a',
    'https://172.20.0.1/a',
    'https://192.168.1.1/a',
    'https://100.64.0.1/a',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/a',
    'https://[::]/a',
    'https://[::ffff:127.0.0.1]/a',
    'https://[::ffff:a9fe:a9fe]/a',
    'https://[64:ff9b::7f00:1]/a',
    'https://[fd00::1]/a',
    'https://[fe80::1]/a',
    'https://[2002:7f00:1::]/a',
    'https://user:pass@example.com/a',
    'https://１２７.０.０.１/a',
    'file:///etc/passwd',
    'ftp://example.com/a',
    'gopher://example.com',
    'nonsense',
    '',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  // The first and the last address of each block that IANA's registries call not globally reachable.
  it.each([
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '255.255.255.255'],
    ['[::ffff:0:0]', '[::ffff:ffff:ffff]'],
    ['[64:ff9b::]', '[64:ff9b::ffff:ffff]'],
    ['[64:ff9b:1::]', '[64:ff9b:1:ffff:ffff:ffff:ffff:ffff]'],
    ['[100::]', '[100::ffff:ffff:ffff:ffff]'],
    ['[2001::]', '[2001:0:ffff:ffff:ffff:ffff:ffff:ffff]'],
    ['[2001:db8::]', '[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]'],
    ['[2002::]', '[2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
    ['[fc00::]', '[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
    ['[fe80::]', '[febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
    ['[ff00::]', '[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ])('is refused from %s to %s', (first, last) => {
    expect([first, last].filter((host) => isPublicAddress(`https://${host}/a.png`))).toEqual([])
  })

  it.each([
    ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255'],
    ...['172.32.0.0', '192.0.1.0', '192.0.3.0', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
    ...['198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.114.0', '223.255.255.255'],
    ...['[2001:db7::1]', '[2001:db9::1]', '[2003::1]', '[fbff::1]', '[100:0:0:1::1]'],
  ])('lets %s beside such a block pass', (host) => {
    expect(isPublicAddress(`https://${host}/a.png`)).toBe(true)
  })
})

describe('withoutPrivateAddresses', () => {
  const picture = (url: string) => ({ type: 'image', source: { kind: 'url', url } }) as const
  const inner = 'https://169.254.169.254/latest'

  it('replaces images and files by a marker, in messages and in tool results', () => {
    const messages: readonly Message[] = [
      { role: 'user', parts: [picture(inner), picture('https://example.com/a.png')] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', output: [picture(inner)] }] },
      {
        role: 'user',
        parts: [{ type: 'opaque', provider: 'other', value: { image_url: { url: inner } } }],
      },
    ]
    const safe = JSON.stringify(withoutPrivateAddresses(messages))
    expect(safe).not.toContain('169.254')
    expect(safe.match(/its address is not a public one/g)).toHaveLength(3)
    expect(safe).toContain('https://example.com/a.png')
  })

  it('returns the same messages if there is nothing to replace', () => {
    const messages: readonly Message[] = [
      {
        role: 'user',
        parts: [{ type: 'text', text: inner }, picture('https://example.com/a.png')],
      },
      { role: 'user', parts: [picture('data:image/png;base64,AAAA')] },
    ]
    expect(withoutPrivateAddresses(messages)).toBe(messages)
  })
})
