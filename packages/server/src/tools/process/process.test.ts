import { describe, expect, it } from 'vitest'
import type { ToolCall } from '../tool.ts'
import { Output } from './output.ts'
import { processTool } from './process.ts'
import type { Processes } from './processes.ts'

const CALL = { sessionId: 's', agent: 'main', turn: 1, entry: 2, key: 'k' }
const DEFAULTS = { args: [], folder: '/work', env: { A: 'b' }, watch: [], reportsEnd: true }

function output(text: string, charactersMax = 100_000): Output {
  const written = new Output(charactersMax)
  written.write(text)
  return written
}

const job = (id: string, end: object | null, out = output('out')) => {
  const child = { end, output: out, ended: Promise.resolve(), stop: () => {} }
  return { id, title: `make ${id}`, child }
}

/** Runs the tool over these programs, and what it asks of them. */
async function run(
  input: object,
  {
    jobs = [] as readonly ReturnType<typeof job>[],
    past = [] as readonly { id: string; text: string }[],
    started = { kind: 'started', job: { id: 'p9' } } as object,
    programs = ['make', 'npm'],
  } = {},
) {
  const asked: unknown[] = []
  const processes = {
    limits: { timeMs: 5_000 },
    start: async (_: unknown, wanted: object) => {
      asked.push(wanted)
      return started
    },
    list: () => jobs,
    find: (_: unknown, id: string) => jobs.find((each) => each.id === id),
    listPast: async () => past,
  } as unknown as Processes
  const tool = processTool({ processes, programs, folder: '/work', env: { A: 'b' } })
  const call = { ...CALL, input } as unknown as ToolCall
  const answer = await tool.run(call, new AbortController().signal)
  return [answer.outcome, answer.output, ...asked]
}

describe('the tool `process`', () => {
  it.each<[string, object, object]>([
    ['a program', {}, { ...DEFAULTS, program: 'make', timeMs: 5_000 }],
    [
      'a program with everything',
      { args: ['all'], watch: ['error'], time_seconds: 7, notify_end: false },
      {
        ...{ ...DEFAULTS, program: 'make', args: ['all'], watch: ['error'] },
        ...{ timeMs: 7_000, reportsEnd: false },
      },
    ],
  ])('starts %s', async (_, more, wanted) => {
    const input = { action: 'start', program: 'make', ...more }
    expect(await run(input)).toEqual(['ok', 'Started as p9.', wanted])
  })

  it('starts only what the operator lists', async () => {
    const start = { action: 'start' }
    const refused = (what: string, list: string) => [
      ...['error', `${what} may not be started. Programs: ${list}.`],
    ]
    expect(await run({ ...start, program: 'rm' })).toEqual(refused('rm', 'make, npm'))
    expect(await run(start)).toEqual(refused('(none given)', 'make, npm'))
    expect(await run(start, { programs: [] })).toEqual(refused('(none given)', 'none'))
    const started = { kind: 'refused', problem: 'Too many.' }
    const [outcome, text] = await run({ ...start, program: 'npm' }, { started })
    expect([outcome, text]).toEqual(['error', 'Too many.'])
  })

  const running = job('p1', null)
  const ended = job('p2', { kind: 'exited', code: 3, signal: null }, output(''))
  const past = [{ id: 'p0', text: 'p0 (npm) was stopped' }]
  const RUNS = 'p1 (make p1) runs; 3 characters of output'

  it('lists what ran before and what runs now', async () => {
    expect(await run({ action: 'list' })).toEqual(['ok', 'Nothing was started.'])
    expect(await run({ action: 'list' }, { jobs: [running, ended], past })).toEqual([
      'ok',
      `p0 (npm) was stopped\n${RUNS}\np2 (make p2) ended with code 3; 0 characters of output`,
    ])
  })

  it.each([
    [{ kind: 'exited', code: null, signal: 'SIGTERM' }, 'was ended by SIGTERM'],
    [{ kind: 'exited', code: 0, signal: null }, 'ended with code 0'],
    [{ kind: 'stopped' }, 'was stopped'],
    [{ kind: 'out-of-time' }, 'was stopped: its time was up'],
    [{ kind: 'too-much-output' }, 'was stopped: it wrote more than the limit'],
  ])('says how a program ended: %j', async (end, words) => {
    expect(await run({ action: 'stop', id: 'p3' }, { jobs: [job('p3', end)] })).toEqual([
      ...['ok', `p3 (make p3) ${words}; 3 characters of output`],
    ])
  })

  it.each<[string, object, string]>([
    ['the end', {}, ' Characters 5000 to 25000:\n'],
    ['all from a place on', { from: 24_998 }, ' Characters 24998 to 25000:\nxx'],
    ['what is left', { from: 0 }, ' Characters 0 to 20000:\n'],
  ])('reads 20,000 characters of output: %s', async (_, more, words) => {
    const jobs = [job('p1', null, output('x'.repeat(25_000)))]
    const [outcome, text] = await run({ action: 'output', id: 'p1', ...more }, { jobs })
    const head = 'p1 (make p1) runs; 25000 characters of output.'
    expect([outcome, String(text).replace('x'.repeat(20_000), '')]).toEqual(['ok', head + words])
  })

  it('says which output is no longer kept', async () => {
    const jobs = [job('p1', null, output('abcdef', 2))]
    const head = 'p1 (make p1) runs; 6 characters of output.'
    const read = async (more: object) =>
      (await run({ action: 'output', id: 'p1', ...more }, { jobs }))[1]
    expect(await read({ from: 3 })).toBe(
      `${head} Earlier output is no longer kept. Characters 4 to 6:\nef`,
    )
    expect(await read({ from: 4 })).toBe(`${head} Characters 4 to 6:\nef`)
    expect(await read({})).toBe(`${head} Characters 4 to 6:\nef`)
  })

  it('knows no program of another id', async () => {
    const output = { action: 'output', id: 'p7' }
    expect(await run(output, { jobs: [running, ended], past })).toEqual([
      ...['error', 'There is no program p7. Ids: p1, p2.'],
    ])
    expect(await run({ action: 'stop' })).toEqual([
      ...['error', 'There is no program (no id given). Ids: none.'],
    ])
    expect(await run({ action: 'stop', id: 'p0' }, { past })).toEqual([
      ...['error', 'It does not run here. p0 (npm) was stopped'],
    ])
  })
})
