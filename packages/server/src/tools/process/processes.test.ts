import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { newOperation, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { until } from '../../../../../test/support/until.ts'
import { processTool } from './process.ts'
import { PROCESS_LIMITS, Processes, type ProcessLimits } from './processes.ts'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

class StoreDown extends KnownError {
  readonly code = 'store-down'
  readonly retryable = true
}

/** How an admission fails: before the commit, or after it with the answer lost. */
type Trouble = 'full' | 'down' | 'down-behind'

async function stage(limits: Partial<ProcessLimits> = {}, troubles: readonly Trouble[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-processes-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  const left = [...troubles]
  /** Matching lines use `admit`, ends use `fireSchedule`. */
  const troubled =
    <Request, Outcome>(verb: (request: Request) => Promise<Outcome>) =>
    async (request: Request) => {
      const trouble = left.shift()
      if (trouble === 'full') return { kind: 'full', which: 'lane', limit: 1 } as const
      if (trouble === 'down') throw new StoreDown('The store is down.')
      const outcome = await verb(request)
      if (trouble === 'down-behind') throw new StoreDown('The store went down.')
      return outcome
    }
  const { admit, fireSchedule } = store
  const open = () =>
    new Processes({
      store: { ...store, admit: troubled(admit), fireSchedule: troubled(fireSchedule) },
      clock: systemClock,
      countTokens: (_, text) => text.length,
      limits: { ...PROCESS_LIMITS, graceMs: 300, ...limits },
      notices: { intervalMs: 20, noticesMax: 100 },
    })
  const processes = open()
  cleanups.push(() => processes.close())
  let count = 0
  const start = async (script: string, watch: readonly string[] = []) => {
    const call = { sessionId: fixture.id, agent: 'ada', turn: 1, entry: 1, key: `k${++count}` }
    const wanted = {
      args: ['-e', script],
      folder,
      env: {},
      watch,
      timeMs: 60_000,
      reportsEnd: true,
    }
    return await processes.start(call, { program: process.execPath, ...wanted })
  }
  const notices = async () => {
    const mail = await store.listMail({ sessionId: fixture.id, lane: 'notification', limit: 100 })
    return mail.map(({ body }) => JSON.parse(body ?? '{}').message.parts[0].text as string)
  }
  /** The tool in another process of the same host, after this one. */
  const restart = () => {
    const next = open()
    cleanups.push(() => next.close())
    const terms = { programs: [process.execPath], folder, env: {} }
    const tool = processTool({ processes: next, ...terms })
    const list = async () => {
      const call = { sessionId: fixture.id, agent: 'ada', turn: 1, entry: 1, key: 'list' }
      const signal = new AbortController().signal
      return (await tool.run({ ...call, input: { action: 'list' } }, signal)).output
    }
    return { next, list }
  }
  return { processes, start, notices, left, restart, fixture }
}

describe('programs', () => {
  it('started by concurrent calls do not exceed the limit', async () => {
    const { start } = await stage({ runningPerSessionMax: 2, runningMax: 3 })
    const idle = 'setInterval(() => {}, 1000)'
    const started = await Promise.all(Array.from({ length: 6 }, () => start(idle)))
    expect(started.map(({ kind }) => kind).sort()).toEqual([
      ...['refused', 'refused', 'refused', 'refused', 'started', 'started'],
    ])
  })

  it.each([
    ['the mailbox was full', ['full', 'full']],
    ['the store was down', ['down']],
    ['the acknowledgment was lost', ['down-behind', 'full']],
  ] as const)('that ended while %s are reported once', async (_, troubles) => {
    const { start, notices, left, processes } = await stage({}, troubles)
    await start('process.exit(3)')
    await until(async () => left.length === 0 && (await notices()).length > 0)
    // Anything still in progress would be visible when this resolves.
    await processes.close()
    expect(await notices()).toEqual([expect.stringContaining('ended with code 3')])
  })

  it('that end with the runtime are reported, and listed by the next one', async () => {
    const { start, notices, processes, restart } = await stage()
    const started = await start('console.log("so far"); setInterval(() => {}, 1000)')
    if (started.kind === 'refused') throw new Error(started.problem)
    const { id, child } = started.job
    await until(() => child.output.end > 0)
    await processes.close()
    const { next, list } = restart()
    await next.look()
    expect(await notices()).toEqual([
      expect.stringMatching(/was stopped: the server stopped\.\n[\s\S]*so far/),
    ])
    expect(await list()).toContain(`Program ${id} `)
  })

  it('whose end was not delivered are reported once by the next process', async () => {
    const { start, notices, processes, restart } = await stage({}, ['full'])
    await start('setInterval(() => {}, 1000)')
    await processes.close()
    expect(await notices()).toEqual([])
    const [one, other] = [restart(), restart()]
    await Promise.all([one.next.look(), other.next.look()])
    await one.next.look()
    expect(await notices()).toEqual([expect.stringContaining('the server stopped')])
  })

  it('of another runtime in the same process are left alone', async () => {
    const { start, notices, restart } = await stage()
    await start('setInterval(() => {}, 1000)')
    const { next, list } = restart()
    await next.look()
    expect(await notices()).toEqual([])
    expect(await list()).toContain('was started by another process of the server')
  })

  it('of a purged session are ended', async () => {
    const { start, processes, fixture } = await stage()
    const started = await start('setInterval(() => {}, 1000)')
    if (started.kind === 'refused') throw new Error(started.problem)
    await processes.look()
    expect(started.job.child.end).toBe(null)
    await fixture.store.deleteSession({
      sessionId: fixture.id,
      operation: newOperation(),
      reason: 'test',
    })
    await processes.look()
    expect(await started.job.child.ended).toEqual({ kind: 'stopped' })
  })

  it('whose end cannot be delivered do not keep a runtime from closing', async () => {
    const { start, left, processes } = await stage(
      {},
      Array.from({ length: 1e4 }, () => 'full'),
    )
    await start('process.exit(3)')
    await until(() => left.length < 1e4)
    await processes.close()
    expect(left.length).toBeGreaterThan(9_000)
  })
})
