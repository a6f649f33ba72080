import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { setImmediate as nextRound } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { Child } from './child.ts'
import { compilePatterns, Matches, NOTICE_LIMITS } from './matches.ts'
import { Lines, Output } from './output.ts'

const LIMITS = {
  ...{ timeMs: 60_000, outputBytesMax: 1e6, keptCharactersMax: 1e6, graceMs: 1_000 },
}
// No system uses this process id.
const NOBODY = 2 ** 30

/** A program's output without a program. */
function program(...chunks: readonly string[]): ChildProcess {
  const stdout = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  const emitter = Object.assign(new EventEmitter(), { stdout, stderr: null })
  stdout.once('end', () => emitter.emit('exit', 0, null))
  return emitter as unknown as ChildProcess
}

function watch(...patterns: readonly string[]): Matches {
  const compiled = compilePatterns(patterns)
  if (compiled.kind === 'refused') throw new Error(compiled.problem)
  return new Matches(compiled.patterns, NOTICE_LIMITS)
}

describe('a child', () => {
  it('yields to other work between lines that take long to match', async () => {
    let now = 0
    const clock = { now: () => 0, monotonic: () => (now += 20), after: () => () => {} }
    const parts = { clock, limits: LIMITS, matches: watch('z'), onMatch: () => {} }
    let rounds = 0
    let isOver = false
    const count = () => {
      rounds++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    await new Child({ process: program('line\n'.repeat(200)), pid: NOBODY }, parts).ended
    isOver = true
    expect(rounds).toBeGreaterThan(190)
  })

  it('joins characters and lines that arrive in pieces', async () => {
    const matches = watch('^a grüne line$')
    const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} }
    const bytes = Buffer.from('a grüne line\nand more')
    const process = program()
    const stdout = Readable.from([...bytes].map((byte) => Buffer.from([byte])))
    stdout.once('end', () => process.emit('exit', 0, null))
    const whole = Object.assign(process, { stdout })
    const parts = { clock, limits: LIMITS, matches, onMatch: () => {} }
    const child = new Child({ process: whole, pid: NOBODY }, parts)
    expect(await child.ended).toEqual({ kind: 'exited', code: 0, signal: null })
    expect(matches.unreported).toBe(1)
    expect(child.output.read(0, 100).text).toBe('a grüne line\nand more')
  })
})

/** Writes to both streams, in this order. */
async function reported(
  matches: Matches,
  ...chunks: readonly (readonly ['out' | 'err', string])[]
) {
  const streams = { out: new Readable({ read() {} }), err: new Readable({ read() {} }) }
  const { out: stdout, err: stderr } = streams
  const process = Object.assign(new EventEmitter(), { stdout, stderr }) as unknown as ChildProcess
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} }
  const parts = { clock, limits: LIMITS, matches, onMatch: () => {} }
  const child = new Child({ process, pid: NOBODY }, parts)
  for (const [to, text] of chunks) {
    const length = child.output.end + text.length
    streams[to].push(text)
    while (child.output.end < length) await nextRound()
  }
  for (const stream of [stdout, stderr]) stream.push(null)
  process.emit('exit', 0, null)
  await child.ended
  return { unreported: matches.unreported, text: child.output.read(0, 1_000).text }
}

describe('a watched line', () => {
  it('is not split by output of the other stream', async () => {
    const chunks = [
      ['out', 'server is rea'],
      ['err', 'ERROR disk full\n'],
      ['out', 'dy\n'],
    ] as const
    for (const pattern of ['^server is ready$', '^ERROR disk full$']) {
      const { unreported, text } = await reported(watch(pattern), ...chunks)
      expect([pattern, unreported]).toEqual([pattern, 1])
      expect(text).toBe('server is reaERROR disk full\ndy\n')
    }
  })

  it('ends at a carriage return, even between two pieces', async () => {
    const chunks = [
      ['out', '10 %\r50 %\r100 % done\r'],
      ['out', '\nready\r\n'],
      ['out', 'last\r'],
    ] as const
    for (const pattern of ['^50 %$', '^100 % done$', '^ready$', '^last$']) {
      const { unreported } = await reported(watch(pattern), ...chunks)
      expect([pattern, unreported]).toEqual([pattern, 1])
    }
    expect((await reported(watch('^$'), ...chunks)).unreported).toBe(0)
  })
})

describe('Output', () => {
  it('keeps the end of the output, and counts from its beginning', () => {
    const output = new Output(100)
    for (let n = 0; n < 1_000; n++) output.write(`${n % 10}`.repeat(10))
    expect(output.end).toBe(10_000)
    expect(output.read(0, 50)).toEqual({
      text: '0123456789'
        .split('')
        .flatMap((digit) => digit.repeat(10))
        .join('')
        .slice(0, 50),
      from: 9_900,
      next: 9_950,
    })
    expect(output.read(9_995, 50)).toEqual({ text: '99999', from: 9_995, next: 10_000 })
    expect(output.read(20_000, 50)).toEqual({ text: '', from: 10_000, next: 10_000 })
  })

  it('never ends or begins a piece within a character', () => {
    const output = new Output(100)
    output.write('ab🙂cd')
    expect([output.read(0, 3), output.read(2, 4), output.read(3, 4)]).toEqual([
      { text: 'ab', from: 0, next: 2 },
      { text: '🙂cd', from: 2, next: 6 },
      { text: 'cd', from: 4, next: 6 },
    ])
  })

  it('takes linear time for a line that never ends', () => {
    const prepare = (pieces: number) => () => {
      const output = new Output(200_000)
      const lines = new Lines()
      for (let n = 0; n < pieces; n++) {
        output.write('x'.repeat(1_000))
        lines.take('x'.repeat(1_000))
      }
    }
    expect(costOfTenfold(prepare, { size: 1_000, floorMs: 5 })).toBeLessThan(15)
  })
})

describe('Matches', () => {
  it('notifies at once, then at most as often as allowed, and counts the rest', () => {
    const compiled = compilePatterns(['error'])
    if (compiled.kind === 'refused') throw new Error(compiled.problem)
    const matches = new Matches(compiled.patterns, { intervalMs: 100, noticesMax: 2 })
    for (const line of ['fine', 'error 1']) matches.take(line)
    expect(matches.next(0)).toEqual({ pattern: 'error', line: 'error 1', suppressed: 0 })
    for (const line of ['error 2', 'error 3', 'error 4']) matches.take(line)
    expect(matches.next(99)).toBeNull()
    const notice = matches.next(100)
    expect(notice).toEqual({ pattern: 'error', line: 'error 4', suppressed: 2 })
    matches.take('error 5')
    if (notice !== null) matches.putBack(notice)
    expect(matches.next(200)).toEqual({ pattern: 'error', line: 'error 5', suppressed: 3 })
    matches.take('error 6')
    // No notice is left; the report of the program's end includes this match.
    expect([matches.next(1_000), matches.unreported]).toEqual([null, 1])
  })
})
