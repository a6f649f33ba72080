import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { FileRefusedError } from '#core/base/files/write'
import { LogRefusedError, openLogger, plainLogLine } from './open-logger.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function logTo(file: string) {
  const reported: string[] = []
  const terminal = new Writable({
    write: (text, _, done) => {
      reported.push(String(text))
      done()
    },
  })
  const logging = { level: 'info', file, pretty: 'auto' } as const
  return {
    told: reported,
    logger: openLogger(logging, Object.assign(terminal, { fd: 2 }) as never),
  }
}

describe('a log', () => {
  it('writes each line at once, including those before close', () => {
    const file = join(folder, 'deep', 'log')
    const { logger } = logTo(file)
    logger.info({ count: 1 }, 'one')
    expect(readFileSync(file, 'utf8')).toContain('"count":1')
    logger.warn({}, 'two')
    logger.close()
    logger.close()
    logger.error({}, 'too late')
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2)
  })

  it('says of an error what it is and where, and never what it quotes', () => {
    const file = join(folder, 'errors')
    const { logger } = logTo(file)
    const secret = 'sk-proj-AAAABBBBCCCCDDDD'
    const request = { payload: { text: secret }, rawError: secret, path: `/${secret}` }
    const cause = new SyntaxError(`Unexpected token in ${secret}`)
    const message = `refused: ${secret}\n    at ${secret} (/${secret}.ts:1:1)\n${secret}`
    const error = Object.assign(new TypeError(message, { cause }), request, { code: 'EACCES' })
    logger.error({ sessionId: 's', err: error }, 'tool failed')
    logger.warn({ err: secret }, 'no error')
    logger.warn({ err: new FileRefusedError('/tmp/a', 'others may write') }, 'our own')
    logger.close()
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain(secret)
    const frames = expect.arrayContaining([expect.stringMatching(/open-logger\.test\.ts:\d+:\d+/)])
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).err),
    ).toEqual([
      { error: 'TypeError', code: 'EACCES', frames, cause: { error: 'SyntaxError', frames } },
      { error: 'string', frames: [] },
      {
        error: 'FileRefusedError',
        code: 'file-refused',
        message: expect.stringContaining('/tmp/a'),
        frames,
      },
    ])
  })

  it('that cannot be opened is reported with a message, not a stack trace', () => {
    expect(() => logTo(folder)).toThrow(/^The log .* cannot be written \(EISDIR\)/)
  })

  it('on a full disk loses lines but ends nothing: reported once, and closed at once', (ctx) => {
    if (!existsSync('/dev/full')) ctx.skip('not run: there is no /dev/full')
    const { told: reported, logger } = logTo('/dev/full')
    for (let line = 0; line < 1_000; line++) logger.error({ text: 'x'.repeat(5_000) }, 'line')
    logger.close()
    expect(reported).toEqual([expect.stringMatching(/cannot be written \(ENOSPC\)/)])
  })
})

it('a line of a log is JSON with its process, level and facts', () => {
  const file = join(folder, 'levels')
  const { logger } = logTo(file)
  logger.debug({ a: 1 }, 'hidden')
  logger.info({ a: 1 }, 'one')
  logger.setLevel('debug')
  logger.debug({ b: 'x' }, 'two')
  logger.setLevel('error')
  logger.warn({}, 'hidden')
  logger.error({}, 'three')
  logger.close()
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const own = { process: process.pid, time: expect.any(Number) }
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { ...own, level: 30, a: 1, msg: 'one' },
    { ...own, level: 20, b: 'x', msg: 'two' },
    { ...own, level: 50, msg: 'three' },
  ])
})

it.each<[boolean | 'auto', boolean, boolean]>([
  ['auto', true, false],
  ['auto', false, false],
  [true, false, true],
  [false, true, false],
])('in a file, pretty %s on a terminal (%s) is plain: %s', (pretty, isTTY, isPlain) => {
  const file = join(folder, `plain-${pretty}-${isTTY}`)
  const terminal = { fd: 2, isTTY, write: () => true } as never
  const logger = openLogger({ level: 'info', file, pretty }, terminal)
  logger.info({}, 'one')
  logger.close()
  expect(readFileSync(file, 'utf8').startsWith('{')).toBe(!isPlain)
})

it.each<[object, string]>([
  [{ level: 30, msg: 'one' }, '08:30:01 one'],
  [{ level: 20, msg: 'one' }, '08:30:01 debug one'],
  [{ level: 40, msg: 'one' }, '08:30:01 warn one'],
  [{ level: 50, msg: 'one' }, '08:30:01 error one'],
  [{ level: 60, msg: 'one' }, '08:30:01 one'],
  [{ level: 30 }, '08:30:01'],
  [
    { level: 30, msg: 'one', process: 7, a: 1, b: 'x/y:z', c: 'two words', d: '\u001b[0m', e: [1] },
    '08:30:01 one a=1 b=x/y:z c="two words" d="\\u001b[0m" e=[1]',
  ],
  [{ level: 30, msg: 'one', empty: '', none: null }, '08:30:01 one empty= none=null'],
])('the line %j is read by people as %s', (fields, line) => {
  const time = Date.UTC(2026, 10, 19, 8, 30, 1, 999)
  expect(plainLogLine(JSON.stringify({ time, ...fields }))).toBe(`${line}\n`)
})

it('a log that cannot be written says what to do', () => {
  const { name, code, retryable, message } = new LogRefusedError('/a', { code: 'EACCES' } as never)
  expect({ name, code, retryable, message }).toEqual({
    ...{ name: 'LogRefusedError', code: 'log-refused', retryable: false },
    message: 'The log /a cannot be written (EACCES); set `logging.file` to another path.',
  })
})
