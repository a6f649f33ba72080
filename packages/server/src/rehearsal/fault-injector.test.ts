import { describe, expect, it } from 'vitest'
import { runnerId } from '#core/base/ids'
import { openMemoryStore } from '#core/store/memory/open'
import { FaultInjector, type PlannedFault } from './fault-injector.ts'

describe('FaultInjector', () => {
  it('holds the planned request until it is released, and nothing else', async () => {
    const { injector, renew, heard } = await line()
    injector.arm({ id: 'one', verb: 'renew', fault: 'hold' })
    let isDone = false
    const held = renew().then(() => {
      isDone = true
    })
    await renew()
    expect({ isDone, heard }).toEqual({ isDone: false, heard: ['met one'] })
    injector.release('one')
    await held
    expect(isDone).toBe(true)
  })

  it.each<[PlannedFault['fault'], RegExp]>([
    ['lose', /unknown/],
    ['refuse', /refused it/],
  ])('%s: says so once', async (fault, problem) => {
    const { injector, renew } = await line()
    injector.arm({ id: 'one', verb: 'renew', fault })
    await expect(renew()).rejects.toThrow(problem)
    await expect(renew()).resolves.toMatchObject({ kind: 'renewed' })
  })

  it('loses no answer that says that nothing was done', async () => {
    const { injector, store, renew, heard } = await line()
    injector.arm({ id: 'one', verb: 'renew', fault: 'lose' })
    await expect(store.renew({ runner: runnerId('nobody') })).resolves.toEqual({ kind: 'lost' })
    expect(heard).toEqual([])
    await expect(renew()).rejects.toThrow(/unknown/)
  })

  it('sends a planned repeat a second time, and reports its outcome', async ({ expect }) => {
    const { injector, renew, heard } = await line()
    injector.arm({ id: 'one', verb: 'renew', fault: 'repeat' })
    await renew()
    await expect.poll(() => heard).toEqual(['met one', 'repeated one: renewed'])
  })
})

/** A store with injected faults, and one runner in it. */
async function line() {
  const heard: string[] = []
  const injector = new FaultInjector({
    met: ({ id }) => heard.push(`met ${id}`),
    repeated: ({ id }, outcome) => heard.push(`repeated ${id}: ${outcome}`),
  })
  const store = injector.over(openMemoryStore())
  const runner = runnerId('somebody')
  const row = { id: runner, boot: 'here', process: 1, startedAt: 0, leaseMs: 1_000 }
  await store.registerRunner(row)
  return { injector, heard, store, renew: () => store.renew({ runner }) }
}
