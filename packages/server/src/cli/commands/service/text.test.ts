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

const odd = {
  node: '/opt/n"o\\de',
  program: '/srv/<a>&b.js',
  args: ['serve', '--set', 'a=$b%c', 'd e'],
  workingFolder: '/srv/50% of',
}
const linesOf = (kind: (typeof SERVICE_KINDS)[number], more: object = {}) =>
  serviceText(kind, { ...odd, ...more }).split('\n')

it('a unit of systemd is whole', () => {
  const lines = linesOf('systemd')
  expect(lines.slice(lines.indexOf('[Unit]'))).toEqual([
    '[Unit]',
    'Description=Throughline, sessions of AI agents',
    '# Tries again for good: a service that gave up would also close the socket that systemd holds for it.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'WorkingDirectory=/srv/50%% of',
    'ExecStart="/opt/n\\"o\\\\de" "/srv/<a>&b.js" serve --set "a=$$b%%c" "d e"',
    'EnvironmentFile=-%h/.config/throughline/environment',
    'Restart=on-failure',
    'RestartSec=2',
    'TimeoutStopSec=60',
    'NoNewPrivileges=true',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ])
})

it('a list for launchd is whole', () => {
  const lines = linesOf('launchd')
  expect(lines.slice(lines.indexOf('<plist version="1.0">'))).toEqual([
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    '  <string>throughline</string>',
    '  <key>ProgramArguments</key>',
    '  <array>',
    '    <string>/opt/n"o\\de</string>',
    '    <string>/srv/&lt;a&gt;&amp;b.js</string>',
    ...['serve', '--set', 'a=$b%c', 'd e'].map((word) => `    <string>${word}</string>`),
    '  </array>',
    '  <key>WorkingDirectory</key>',
    '  <string>/srv/50% of</string>',
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict>',
    '    <key>SuccessfulExit</key>',
    '    <false/>',
    '  </dict>',
    '  <key>ExitTimeOut</key>',
    '  <integer>60</integer>',
    '</dict>',
    '</plist>',
    '',
  ])
})

it('commands for nssm are whole, with a word in quotes where the shell would divide it', () => {
  const node = 'C:\\node\\node.exe'
  const more = { node, program: 'C:\\a b\\t.js', args: ['serve', 'c;d'], workingFolder: 'C:\\a b' }
  expect(linesOf('nssm', more)).toEqual([
    'rem Run these as administrator; nssm is from https://nssm.cc',
    'nssm install throughline C:\\node\\node.exe "\\"C:\\a b\\t.js\\"" serve "\\"c;d\\""',
    'nssm set throughline AppDirectory "C:\\a b"',
    'nssm set throughline AppStopMethodConsole 60000',
    'nssm set throughline AppExit Default Restart',
    'nssm start throughline',
    '',
  ])
})

it.each<[(typeof SERVICE_KINDS)[number], object, string | null]>([
  ['systemd', {}, null],
  ['launchd', { workingFolder: '/a\\' }, null],
  [
    'systemd',
    { workingFolder: '/a\\' },
    'the path of this folder ends with a backslash or a space',
  ],
  ['systemd', { workingFolder: '/a ' }, 'the path of this folder ends with a backslash or a space'],
  ['nssm', {}, 'a path or an argument has a quotation mark or a percent sign'],
  ['nssm', { node: 'n', args: ['x'], workingFolder: 'w' }, null],
  ['launchd', { node: 'a\u0000' }, 'a path or an argument has a line break'],
])('for %s, %j cannot be written: %s', (kind, more, why) => {
  expect(whyUnprintable(kind, { ...odd, ...more })).toBe(why)
})
