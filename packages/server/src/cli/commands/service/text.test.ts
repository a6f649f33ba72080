import { describe, expect, it } from 'vitest'
import { SERVICE_KINDS, serviceText } from './text.ts'

const facts = {
  node: '/opt/node 24/node',
  program: '/srv/50%/a"b$c/throughline.js',
  args: ['serve', '--port', '8800'],
  workingFolder: '/srv/a & b',
}

describe('serviceText', () => {
  it('quotes for systemd what it would read otherwise', () => {
    const line = serviceText('systemd', facts)
      .split('\n')
      .find((each) => each.startsWith('ExecStart='))
    expect(line).toBe(
      'ExecStart="/opt/node 24/node" "/srv/50%%/a\\"b$$c/throughline.js" serve --port 8800',
    )
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

  it.each(SERVICE_KINDS)('gives a process time to end in order under %s [S29]', (kind) => {
    expect(serviceText(kind, facts)).toMatch(/\b60(?:000)?\b/)
  })
})
