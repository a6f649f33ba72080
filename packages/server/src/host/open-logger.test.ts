import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { openLogger } from './open-logger.ts'

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
