import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { leastOf } from '../../../../../../test/support/timing.ts'
import { readLogs } from './log.ts'
import { readFact } from './log-event.ts'
import { parseLogLine } from './log-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const AT = Date.UTC(2026, 4, 28, 16, 12, 31) / 1_000

describe('readFact', () => {
  const factOf = (text: string) => readFact(parseLogLine(`2026-05-28 16:12:31 ERROR ${text}`))

  it('distinguishes failed connections of auxiliary calls from those of the main route', () => {
    const failed = { kind: 'connection-failed' }
    expect(factOf('agent.aux: Connection error.')).toEqual(failed)
    expect(factOf('agent.aux: The title failed: Connection error.')).toEqual(failed)
    for (const main of ['run_agent', 'agent.conversation_loop']) {
      expect(factOf(`${main}: Connection error.`)).toBeNull()
      expect(factOf(`${main}: The call failed: Connection error.`)).toBeNull()
    }
    expect(factOf('agent.aux: It was no Connection error')).toBeNull()
  })

  it.each<[string, object | null]>([
    [
      'compression started: session=s1 messages=40',
      { kind: 'started', sessionId: 's1', messages: 40 },
    ],
    [
      'context compression done: session=s1 messages=40->7',
      { kind: 'done', sessionId: 's1', before: 40, after: 7, isNewForm: false },
    ],
    [
      'compression done: session=s1 messages=40->7 rough_tokens=9',
      { kind: 'done', sessionId: 's1', before: 40, after: 7, isNewForm: true },
    ],
    [
      'compression done: session=s1 messages=40->7 awaiting_real_usage',
      { kind: 'done', sessionId: 's1', before: 40, after: 7, isNewForm: true },
    ],
    ['compression done: session=s1 messages=40', null],
    ['Failed to generate context summary: no route', { kind: 'summary-failed', error: 'no route' }],
    ['Auxiliary title: using a/b (c)', { kind: 'using', task: 'title', route: 'a/b (c)' }],
    ['Compressed: 40 -> 7 messages', { kind: 'summary-written' }],
    [
      'Skipping preflight compression: same-session cooldown active (30 s, session s1)',
      { kind: 'skipped', sessionId: 's1' },
    ],
    ['Session split detected: s1 → s2', { kind: 'split', from: 's1', to: 's2' }],
    ['Session split detected: s1 -> s2', { kind: 'split', from: 's1', to: 's2' }],
    [
      'compression recovery: stale session=s1 adopted live child=s2',
      { kind: 'split', from: 's1', to: 's2' },
    ],
    [
      "conversation turn: session=s1 x msg='hello'",
      { kind: 'turn', sessionId: 's1', said: 'hello' },
    ],
    ['conversation turn: session=s1 x', { kind: 'turn', sessionId: 's1', said: '' }],
    ["inbound message: from=a msg='it is...", { kind: 'inbound', said: 'it is...' }],
    ["inbound message: from=a msg='", { kind: 'inbound', said: '' }],
    [
      'Turn ended: session=s1 reason=done response_len=5',
      { kind: 'turn-ended', sessionId: 's1', reason: 'done', isAnswered: true },
    ],
    [
      'Turn ended: response_len=0',
      { kind: 'turn-ended', sessionId: null, reason: 'unknown', isAnswered: false },
    ],
    ['Dropping busy-mode follow-up for session k1', { kind: 'dropped', key: 'k1' }],
    ['It says: Turn ended: session=s1', null],
    ['hello', null],
  ])('reads %s', (message, fact) => {
    expect(readFact({ message, logger: null } as never)).toEqual(fact)
  })
})

describe('parseLogLine', () => {
  it.each([
    ['2026-05-28 16:12:31,250 INFO [s_1] agent.x: hello: you', AT + 0.25, 's_1', 'agent.x'],
    ['2026-05-28 16:12:31 INFO agent.x: hello: you', AT, null, 'agent.x'],
    ['2026-05-28T16:12:31.250 INFO [s_1] agent.x: hello: you', AT + 0.25, 's_1', 'agent.x'],
    ['2026-05-28 16:12:31,250 - agent.x - INFO [s_1] - hello: you', AT + 0.25, 's_1', 'agent.x'],
    ['2026-05-28 16:12:31,250 - agent.x - INFO - hello: you', AT + 0.25, null, 'agent.x'],
    ['16:12:31 INFO [s_1] hello: you', AT % 86_400, 's_1', 'hello'],
    ['hello: you', null, null, null],
  ])('takes %s apart', (text, at, tag, logger) => {
    const message = logger === 'hello' ? 'you' : 'hello: you'
    expect(parseLogLine(`${text}\r`)).toMatchObject({ at, tag, logger, message })
  })

  const line = (over: object) => ({
    ...{ at: AT, level: 'INFO', tag: null, logger: null, message: 'm' },
    ...over,
  })
  const rest = (message: string) => line({ level: null, message })

  it.each<[string, object]>([
    ...['DEBUG', 'INFO', 'WARNING', 'WARN', 'ERROR', 'CRITICAL'].flatMap(
      (level): [string, object][] => [
        [`2026-05-28 16:12:31 ${level} a: m`, line({ level, logger: 'a' })],
        [`2026-05-28 16:12:31 - a - ${level} - m`, line({ level, logger: 'a' })],
      ],
    ),
    ['2026-05-28 16:12:31 TRACE a: m', rest('TRACE a: m')],
    ['2026-05-28 16:12:31 - a - TRACE - m', rest('a - TRACE - m')],
    ['2026-05-28 16:12:31 - a b - INFO - m', rest('a b - INFO - m')],
    ['2026-05-28 16:12:31 - m', rest('m')],
    ['2026-05-28 16:12:31 INFO', line({ message: '' })],
    ['2026-05-28 16:12:31 INFO   [t]  a:   m', line({ tag: 't', message: ' a:   m' })],
    ['2026-05-28 16:12:31 INFO [t] a:   m', line({ tag: 't', logger: 'a' })],
    ['2026-05-28 16:12:31 INFO [t]', line({ tag: 't', message: '' })],
    ['2026-05-28 16:12:31 INFO []', line({ tag: '', message: '' })],
    ['2026-05-28 16:12:31 INFO [t m', line({ message: '[t m' })],
    ['2026-05-28 16:12:31 INFO t] m', line({ message: 't] m' })],
    ['2026-05-28 16:12:31 - a - INFO [t] - m', line({ tag: 't', logger: 'a' })],
    [`2026-05-28 16:12:31 INFO ${'a'.repeat(80)}: m`, line({ logger: 'a'.repeat(80) })],
    [`2026-05-28 16:12:31 INFO ${'a'.repeat(81)}: m`, line({ message: `${'a'.repeat(81)}: m` })],
    ['2026-05-28 16:12:31.5 INFO a: m', line({ at: AT + 0.5, logger: 'a' })],
    ['2026-05-28 16:12:31.123456 INFO a: m', line({ at: AT + 0.123456, logger: 'a' })],
    [
      '2026-05-28 16:12:31.1234567 INFO m',
      { ...rest(''), at: null, message: '2026-05-28 16:12:31.1234567 INFO m' },
    ],
    ['2026-05-28 16:12:31Z INFO a: m', line({ logger: 'a' })],
    ['2026-05-28 16:12:31+02:00 INFO a: m', line({ logger: 'a' })],
    ['2026-05-28 16:12:31-0230 INFO a: m', line({ logger: 'a' })],
    ['2026-05-28 16:12:31', { ...rest(''), at: null, message: '2026-05-28 16:12:31' }],
    ['\uFEFF2026-05-28 16:12:31 INFO a: m \r', line({ logger: 'a' })],
    ['\u001B[32m2026-05-28 16:12:31\u001B[0m INFO \u001B[1ma: m', line({ logger: 'a' })],
    ['m\uFEFF', { ...rest('m'), at: null }],
  ])('takes the whole of %j apart', (text, expected) => {
    expect(parseLogLine(text)).toEqual(expected)
  })

  it('reads 4,096 characters of a line', () => {
    expect(parseLogLine(`INFO ${'m'.repeat(5_000)}`)).toEqual({
      ...line({ at: null, message: 'm'.repeat(4_091) }),
    })
  })

  it('keeps a message whose beginning is no logger', () => {
    const line = parseLogLine('16:15:40 INFO [s] compression started: session=x  messages=194')
    expect(line).toMatchObject({
      logger: null,
      message: 'compression started: session=x  messages=194',
    })
  })
})

describe('readLogs', () => {
  const started = (id: string, at = '16:12:31,000') =>
    `2026-05-28 ${at} INFO [${id}] agent.c: context compression started: session=${id} messages=9 tokens=~1`

  it('keeps the newest events of all files if there are too many', async () => {
    const hour = (at: number) => `${String(at).padStart(2, '0')}:00:00,000`
    const ids = Array.from({ length: 20 }, (_, at) => started(`s${at}`, hour(at)))
    const paths = [
      write('new.log', ids.slice(10).join('\n')),
      write('old.log', ids.slice(0, 10).join('\n')),
      write(
        'same.log',
        Array(9)
          .fill(started('x', hour(0)))
          .join('\n'),
      ),
    ]
    const { events, remarks } = await readLogs(paths, undefined, 6)
    expect(events.map(({ tag }) => tag)).toEqual(['s14', 's15', 's16', 's17', 's18', 's19'])
    expect(remarks).toEqual(['Only the newest 6 events of the logs were kept.'])
  })

  it('reads UTF-16 of either byte order, with a mark and without', async () => {
    const little = Buffer.from(`${started('a')}\r\n${started('b')}\r\n`, 'utf16le')
    const big = Buffer.from(little).swap16()
    for (const bytes of [
      Buffer.concat([Buffer.from([0xff, 0xfe]), little]),
      Buffer.concat([Buffer.from([0xfe, 0xff]), big]),
      little,
      big,
    ]) {
      const { events } = await readLogs([write('wide.log', bytes)])
      expect(events.map(({ tag }) => tag)).toEqual(['a', 'b'])
    }
  })

  it('puts rotated and compressed parts in order of time', async () => {
    const paths = [
      write('agent.log', `${started('c', '18:00:00,000')}\n`),
      write('agent.log.1', `${started('b', '17:00:00,000')}\n`),
      write('agent.log.2.gz', gzipSync(`noise\n${started('a', '16:00:00,000')}`)),
    ]
    const { events, lines, remarks } = await readLogs(paths)
    expect(events.map(({ tag, line }) => [tag, line])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ])
    expect({ lines, remarks }).toEqual({ lines: 4, remarks: [] })
  })

  it('reads a log however it was packed, written or coloured', async () => {
    const line = (id: string) => `${started(id)}\n`
    const coloured = line('d').replace('INFO', '\u001B[32mINFO\u001B[0m')
    const { events, remarks } = await readLogs([
      write('agent.log.zst', zstdCompressSync(line('a'))),
      write('powershell.log', Buffer.from(`\uFEFF${line('b')}`, 'utf16le')),
      write('marked.log', `\uFEFF${line('c')}`),
      write('console.log', coloured),
    ])
    expect(events.map(({ tag }) => tag).sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(remarks).toEqual([])
  })

  it('asks the user to unpack a log that it cannot unpack', async () => {
    const start = Buffer.from('fd377a585a000004', 'hex')
    const { events, remarks } = await readLogs([write('agent.log.xz', start)])
    expect(events).toEqual([])
    expect(remarks).toEqual([expect.stringContaining('unpack it first')])
  })

  it('counts a line in two logs once', async () => {
    const text =
      '2026-05-28 16:12:31,000 WARNING [a] root: Failed to generate context summary: x.\n'
    const { events } = await readLogs([write('one.log', text), write('errors.log', text)])
    expect(events).toHaveLength(1)
  })

  it('counts a compaction once that is quoted with and without its date', async () => {
    const full = started('a', '16:12:31')
    const { events } = await readLogs([write('quoted.log', `${full}\n${full.slice(11)}\n`)])
    expect(events).toHaveLength(1)
  })

  it('keeps the events of a truncated log, and says so', async () => {
    const zipped = gzipSync(
      `${started('a')}\n`.repeat(3_000).replaceAll('[a]', () => `[${Math.random()}]`),
    )
    const { events, remarks } = await readLogs([write('cut.log.gz', zipped.subarray(0, -2_000))])
    expect(events.length).toBeGreaterThan(0)
    expect(remarks).toEqual([expect.stringContaining('could not be read to its end')])
  })

  it('says which log is not there', async () => {
    const { remarks } = await readLogs([join(folder, 'none.log')])
    expect(remarks).toEqual([expect.stringContaining('none.log')])
  })

  it.each([
    ['blanks', ' '],
    ['brackets', '[ ] '],
    ['dashes', ' - '],
    ['colons', 'a: '],
    ['starts', 'compression started: session=a messages=1 '],
    ['quotes', " msg='"],
    ['digits', '2026-05-28 '],
  ])('takes time in proportion to the length of one line of %s', async (_name, piece) => {
    const measure = async (length: number) => {
      const body = piece.repeat(Math.ceil(length / piece.length))
      const path = write('long.log', `2026-05-28 16:12:31 INFO [x] Auxiliary y: using ${body}`)
      const before = process.threadCpuUsage()
      await readLogs([path])
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / 1_000
    }
    await measure(100_000)
    // The floor keeps a garbage collection from deciding the result.
    const below = 15 * Math.max(await measure(100_000), 20)
    expect(await leastOf(() => measure(1_000_000), { below })).toBeLessThan(below)
  })
})
