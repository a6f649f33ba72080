import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { KnownError } from '../../base/errors.ts'
import type { Admit } from '../../store/commits.ts'
import { openMemoryStore } from '../../store/memory/open.ts'
import { Desk } from '../../testing/store/desk.ts'
import { PROCESS_LIMITS, Processes, type ProcessLimits } from './processes.ts'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

class StoreDown extends KnownError {
  readonly code = 'store-down'
  readonly retryable = true
}

/** What becomes of one admission: nothing, or all of it and nobody hears so. */
type Trouble = 'full' | 'down' | 'down-behind'

async function stage(limits: Partial<ProcessLimits> = {}, troubles: readonly Trouble[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-processes-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const store = openMemoryStore()
  const desk = await Desk.open(store)
  const left = [...troubles]
  const admit = async (request: Admit) => {
    const trouble = left.shift()
    if (trouble === 'full') return { kind: 'full', which: 'lane', limit: 1 } as const
    if (trouble === 'down') throw new StoreDown('The store is down.')
    const outcome = await store.admit(request)
    if (trouble === 'down-behind') throw new StoreDown('The store went down.')
    return outcome
  }
  const processes = new Processes({
    store: { admit },
    clock: systemClock,
    countTokens: (_, text) => text.length,
    limits: { ...PROCESS_LIMITS, graceMs: 300, ...limits },
    notices: { intervalMs: 20, noticesMax: 100 },
  })
  cleanups.push(() => processes.close())
  let count = 0
  const start = async (script: string, watch: readonly string[] = []) => {
    const call = { sessionId: desk.id, agent: 'ada', turn: 1, entry: 1, key: `k${++count}` }
    const wanted = { args: ['-e', script], folder, env: {}, watch, timeMs: 60_000, tellsEnd: true }
    return await processes.start(call, { program: process.execPath, ...wanted })
  }
  const notices = async () => {
    const mail = await store.listMail({ sessionId: desk.id, lane: 'notification', limit: 100 })
    return mail.map(({ body }) => JSON.parse(body ?? '{}').message.parts[0].text as string)
  }
  return { processes, start, notices, left }
}

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('programs', () => {
  it('started by calls that come all at once are no more than the limit', async () => {
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
    ['nobody heard that it was taken', ['down-behind', 'full']],
  ] as const)('whose end came while %s are told of, once', async (_, troubles) => {
    const { start, notices, left, processes } = await stage({}, troubles)
    await start('process.exit(3)')
    await until(async () => left.length === 0 && (await notices()).length > 0)
    // What is still on its way when this resolves would be there.
    await processes.close()
    expect(await notices()).toEqual([expect.stringContaining('ended with code 3')])
  })

  it('that nobody takes the end of keep no runtime from closing', async () => {
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
