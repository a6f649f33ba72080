import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { sessionId } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import { StoreFullError } from '#core/store/errors'
import { open as openRuntime, say } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import { PROBE_EVERY_MS } from './store-health.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-trouble-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [disk, link] = [join(folder, 'disk'), join(folder, 'link')]
mkdirSync(disk)
writeFileSync(join(disk, 'status'), '')
const path = join(link, 'status')
const whyNot = process.platform === 'linux' ? null : 'not run: only Linux has /proc'

/** In /proc nothing can be written beside a file, not even by root. */
function leadTo(place: string): void {
  rmSync(link, { force: true })
  symlinkSync(place, link)
}

/**
 * A store on a disk that is full while the test says so; commits that write nothing new, such as
 * renewals, still succeed.
 */
async function open() {
  const fault = { isFull: false }
  const looks = { count: 0 }
  const told: string[] = []
  const log = (_: object, text: string) => TOLD.includes(text) && told.push(text)
  const full = () => Promise.reject(new StoreFullError({ path }))
  const { runtime } = await openRuntime({
    clock: {
      ...systemClock,
      after: (ms, run) =>
        systemClock.after(ms / 500, () => {
          if (ms === PROBE_EVERY_MS) looks.count++
          run()
        }),
    },
    logger: { debug: log, info: log, warn: log, error: log },
    seams: {
      store: (inner): Store => ({
        ...inner,
        admit: (request) => (fault.isFull ? full() : inner.admit(request)),
      }),
    },
  })
  await runtime.createSession({ agent: 'main', id: 's' })
  const session = runtime.session(sessionId('s'))
  let keys = 0
  const tell = () => session.admit(say('Hello.', `${++keys}`))
  const reason = async () => (await runtime.health()).reason
  // The lease is acquired shortly after the start.
  await until(async () => (await reason()) === null)
  return { runtime, fault, looks, told, tell, reason }
}

const TOLD = ['store takes nothing', 'store takes what is written again']

describe('a store on a full disk', () => {
  it('makes the process not ready, with a reason and one log line, until a message is admitted', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    leadTo('/proc/self')
    const { runtime, fault, looks, told, tell, reason } = await open()
    fault.isFull = true
    for (let n = 0; n < 3; n++) await expect(tell()).rejects.toThrow(StoreFullError)
    // The third check begins after the second has failed.
    await until(async () => looks.count >= 3)
    const { isReady, problems } = await runtime.health()
    expect([isReady, await reason()]).toEqual([false, 'store-full'])
    expect(problems[0]).toMatch(/^No space left for /)
    expect(told).toEqual(TOLD.slice(0, 1))
    fault.isFull = false
    await tell()
    expect(await reason()).toBeNull()
    expect(told).toEqual(TOLD)
  })

  it('makes it ready again once there is space, and leaves no file beside the store', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    leadTo('/proc/self')
    const { fault, told, tell, reason } = await open()
    fault.isFull = true
    await expect(tell()).rejects.toThrow(StoreFullError)
    expect(await reason()).toBe('store-full')
    leadTo(disk)
    await until(async () => (await reason()) === null)
    expect(told).toEqual(TOLD)
    expect(readdirSync(disk)).toEqual(['status'])
  })
})
