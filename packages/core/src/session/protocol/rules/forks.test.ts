import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  ask,
  create,
  DIGEST,
  fill,
  host,
  rowOf,
  say,
} from '../../../../../../test/support/session-host.ts'
import { entryNumber, operationId, type SessionId, sessionId } from '../../../base/ids.ts'
import type { Store } from '../../../store/contract.ts'
import { buildContext, messagesOf } from '../../context/build.ts'
import type { HandoffWriter } from '../../handoff.ts'

/** Forks of sessions that run: what their models are shown, and what an erasure does to them. */
async function forkOf(store: Store, from: SessionId, at: number): Promise<SessionId> {
  const forked = await store.fork({
    ...{ id: sessionId(`fork-${randomUUID()}`), from, at: entryNumber(at) },
    ...{ source: 'test', key: randomUUID(), operation: operationId(randomUUID()) },
  })
  if (forked.kind !== 'forked') throw new Error(forked.kind)
  return forked.session.id
}

const wholeOf = async (store: Store, id: SessionId) => {
  const { tail } = await rowOf(store, id)
  return JSON.stringify(await store.readEntries({ sessionId: id, from: entryNumber(1), to: tail }))
}

describe('a fork', () => {
  it('shows its model the origin’s context at that entry, and then its own messages [I36]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await say(process.store, id, 'the first colour is red')
    await process.run(500)
    const at = (await rowOf(process.store, id)).tail
    const source = await process.store.readContext({ sessionId: id, upto: at })
    if (source === null) throw new Error('no context')
    const there = messagesOf(buildContext(source, source.limits, at))
    await say(process.store, id, 'the second colour is blue')
    await process.run(500)
    const fork = await forkOf(process.store, id, at)
    await say(process.store, fork, 'which colours?')
    await process.run(500)
    const shown = process.model.shown.at(-1)?.context ?? []
    expect(shown.slice(0, there.length)).toEqual(there)
    expect(JSON.stringify(shown)).toContain('which colours?')
    expect(JSON.stringify(shown)).not.toContain('blue')
    expect(await process.store.verify({})).toEqual([])
  })

  it('continues without the text that its origin erased, under a new handoff [I38, I39]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await say(process.store, id, 'the secret is BASALT')
    await process.run(500)
    await fill(process, id, 8)
    const fork = await forkOf(process.store, id, (await rowOf(process.store, id)).tail)
    await ask(process.store, fork, 'compact')
    await process.run(500)
    expect((await rowOf(process.store, fork)).effective).toBeGreaterThan(0)
    await ask(process.store, id, 'erase', { entries: [1] })
    await process.run(2_000)
    const row = await rowOf(process.store, fork)
    expect(row.owed).toEqual([])
    await say(process.store, fork, 'go on')
    await process.run(500)
    expect(JSON.stringify(process.model.shown.at(-1)?.context)).not.toContain('BASALT')
    expect(await wholeOf(process.store, fork)).not.toContain('BASALT')
    const [erasure] = await process.store.readEntries({
      ...{ sessionId: fork, from: entryNumber(1), to: row.tail, kind: 'erasure' },
    })
    expect(erasure?.kind === 'erasure' && erasure.meta.entries).toContain(1)
    expect(await process.store.verify({})).toEqual([])
  })

  it('continues under an empty handoff if none can be written [I38, I39]', async () => {
    let isFailing = false
    const digest: HandoffWriter = {
      write: async (...asked) =>
        isFailing ? { kind: 'failed', reason: 'too large' } : await DIGEST.write(...asked),
    }
    const process = host({ digest })
    const id = await create(process.store, 'a')
    await say(process.store, id, 'the secret is BASALT')
    await process.run(500)
    await fill(process, id, 8)
    const fork = await forkOf(process.store, id, (await rowOf(process.store, id)).tail)
    await ask(process.store, fork, 'compact')
    await process.run(500)
    isFailing = true
    await ask(process.store, id, 'erase', { entries: [1] })
    await process.run(2_000)
    await say(process.store, fork, 'go on')
    await process.run(500)
    const [handoff] = process.model.shown.at(-1)?.context ?? []
    expect(handoff).toMatchObject({
      role: 'handoff',
      handoff: { by: 'digest', summary: 'What was said here was erased.', preserved: [] },
    })
    expect(await process.store.verify({})).toEqual([])
  })

  it('does not erase an entry that another session keeps [I38]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await say(process.store, id, 'the secret is BASALT')
    await process.run(500)
    const fork = await forkOf(process.store, id, (await rowOf(process.store, id)).tail)
    await ask(process.store, fork, 'erase', { entries: [1] })
    await process.run(500)
    expect((await rowOf(process.store, fork)).pending.control).toBe(0)
    expect(await wholeOf(process.store, fork)).toContain('BASALT')
  })
})
