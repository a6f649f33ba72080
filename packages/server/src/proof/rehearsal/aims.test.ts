import { describe, expect, it } from 'vitest'
import { runnerId } from '#core/base/ids'
import { openMemoryStore } from '#core/store/memory/open'
import { type Aim, Aims } from './aims.ts'

describe('Aims', () => {
  it('holds what it is aimed at until it is let go, and nothing else', async () => {
    const { aims, renew, heard } = await line()
    aims.arm({ id: 'one', verb: 'renew', mishap: 'hold' })
    let isDone = false
    const held = renew().then(() => {
      isDone = true
    })
    await renew()
    expect({ isDone, heard }).toEqual({ isDone: false, heard: ['met one'] })
    aims.release('one')
    await held
    expect(isDone).toBe(true)
  })

  it.each<[Aim['mishap'], RegExp]>([
    ['lose', /unknown/],
    ['refuse', /refused it/],
  ])('%s: says so once', async (mishap, problem) => {
    const { aims, renew } = await line()
    aims.arm({ id: 'one', verb: 'renew', mishap })
    await expect(renew()).rejects.toThrow(problem)
    await expect(renew()).resolves.toMatchObject({ kind: 'renewed' })
  })

  it('loses no answer that says that nothing was done', async () => {
    const { aims, store, renew, heard } = await line()
    aims.arm({ id: 'one', verb: 'renew', mishap: 'lose' })
    await expect(store.renew({ runner: runnerId('nobody') })).resolves.toEqual({ kind: 'lost' })
    expect(heard).toEqual([])
    await expect(renew()).rejects.toThrow(/unknown/)
  })

  it('asks a second time where it repeats, and tells what came of it', async ({ expect }) => {
    const { aims, renew, heard } = await line()
    aims.arm({ id: 'one', verb: 'renew', mishap: 'repeat' })
    await renew()
    await expect.poll(() => heard).toEqual(['met one', 'repeated one: renewed'])
  })
})

/** A store with injected faults, and one runner in it. */
async function line() {
  const heard: string[] = []
  const aims = new Aims({
    met: ({ id }) => heard.push(`met ${id}`),
    repeated: ({ id }, outcome) => heard.push(`repeated ${id}: ${outcome}`),
  })
  const store = aims.over(openMemoryStore())
  const runner = runnerId('somebody')
  const row = { id: runner, boot: 'here', process: 1, startedAt: 0, leaseMs: 1_000 }
  await store.registerRunner(row)
  return { aims, heard, store, renew: () => store.renew({ runner }) }
}
