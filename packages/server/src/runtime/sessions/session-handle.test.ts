import { expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { heldHandoffs } from '../../../../../test/support/held-handoffs.ts'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'

it('reports the usage of a compaction, however many turn calls came after it', async () => {
  const { runtime, store } = await open({ runs: false })
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('a', 'b')
  const operation = await fixture.claim(1)
  const call = async (id: string, task: string, at: number) => {
    await store.recordAttempt({
      ...{ id: operationId(id), sessionId: fixture.id, task, modelRoute: 'r', outcome: 'answered' },
      ...{ inputTokens: 7, outputTokens: 1, cachedTokens: 0, cost: null, host: 'h', at },
    })
  }
  const { startedAt = 0 } = (await store.findOperation(operation)) ?? {}
  await call('own', 'compaction', startedAt)
  await fixture.commit(operation)
  for (let count = 0; count < LIST_MAX; count++) {
    await call(`turn-${count}`, 'turn', startedAt + 10_000 + count)
  }
  const [compaction] = (await runtime.session(fixture.id).compactions({ limit: 1 })) ?? []
  expect(compaction?.spend).toMatchObject({ inputTokens: 7 })
})

it('releases callers who wait for the reply to a withdrawn message', async () => {
  const memory = openMemoryStore()
  const seen = Promise.withResolvers<void>()
  const store: Store = {
    ...memory,
    listMail: async (query) => await memory.listMail(query).finally(seen.resolve),
  }
  const { runtime } = await open({ runs: false, store })
  const session = runtime.session((await StoreFixture.open(store)).id)
  const mail = mailOf(await session.admit(say('never mind', 'k')))
  const signal = soon()
  const reply = session.reply(mail, signal)
  // The caller has read that the message is pending.
  await seen.promise
  expect(await session.withdraw(mail)).toEqual({ kind: 'withdrawn' })
  expect(await reply).toBeNull()
  expect(signal.aborted).toBe(false)
})

it('answers from a message that came during a compaction [D8]', async () => {
  const held = heldHandoffs()
  const { runtime } = await open({ seams: held.seams })
  const id = sessionId('s')
  await runtime.createSession({ agent: 'main', id })
  const session = runtime.session(id)
  const ask = async (text: string, key: string) => {
    const mail = mailOf(await session.admit(say(text, key)))
    return JSON.stringify(await session.reply(mail, soon()))
  }
  const isCompacting = async () => (await session.summary())?.isCompacting === true
  for (let turn = 0; !(await isCompacting()); turn++)
    await ask(`Report ${turn}. ${'The pump ran without a fault. '.repeat(200)}`, `t${turn}`)
  await ask('The code word is PELICAN-7. Please keep it.', 'during')
  held.release()
  await until(async () => (await session.summary())?.compaction !== null)
  expect(await ask('What was the code word?', 'after')).toContain('PELICAN-7')
})

it('reads the reply with one query while others listen, in a fork too', async () => {
  const memory = openMemoryStore()
  const lists: unknown[] = []
  const ranges: (readonly [number, number])[] = []
  const store: Store = {
    ...memory,
    listMail: async (query) => {
      lists.push(query)
      return await memory.listMail(query)
    },
    readEntries: async (query) => {
      ranges.push([query.from, query.to])
      return await memory.readEntries(query)
    },
  }
  const { runtime } = await open({ store })
  const origin = runtime.session(sessionId('origin'))
  await runtime.createSession({ agent: 'main', id: origin.id })
  const stop = new AbortController()
  const others = runtime.events({}, stop.signal)[Symbol.asyncIterator]()
  await others.next()
  const ask = async (session: typeof origin, word: string) => {
    const { admission, reply } = await session.ask(say(`say ${word}`, word), soon())
    return [admission.kind, reply?.ended, reply?.text]
  }
  // The first messages of a session are preceded by reads of their own.
  for (const word of ['one', 'two']) await ask(origin, word)
  const { entries = 0 } = (await origin.summary()) ?? {}
  lists.length = 0
  ranges.length = 0
  expect(await ask(origin, 'three')).toEqual(['admitted', 'answered', 'three'])
  expect(lists).toEqual([])
  expect(ranges).toEqual([[entries + 2, entries + 3]])
  const id = sessionId('fork')
  expect(await origin.fork({ source: 'test', key: 'f', at: entries, id })).toMatchObject({
    kind: 'forked',
  })
  // Its mail has the numbers that the origin's had.
  expect(await ask(runtime.session(id), 'four')).toEqual(['admitted', 'answered', 'four'])
  expect(await ask(runtime.session(id), 'four')).toEqual(['duplicate', 'answered', 'four'])
  stop.abort()
  await others.return?.(null)
})
