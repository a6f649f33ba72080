import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { JsonObject } from '../../packages/core/src/base/json.ts'
import { StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import { processTool } from '../../packages/server/src/tools/process/process.ts'
import {
  PROCESS_LIMITS,
  Processes,
  type ProcessLimits,
} from '../../packages/server/src/tools/process/processes.ts'
import { isAlive } from '../support/alive.ts'
import { until } from '../support/until.ts'

const NODE = process.execPath
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function stage(limits: Partial<ProcessLimits> = {}, intervalMs = 200) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-process-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  const crashes: unknown[] = []
  const processes = new Processes({
    store,
    clock: systemClock,
    countTokens: (_, text) => text.length,
    limits: { ...PROCESS_LIMITS, graceMs: 300, ...limits },
    notices: { intervalMs, noticesMax: 100 },
    onCrash: (error) => crashes.push(error),
  })
  cleanups.push(() => processes.close())
  const env = { ONLY: 'this' }
  const tool = processTool({ processes, programs: [NODE, 'no-such-program'], folder, env })
  let count = 0
  const run = async (input: JsonObject) => {
    const call = { sessionId: fixture.id, agent: 'ada', turn: 1, entry: 1, key: `k${++count}` }
    const { outcome, output } = await tool.run({ ...call, input }, new AbortController().signal)
    return `${outcome}: ${String(output)}`
  }
  /** Runs a script of Node and gives its id. */
  const start = async (script: string, more: JsonObject = {}) => {
    const args = ['-e', script]
    const answer = await run({ action: 'start', program: NODE, args, ...more })
    return answer.replace('ok: Started as ', '').replace('.', '')
  }
  const notices = async () => {
    const mail = await store.listMail({ sessionId: fixture.id, lane: 'notification', limit: 100 })
    return mail.map(({ body }) => JSON.parse(body ?? '{}').message.parts[0].text as string)
  }
  return { fixture, processes, run, start, notices, folder, crashes }
}

/** A child with a child of its own; prints both ids and lives on. */
const FAMILY = `
  const { spawn } = require('node:child_process')
  process.on('SIGTERM', () => {})
  const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'])
  console.log('ids ' + process.pid + ' ' + child.pid + ' .')
  setInterval(() => {}, 1000)
`

function idsIn(text: string): number[] {
  const [, ...ids] = /ids (\d+) (\d+) \./.exec(text) ?? []
  return ids.map(Number)
}

describe('process', () => {
  it('runs a program, keeps its output, and reports its end', async () => {
    const { start, run, notices } = await stage()
    const id = await start('console.log("hello " + JSON.stringify(process.env)); process.exit(3)')
    await until(async () => (await notices()).length > 0)
    expect(await notices()).toEqual([
      expect.stringMatching(/ended with code 3\.[\s\S]*hello \{"ONLY"/),
    ])
    expect(await run({ action: 'output', id })).toMatch(
      /ended with code 3; [\s\S]*\nhello \{"ONLY":"this"/,
    )
    expect(await run({ action: 'list' })).toContain(id)
  })

  it('starts nothing that is not on the list, and passes arguments without a shell', async () => {
    const { run, start, notices } = await stage()
    expect(await run({ action: 'start', program: 'sh', args: ['-c', 'echo'] })).toMatch(
      /^error: sh may not be started/,
    )
    expect(await run({ action: 'start', program: 'w' })).toMatch(/^error: w may not be started/)
    expect(await run({ action: 'start', program: 'no-such-program' })).toBe(
      'error: no-such-program did not start (ENOENT).',
    )
    await start('console.log(process.argv.slice(1).join("|"))', {})
    await run({
      action: 'start',
      program: NODE,
      args: ['-e', 'console.log(process.argv.at(-1))', '--', '$(id); `id` && id'],
    })
    await until(async () => (await notices()).length === 2)
    expect((await notices()).join('\n')).toContain('$(id); `id` && id')
  })

  it('sends a matching line at once and counts what comes too fast', async () => {
    const intervalMs = 400
    const { start, run, notices, folder } = await stage({}, intervalMs)
    const startedAt = performance.now()
    const id = await start(
      `const { existsSync } = require('node:fs')
       let n = 1
       console.log('error number 1')
       const timer = setInterval(() => {
         if (!existsSync('goes-on')) return
         console.log('noise')
         console.log('error number ' + ++n)
         if (n === 50) { clearInterval(timer); setInterval(() => {}, 1000) }
       }, 10)`,
      { watch: ['error number \\d+$'] },
    )
    // It says nothing more until somebody was told.
    await until(async () => (await notices()).length > 0)
    writeFileSync(join(folder, 'goes-on'), '')
    await until(async () => (await run({ action: 'output', id })).includes('number 50'))
    await until(async () => (await notices()).some((text) => text.includes('number 50')))
    const reported = await notices()
    const intervals = (performance.now() - startedAt) / intervalMs
    expect(reported[0]).toMatch(/error number 1$/)
    expect(reported.length).toBeLessThanOrEqual(1 + intervals)
    const further = reported.map((text) => Number(/\((\d+) further/.exec(text)?.[1] ?? 0))
    // Every match was told of, by a notice of its own or as one of the further ones.
    expect(reported.length + further.reduce((sum, each) => sum + each, 0)).toBe(50)
    expect(await run({ action: 'stop', id })).toMatch(/was stopped/)
  })

  it('refuses a pattern that cannot be read', async () => {
    const { run } = await stage()
    const input = { action: 'start', program: NODE, args: [], watch: ['(?=x)'] }
    expect(await run(input)).toMatch(/^error: The pattern \(\?=x\): /)
  })

  it('ends a program with its children when it is stopped, also a deaf one', async () => {
    const { start, run } = await stage()
    const id = await start(FAMILY)
    let ids: readonly number[] = []
    await until(async () => {
      ids = idsIn(await run({ action: 'output', id }))
      return ids.length === 2
    })
    expect(ids.map(isAlive)).toEqual([true, true])
    expect(await run({ action: 'stop', id })).toMatch(/was stopped/)
    await until(() => !ids.some(isAlive))
  })

  it('ends everything when the runtime closes', async () => {
    const { start, run, processes } = await stage()
    const id = await start(FAMILY)
    let ids: readonly number[] = []
    await until(async () => {
      ids = idsIn(await run({ action: 'output', id }))
      return ids.length === 2
    })
    await processes.close()
    await until(() => !ids.some(isAlive))
    expect(await run({ action: 'start', program: NODE, args: [] })).toMatch(/is closing/)
  })

  it('ends processes that left its group, both when it is stopped and when it ends', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells whose it was')
    const { start, run } = await stage()
    for (const last of ['setInterval(() => {}, 1000)', 'setTimeout(() => process.exit(0), 300)']) {
      const id = await start(`
        const { spawn } = require('node:child_process')
        const idle = ['-e', 'setInterval(() => {}, 1000)']
        // A session of its own, as setsid makes it; its parent does not wait for it.
        const child = spawn(process.execPath, idle, { detached: true, stdio: 'ignore' })
        child.unref()
        console.log('ids ' + process.pid + ' ' + child.pid + ' .')
        ${last}
      `)
      let ids: readonly number[] = []
      await until(async () => {
        ids = idsIn(await run({ action: 'output', id }))
        return ids.length === 2
      })
      if (last.startsWith('setInterval')) await run({ action: 'stop', id })
      await until(() => !ids.some(isAlive))
    }
  })

  it.each([
    ['in all', { endedMax: 4 }, 2],
    ['of one session', { endedPerSessionMax: 4 }, 1],
  ])(
    'remembers no more than so many programs that have ended: %s',
    async (_of, limits, sessions) => {
      const { processes } = await stage(limits)
      const wanted = { args: ['-e', '0'], folder: '.', env: {}, watch: [] }
      const start = { program: NODE, ...wanted, timeMs: 50_000, reportsEnd: false }
      const ids: (readonly [ReturnType<typeof sessionId>, string])[] = []
      for (let n = 0; n < 6; n++) {
        const id = sessionId(`s${n % sessions}`)
        const call = { sessionId: id, agent: 'ada', turn: 1, entry: 1, key: `k${n}` }
        const started = await processes.start(call, start)
        if (started.kind === 'refused') throw new Error(started.problem)
        await started.job.child.ended
        ids.push([id, started.job.id])
      }
      const known = () => ids.filter(([session, id]) => processes.find(session, id) !== undefined)
      await until(() => known().length <= 4)
      expect(known()).toEqual(ids.slice(-4))
    },
  )

  it('holds to its limits on time, output and count', async () => {
    const { start, run, notices } = await stage({
      runningPerSessionMax: 1,
      outputBytesMax: 100_000,
    })
    const id = await start('setInterval(() => {}, 1000)', { notify_end: false })
    expect(await run({ action: 'start', program: NODE, args: [] })).toMatch(
      /1 programs run already/,
    )
    await run({ action: 'stop', id })
    await start('setInterval(() => {}, 1000)', { time_seconds: 1 })
    await until(async () => (await notices()).length === 1)
    expect(await notices()).toEqual([expect.stringContaining('its time was up')])
    await start('setInterval(() => console.log("x".repeat(10_000)), 1)')
    await until(async () => (await notices()).length === 2)
    expect((await notices())[1]).toContain('it wrote more than the limit')
  })

  it('ends with a runtime that is killed, and the next one reports it, once [fault 7]', async (context) => {
    if (process.platform === 'win32') return context.skip('not run: Windows has no process groups')
    const folder = mkdtempSync(join(tmpdir(), 'throughline-process-'))
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'store.db')
    const runtime = spawn(NODE, [join(import.meta.dirname, 'tools-process-host.ts'), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    cleanups.push(() => end(runtime))
    let said = ''
    runtime.stdout.on('data', (chunk) => {
      said += chunk
    })
    await until(() => idsIn(said).length === 2)
    const ids = idsIn(said)
    const [, stray = '0'] = /left (\d+)/.exec(said) ?? []
    if (process.platform === 'linux') ids.push(Number(stray))
    expect(ids.every(isAlive)).toBe(true)
    runtime.kill('SIGKILL')
    await once(runtime, 'exit')
    await until(() => !ids.some(isAlive))
    const store = await openSqliteStore({ path })
    cleanups.push(() => store.close())
    const [next, other] = [
      await openRuntime({ store, agents: [] }),
      await openRuntime({ store, agents: [] }),
    ]
    const [session] = await store.listSessions({ limit: 1 })
    const notices = async () =>
      (session && (await store.listMail({ sessionId: session.id, limit: 9 }))) ?? []
    await until(async () => (await notices()).length > 0)
    await next.close()
    await other.close()
    expect((await notices()).map(({ lane, body }) => [lane, body])).toEqual([
      ['notification', expect.stringContaining('the server that ran it stopped')],
    ])
  })
})

function end(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
}
