import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { type AuditLine, firstLineHash, writeLine } from './line.ts'
import { firstSessionIn, readAuditLog } from './read-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-read-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LOG = 'a1b2c3d4e5f6'
const lineOf = (number: number, more: Partial<AuditLine> = {}): AuditLine => ({
  ...{ log: LOG, line: number, time: '2026-11-16T00:00:00.000Z', kind: 'session created' },
  ...{ sessionId: `s${number}`, operationId: `o${number}`, entry: 1, reason: 'created', ...more },
})
let previous = firstLineHash(LOG)
const texts = [1, 2, 3, 4].map((number) => {
  const { text, hash } = writeLine(lineOf(number), previous)
  previous = hash
  return text.trimEnd()
})
const [first = '', second = '', third = '', fourth = ''] = texts
const other = writeLine(
  lineOf(2, { log: 'ffffffffffff' }),
  firstLineHash('ffffffffffff'),
).text.trimEnd()

let files = 0
function file(content: string | Uint8Array): string {
  const path = join(folder, `${++files}.jsonl`)
  writeFileSync(path, content)
  return path
}

/** The lines that are read, and the damage, by their places. */
async function read(content: string | Uint8Array) {
  const told: string[] = []
  const summary = await readAuditLog(file(content), {
    line: ({ sessionId }, number) => told.push(`${number} ${sessionId}`),
    damage: (problem, number) => told.push(`${number} ${problem}`),
  })
  return [...told, `${summary.log ?? '-'} ${summary.lines}${summary.isTorn ? ' torn' : ''}`]
}

const joined = (...lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')

it.each<[string, string | Uint8Array, readonly string[]]>([
  ['nothing', '', ['- 0']],
  ['all of its lines', joined(...texts), ['1 s1', '2 s2', '3 s3', '4 s4', `${LOG} 4`]],
  ['a packed one', gzipSync(joined(first, second)), ['1 s1', '2 s2', `${LOG} 2`]],
  ['no break at its end', `${first}\n${second}`, ['1 s1', '2 s2', `${LOG} 2`]],
  ['a torn line', `${first}\n${second.slice(0, -5)}`, ['1 s1', `${LOG} 1 torn`]],
  ['a missing line', joined(first, third), ['1 s1', '2 line 2 is missing', '2 s3', `${LOG} 2`]],
  [
    'missing lines',
    joined(first, fourth),
    ['1 s1', '2 lines 2 to 3 are missing', '2 s4', `${LOG} 2`],
  ],
  [
    'a line twice',
    joined(first, second, second),
    ['1 s1', '2 s2', '3 line 2 comes after line 2', '3 s2', `${LOG} 3`],
  ],
  [
    'a line of another log',
    joined(first, other, second),
    ['1 s1', '2 the line is from another log', '2 s2', '3 s2', `${LOG} 3`],
  ],
])('of a log with %s', async (_, content, told) => {
  expect(await read(content)).toEqual(told)
})

it('a log that cannot be read says why', async () => {
  const why = (path: string) =>
    readAuditLog(path, { line: () => {}, damage: () => {} }).then(
      () => '',
      (error: Error) => `${error.name}: ${error.message.replaceAll(folder, '…')}`,
    )
  mkdirSync(join(folder, 'logs'))
  expect(await why(join(folder, 'none'))).toBe(
    'AuditLogError: …/none cannot be audited: there is no such file.',
  )
  expect(await why(join(folder, 'logs'))).toBe(
    'AuditLogError: …/logs cannot be audited: it is a folder. Name the logs in it.',
  )
  const torn = file('{"log"')
  expect(await why(torn)).toBe(
    `AuditLogError: ${torn.replaceAll(folder, '…')} cannot be audited: there is no audit line in it.`,
  )
})

it('the session of the first line tells the store of a log', () => {
  expect(firstSessionIn(file(joined(...texts)))).toBe('s1')
  expect(firstSessionIn(file(first))).toBe('s1')
  expect(firstSessionIn(file(gzipSync(joined(...texts))))).toBe('s1')
  expect(firstSessionIn(file(joined('rubbish', first)))).toBeNull()
  expect(firstSessionIn(file(''))).toBeNull()
  expect(firstSessionIn(file(gzipSync(joined(first)).subarray(0, 8)))).toBeNull()
  expect(firstSessionIn(join(folder, 'none'))).toBeNull()
})
