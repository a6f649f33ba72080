import { expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import type { ImagePart, Message } from '#core/message/message'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { NOTHING_SPENT } from '../../auxiliary/attempts.ts'
import type { Written } from '../../auxiliary/small-tasks.ts'
import { DEADLINES } from '../../model/connections/deadlines.ts'
import type { Model } from '../../model/model.ts'
import { ImageTexts } from './image-texts.ts'

const picture = (data: string): ImagePart => ({
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data },
})

const model: Model = {
  route: {
    ...{ name: 'r', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' },
    ...{ model: 'm', images: false, credential: { kind: 'none' } },
  },
  renew: async () => false,
  async *stream() {},
}
const { signal } = new AbortController()
const options = { purpose: 'turn', deadlines: DEADLINES, signal }

it('a description that contexts still use is not requested again, however many came since', async () => {
  const described: string[] = []
  const blind = new ImageTexts(systemClock).through(model, async (image) => {
    described.push(JSON.stringify(image))
    return { kind: 'written', value: 'a river', spend: NOTHING_SPENT }
  })
  const first = picture('first')
  for (let at = 0; at < 1_200; at += 10) {
    const others = Array.from({ length: 10 }, (_, n) => picture(`${at + n}`))
    const message: Message = { role: 'user', parts: [first, ...others] }
    for await (const _piece of blind.stream({ messages: [message] }, options)) break
  }
  expect(described.filter((image) => image === JSON.stringify(first))).toHaveLength(1)
  expect(described).toHaveLength(1_201)
})

it('waits for a description in progress, and requests it again only if that failed', async () => {
  const asked: PromiseWithResolvers<Written<string>>[] = []
  const blind = new ImageTexts(systemClock).through(model, () => {
    const next = Promise.withResolvers<Written<string>>()
    asked.push(next)
    return next.promise
  })
  const look = async (data: string) => {
    const messages: Message[] = [{ role: 'user', parts: [picture(data)] }]
    for await (const _piece of blind.stream({ messages }, options)) break
  }
  const both = [look('one'), look('one')]
  await expect.poll(() => asked.length).toBe(1)
  asked[0]?.resolve({ kind: 'written', value: 'a river', spend: NOTHING_SPENT })
  await Promise.all(both)
  expect(asked).toHaveLength(1)
  const again = [look('two'), look('two')]
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.resolve({ kind: 'failed', reason: 'timeout', spend: NOTHING_SPENT })
  await again[0]
  await expect.poll(() => asked.length).toBe(3)
  asked[2]?.resolve({ kind: 'written', value: 'a bridge', spend: NOTHING_SPENT })
  await Promise.all(again)
})

it('asks no model for an answer when a description was interrupted', async () => {
  let calls = 0
  const counting: Model = {
    ...model,
    stream: (...call) => {
      calls += 1
      return model.stream(...call)
    },
  }
  const ends: Written<string>[] = [
    { kind: 'interrupted', spend: NOTHING_SPENT },
    { kind: 'written', value: 'a river', spend: NOTHING_SPENT },
  ]
  for (const end of ends) {
    const blind = new ImageTexts(systemClock).through(counting, async () => end)
    const messages: Message[] = [{ role: 'user', parts: [picture('one')] }]
    for await (const _piece of blind.stream({ messages }, options)) break
    expect(calls).toBe(end.kind === 'written' ? 1 : 0)
  }
})

it('describing counts towards the deadline of its call; a late description is used in the next call', async () => {
  const clock = new FakeClock()
  const asked: { text: string; totalMs: number }[] = []
  const told: Model = {
    ...model,
    stream: (request, within) => {
      asked.push({ text: JSON.stringify(request), totalMs: within.deadlines.totalMs })
      return model.stream(request, within)
    },
  }
  const slow = Promise.withResolvers<Written<string>>()
  const blind = new ImageTexts(clock).through(told, () => slow.promise)
  const look = async () => {
    const messages: Message[] = [{ role: 'user', parts: [picture('one')] }]
    const second = { ...options, deadlines: { ...DEADLINES, totalMs: 1_000 } }
    for await (const _piece of blind.stream({ messages }, second)) break
  }
  const first = look()
  await clock.pass(499)
  expect(asked).toEqual([])
  await clock.pass(1)
  await first
  expect(asked).toEqual([{ text: expect.stringContaining('not in time'), totalMs: 500 }])
  slow.resolve({ kind: 'written', value: 'a river', spend: NOTHING_SPENT })
  await look()
  expect(asked[1]).toEqual({ text: expect.stringContaining('a river'), totalMs: 1_000 })
  expect(clock.timers).toBe(0)
})
