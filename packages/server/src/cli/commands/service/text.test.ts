import { describe, expect, it } from 'vitest'
import { SERVICE_KINDS, serviceText, whyUnprintable } from './text.ts'

const facts = {
  node: '/opt/node 24/node',
  program: '/srv/50%/a"b$c/throughline.js',
  args: ['serve', '--port', '8800'],
  workingFolder: '/srv/a & b',
}

describe('serviceText', () => {
  it('quotes characters that systemd would interpret', () => {
    const line = serviceText('systemd', facts)
      .split('\n')
      .find((each) => each.startsWith('ExecStart='))
    expect(line).toBe(
      'ExecStart="/opt/node 24/node" "/srv/50%%/a\\"b$$c/throughline.js" serve --port 8800',
    )
  })

  it('waits for no unit that a user of systemd lacks, and says how to outlast the login', () => {
    const text = serviceText('systemd', facts)
    expect(text).not.toContain('network-online.target')
    expect(text).toContain('loginctl enable-linger')
  })

  it('is well-formed XML for launchd', () => {
    const text = serviceText('launchd', facts)
    expect(text).toContain('<string>/srv/a &amp; b</string>')
    expect(text).toContain('<string>--port</string>\n    <string>8800</string>')
    const opened = [...text.matchAll(/<(\w+)>/g)].map((match) => match[1])
    const closed = [...text.matchAll(/<\/(\w+)>/g)].map((match) => match[1])
    expect(opened.filter((name) => name !== 'plist').sort()).toEqual(
      closed.filter((name) => name !== 'plist').sort(),
    )
  })

  it.each(SERVICE_KINDS)('is refused for %s if a name contains a line break', (kind) => {
    const plain = { ...facts, program: '/srv/throughline.js' }
    expect(whyUnprintable(kind, plain)).toBeNull()
    for (const end of ['\n', '\r', '\u2028', '\u0085']) {
      const evil = `/srv/a${end}ExecStartPre=/bin/evil`
      expect(whyUnprintable(kind, { ...plain, workingFolder: evil })).toContain('line break')
      expect(whyUnprintable(kind, { ...plain, args: ['serve', evil] })).toContain('line break')
    }
  })

  it('is refused if a folder contains a line break, or a variable that Windows would expand', () => {
    const plain = { ...facts, program: '/srv/throughline.js' }
    expect(whyUnprintable('systemd', { ...plain, workingFolder: '/srv/a\\' })).toContain(
      'backslash',
    )
    expect(whyUnprintable('nssm', { ...plain, args: ['--set', 'a=%PATH%'] })).toContain('percent')
    const piped = serviceText('nssm', { ...plain, args: ['--set', 'a=b|calc'] })
    expect(piped).toContain('"\\"a=b|calc\\""')
  })

  it.each(SERVICE_KINDS)('gives a process time to shut down under %s [S29]', (kind) => {
    expect(serviceText(kind, facts)).toMatch(/\b60(?:000)?\b/)
  })
})
