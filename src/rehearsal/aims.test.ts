import { describe, expect, it } from 'vitest'
import { openMemoryStore } from '../store/memory/open.ts'
import { type Aim, Aims } from './aims.ts'

describe('Aims', () => {
  it('holds what it is aimed at until it is let go, and nothing else', async () => {
    const { aims, renew, heard } = line()
    aims.arm({ id: 'one', verb: 'renew', act: 'hold' })
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

  it.each<[Aim['act'], RegExp]>([
    ['lose', /unknown/],
    ['refuse', /busy/],
  ])('%s: says so once', async (act, problem) => {
    const { aims, renew } = line()
    aims.arm({ id: 'one', verb: 'renew', act })
    await expect(renew()).rejects.toThrow(problem)
    await expect(renew()).resolves.toEqual({ kind: 'lost' })
  })

  it('asks a second time where it repeats, and tells what came of it', async ({ expect }) => {
    const { aims, renew, heard } = line()
    aims.arm({ id: 'one', verb: 'renew', act: 'repeat' })
    await renew()
    await expect.poll(() => heard).toEqual(['met one', 'repeated one: lost'])
  })
})

function line() {
  const heard: string[] = []
  const aims = new Aims({
    met: ({ id }) => heard.push(`met ${id}`),
    repeated: ({ id }, outcome) => heard.push(`repeated ${id}: ${outcome}`),
  })
  const store = aims.over(openMemoryStore())
  return { aims, heard, renew: () => store.renew({ runner: 'nobody' as never }) }
}
