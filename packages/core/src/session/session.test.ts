import { describe, expect, it } from 'vitest'
import { Timeline } from '../../../../test/simulation/timeline.ts'
import {
  ask,
  create,
  DIGEST,
  fill,
  host,
  rowOf,
  SETTINGS,
  say,
  says,
} from '../../../../test/support/session-host.ts'
import { textOf } from '../message/text.ts'
import { StoreBusyError } from '../store/errors.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import type { HandoffWriter } from './handoff.ts'
import { previewCompaction } from './preview.ts'
import type { StepOutcome } from './step.ts'

describe('a session', () => {
  it('answers a message once, and releases its lease when it has nothing left to do', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await say(process.store, id, 'hello')
    await process.run(3_000)
    expect(process.model.shown.map((step) => step.context.map(textOf))).toEqual([['hello']])
    expect(process.sent).toEqual(['a: {"text":"ok"}'])
    expect(await rowOf(process.store, id)).toMatchObject({ runner: null, turnState: 'idle' })
  })

  it('keeps its id over a compaction, and delivers later messages [S17, D2, D3]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    await ask(process.store, id, 'compact')
    await process.run(500)
    const row = await rowOf(process.store, id)
    expect(row.id).toBe(id)
    expect(row.effective).toBeGreaterThan(0)
    expect(row.pending).toEqual({ control: 0, user: 0, notification: 0 })
    await say(process.store, id, 'still there?')
    await process.run(500)
    expect(process.model.shown.at(-1)?.context.map(({ role }) => role)).toContain('handoff')
    expect(process.model.last.at(-1)).toBe('still there?')
    expect(await process.store.verify({})).toEqual([])
  })

  it('never mixes two sessions when one is compacted while the other receives a message', async () => {
    const process = host()
    const a = await create(process.store, 'a')
    const b = await create(process.store, 'b')
    await fill(process, a)
    await ask(process.store, a, 'compact')
    for (let n = 0; n < 10; n++) await say(process.store, b, `to b ${n}`)
    await process.run(1_000)
    expect((await rowOf(process.store, a)).effective).toBeGreaterThan(0)
    expect((await rowOf(process.store, b)).effective).toBe(0)
    for (const step of process.model.shown) {
      const other = step.sessionId === a ? '(b ' : '(a '
      expect(step.context.map(textOf).join('\n')).not.toContain(other)
    }
  })

  it('joins five requests for a compaction into one [S18, D5, fault 27]', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    const before = (await process.store.listOperations({ sessionId: id, limit: 50 })).length
    for (let n = 0; n < 5; n++) await ask(process.store, id, 'compact')
    await process.run(1_000)
    const after = await process.store.listOperations({ sessionId: id, limit: 50 })
    expect(after.length - before).toBe(1)
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
  })

  it('continues with a digest when no model can write the handoff, and has it rewritten later', async () => {
    let isDown = true
    const writer: HandoffWriter = {
      write: async (request, signal) =>
        isDown ? { kind: 'failed', reason: 'down' } : await DIGEST.write(request, signal),
    }
    const process = host({ writer })
    const id = await create(process.store, 'a')
    await fill(process, id, 70)
    const operations = await process.store.listOperations({ sessionId: id, limit: 50 })
    expect(
      operations.filter((row) => row.by === 'digest' && row.state === 'committed'),
    ).not.toEqual([])
    expect(process.model.last.at(-1)).toContain('(a 69)')
    isDown = false
    await process.run(120_000)
    expect((await rowOf(process.store, id)).by).toBe('rewrite')
  })

  it('reverts the newest compaction and shows the words again', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id, 8)
    await ask(process.store, id, 'compact')
    await process.run(500)
    expect((await rowOf(process.store, id)).effective).toBeGreaterThan(0)
    await ask(process.store, id, 'revert')
    await process.run(500)
    expect((await rowOf(process.store, id)).effective).toBe(0)
    await say(process.store, id, 'and now?')
    await process.run(500)
    expect(process.model.last.join('\n')).toContain('(a 0)')
  })

  it('reverts even when the store is busy during a delivery, and shows each message once [I3]', async () => {
    const store = openMemoryStore()
    const measured = Promise.withResolvers<void>()
    const delivered = Promise.withResolvers<void>()
    let isBusy = false
    const process = host({
      store: Object.assign(Object.create(store) as typeof store, {
        async readEntries(query: Parameters<typeof store.readEntries>[0]) {
          if (query.kind !== 'revert' || !isBusy) return await store.readEntries(query)
          isBusy = false
          await measured.promise
          throw new StoreBusyError({ waitedMs: 5, problem: 'locked' })
        },
        async deliver(request: Parameters<typeof store.deliver>[0]) {
          const outcome = await store.deliver(request)
          if (request.mail.length > 1) await delivered.promise
          return outcome
        },
      }),
    })
    const id = await create(store, 'a')
    await fill(process, id, 8)
    await ask(store, id, 'compact')
    await process.run(500)
    isBusy = true
    await ask(store, id, 'revert')
    await say(store, id, 'first')
    await say(store, id, 'second')
    await process.run(200)
    expect((await rowOf(store, id)).turnState).toBe('running')
    measured.resolve()
    await process.run(2_000)
    // Nothing is decided before the delivery has ended.
    expect(process.model.last).not.toContain('second')
    delivered.resolve()
    await process.run(2_000)
    const turn = process.model.shown.find(({ context }) =>
      context.slice(-1).some((message) => textOf(message) === 'second'),
    )
    expect(turn?.context.map(textOf).slice(-2)).toEqual(['first', 'second'])
    expect(await rowOf(store, id)).toMatchObject({ effective: 0, pending: { control: 0 } })
    expect(process.crashes).toEqual([])
  })

  it('calls no writer for a handoff that was abandoned while its source was read [I25]', async () => {
    const store = openMemoryStore()
    const opened = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    let [asked, held] = [0, 0]
    const writer: HandoffWriter = {
      write: async () => {
        asked++
        return { kind: 'failed', reason: 'down' }
      },
    }
    const process = host({
      writer,
      store: Object.assign(Object.create(store) as typeof store, {
        async readEntries(query: Parameters<typeof store.readEntries>[0]) {
          // A digest is never summarized, so the rewrite of one reads everything again.
          const isSource = query.kind === 'revert' && asked > 0
          if (isSource && ++held > 1) await opened.promise
          return await store.readEntries(query)
        },
        async release(request: Parameters<typeof store.release>[0]) {
          const outcome = await store.release(request)
          await answered.promise
          return outcome
        },
      }),
    })
    const id = await create(store, 'a')
    await fill(process, id, 8)
    await ask(store, id, 'compact')
    for (let second = 0; second < 20 && held < 2; second++) await process.run(1_000)
    expect([(await rowOf(store, id)).by, held]).toEqual(['digest', 2])
    const before = asked
    const closed = process.runner.close()
    await process.run(200)
    // Given back, and the answer to that still on its way.
    expect((await rowOf(store, id)).runner).toBe(null)
    opened.resolve()
    await process.run(200)
    answered.resolve()
    await process.run(200)
    await closed
    expect(asked).toBe(before)
  })

  it('previews without a trace, and installs exactly what was shown', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    const { store } = process
    const before = await rowOf(store, id)
    const request = { store, writer: DIGEST, settings: SETTINGS, sessionId: id }
    const preview = await previewCompaction(request, new AbortController().signal)
    if (preview.kind !== 'previewed') throw new Error(preview.kind)
    expect(preview.tokensAfter).toBeLessThan(preview.tokensBefore)
    expect(await rowOf(store, id)).toEqual(before)
    await ask(store, id, 'install', preview.install)
    await process.run(500)
    const { effective } = await rowOf(store, id)
    const [entry] = await store.readEntries({ sessionId: id, from: effective, to: effective })
    expect(JSON.parse(entry?.body ?? '')).toEqual(JSON.parse(JSON.stringify(preview.handoff)))
    await ask(store, id, 'install', preview.install)
    await process.run(500)
    expect(await rowOf(store, id)).toMatchObject({ effective, pending: { control: 0 } })
  })

  it('does not install a preview if the session changed below it', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id, 8)
    const { store } = process
    const request = { store, writer: DIGEST, settings: SETTINGS, sessionId: id }
    const preview = await previewCompaction(request, new AbortController().signal)
    if (preview.kind !== 'previewed') throw new Error(preview.kind)
    for (const control of ['compact', 'revert']) {
      await ask(store, id, control)
      await process.run(500)
    }
    await ask(store, id, 'install', preview.install)
    await process.run(500)
    expect(await rowOf(store, id)).toMatchObject({ effective: 0, pending: { control: 0 } })
  })

  it('is taken over when its process falls silent, and finds the zombie refused [S29, fault 20]', async () => {
    const store = openMemoryStore()
    const timeline = new Timeline()
    const first = host({ store, timeline, name: 'first' })
    const id = await create(store, 'a')
    const { promise, resolve } = Promise.withResolvers<StepOutcome>()
    first.model.answer = () => promise
    await say(store, id, 'hello')
    await first.run(1_000)
    expect(first.model.shown).toHaveLength(1)
    // The first process is suspended: its runner no longer renews its lease.
    await store.dismissRunner({
      runner: (await store.listRunners())[0]?.id ?? ('' as never),
      beat: (await store.listRunners())[0]?.beat ?? 0,
    })
    const second = host({ store, timeline, name: 'second' })
    await second.run(300)
    resolve(says('too late'))
    await second.run(3_000)
    const row = await rowOf(store, id)
    const said = await store.readEntries({ sessionId: id, from: 1 as never, to: row.tail })
    expect(said.filter((entry) => entry.kind === 'assistant').map((entry) => entry.body)).toEqual([
      expect.stringContaining('"ok"'),
    ])
  })

  it('releases everything when its process closes, even in the middle of a step', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    process.model.answer = (_request, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () =>
          resolve({ kind: 'interrupted', message: null, tokens: 0 }),
        )
      })
    await say(process.store, id, 'hello')
    await process.run(500)
    const closed = process.runner.close()
    await process.run(500)
    await closed
    expect(await rowOf(process.store, id)).toMatchObject({ runner: null, turnState: 'running' })
    expect(await process.store.listRunners()).toEqual([])
  })

  it("ends one actor for a programmer's error, and the process answers others", async () => {
    const process = host()
    const a = await create(process.store, 'a')
    const b = await create(process.store, 'b')
    process.model.answer = async ({ sessionId: id }) => {
      if (id === a) throw new TypeError('planted')
      return says('ok')
    }
    await say(process.store, a, 'hello')
    await say(process.store, b, 'hello')
    await process.run(5_000)
    expect(process.crashes[0]).toBeInstanceOf(TypeError)
    expect(process.sent).toContain('b: {"text":"ok"}')
    // Three times is enough: the turn is given up and says so.
    expect(process.sent.some((line) => line.startsWith('a: ') && line.includes('abruptly'))).toBe(
      true,
    )
    expect((await rowOf(process.store, a)).turnState).toBe('idle')
  })
})
