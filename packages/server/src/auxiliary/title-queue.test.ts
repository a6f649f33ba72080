import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { TITLES_AT_ONCE, TitleQueue } from './title-queue.ts'

it('writes a few titles at once, all of them in the end, and one of a session at a time', async () => {
  const queue = new TitleQueue()
  const ends: (() => void)[] = []
  const begun: string[] = []
  const write = (name: string) =>
    queue.write(sessionId(name), () => {
      begun.push(name)
      return new Promise((resolve) => ends.push(resolve))
    })
  const names = Array.from({ length: 2 * TITLES_AT_ONCE }, (_, index) => `s${index}`)
  const all = ['s0', ...names].map(write)
  expect(begun).toEqual(names.slice(0, TITLES_AT_ONCE))
  for (let end = 0; end <= names.length; end++) {
    await expect.poll(() => ends.length).toBeGreaterThan(end)
    expect(ends.length - end).toBeLessThanOrEqual(TITLES_AT_ONCE)
    ends[end]?.()
  }
  await Promise.all(all)
  expect(begun.toSorted()).toEqual(['s0', ...names].toSorted())
})

it('continues after a failure, which it reports to its caller, and starts nothing after its end', async () => {
  const queue = new TitleQueue()
  const failing = queue.write(sessionId('a'), () => Promise.reject(new Error('no model')))
  await expect(failing).rejects.toThrow('no model')
  const begun: string[] = []
  const held = Promise.withResolvers<void>()
  const all = Array.from({ length: TITLES_AT_ONCE + 1 }, (_, index) =>
    queue.write(sessionId(`s${index}`), () => {
      begun.push(`s${index}`)
      return held.promise
    }),
  )
  queue.close()
  held.resolve()
  await Promise.all(all)
  expect(begun).toHaveLength(TITLES_AT_ONCE)
})
