import { describe, expect, it } from 'vitest'
import {
  ask,
  create,
  DIGEST,
  fill,
  host,
  preview,
  rowOf,
  SETTINGS,
  say,
} from '../../../../test/support/session-host.ts'
import type { HandoffWriter } from './handoff.ts'

/** Erasures of text that a handoff repeats, while other changes replace the handoff in effect. */

/** A writer that can be held up. */
function gated() {
  let gate = Promise.resolve()
  const writer: HandoffWriter = {
    async write(request, signal) {
      await gate
      return await DIGEST.write(request, signal)
    },
  }
  const close = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }
  return { writer, close }
}

type Process = ReturnType<typeof host>
type Id = Awaited<ReturnType<typeof create>>

async function compacted(process: Process, id: Id) {
  await ask(process.store, id, 'compact')
  await process.run(500)
  const row = await rowOf(process.store, id)
  expect(row.effective).toBeGreaterThan(0)
  return row
}

async function allOf({ store }: Process, id: Id) {
  const { tail } = await rowOf(store, id)
  return await store.readEntries({ sessionId: id, from: 1 as never, to: tail })
}

const wholeOf = async (process: Process, id: Id) => JSON.stringify(await allOf(process, id))

describe('an erasure of words that a handoff repeats', () => {
  it('keeps what another compaction covered while its own handoff was written', async () => {
    const [model, digest] = [gated(), gated()]
    const process = host({ writer: model.writer, digest: digest.writer })
    const id = await create(process.store, 'a')
    await say(process.store, id, 'the secret is BASALT')
    await process.run(500)
    await fill(process, id, 8)
    const first = await compacted(process, id)
    await say(process.store, id, 'remember src/granite/between.ts')
    await process.run(500)
    await fill(process, id, 8)
    const [openModel, openDigest] = [model.close(), digest.close()]
    await ask(process.store, id, 'compact')
    await ask(process.store, id, 'erase', { entries: [1] })
    // Shorter than the session lingers: after another acquisition it would write again anyway.
    await process.run(150)
    openModel()
    await process.run(150)
    const second = await rowOf(process.store, id)
    expect(second.effective).toBeGreaterThan(first.effective)
    openDigest()
    await process.run(2_000)
    const row = await rowOf(process.store, id)
    expect([row.pending.control, row.covers]).toEqual([0, second.covers])
    await say(process.store, id, 'which file?')
    await process.run(500)
    expect(JSON.stringify(process.model.shown.at(-1)?.context)).toContain('src/granite/between.ts')
    expect(await wholeOf(process, id)).not.toContain('BASALT')
  })

  it('does not bring back what another erasure removed meanwhile', async () => {
    const digest = gated()
    const process = host({ digest: digest.writer })
    const id = await create(process.store, 'a')
    await fill(process, id, 9)
    await compacted(process, id)
    const input = { todos: [{ content: 'call OBSIDIAN back', status: 'pending' }] }
    const call = { type: 'tool-call', id: 't1', name: 'todo', input } as const
    let isAsked = false
    process.model.answer = async () => {
      const parts = isAsked ? [{ type: 'text', text: 'ok' } as const] : [call]
      isAsked = true
      return { kind: 'replied', message: { role: 'assistant', parts }, tokens: 20 }
    }
    await say(process.store, id, 'make a list')
    await process.run(500)
    const list = (await allOf(process, id)).find(({ body }) => body?.includes('OBSIDIAN'))
    const open = digest.close()
    await ask(process.store, id, 'erase', { entries: [1] })
    await process.run(500)
    await ask(process.store, id, 'erase', { entries: [list?.number ?? 0] })
    await process.run(500)
    expect(await wholeOf(process, id)).not.toContain('OBSIDIAN')
    open()
    await process.run(2_000)
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
    expect(await wholeOf(process, id)).not.toContain('OBSIDIAN')
  })

  it('does not delay others when it is withdrawn meanwhile', async () => {
    const digest = gated()
    const process = host({ digest: digest.writer })
    const { store } = process
    const id = await create(store, 'a')
    await fill(process, id, 9)
    await compacted(process, id)
    await process.run(2 * SETTINGS.lingerMs)
    const open = digest.close()
    await ask(store, id, 'erase', { entries: [1] })
    await process.run(150)
    const [mail] = await store.listMail({
      sessionId: id,
      lane: 'control',
      state: 'pending',
      limit: 1,
    })
    if (mail !== undefined) await store.withdraw({ sessionId: id, mail: mail.number })
    await ask(store, id, 'erase', { entries: [2] })
    await process.run(100)
    open()
    // Shorter than the session lingers: after another acquisition it would start again anyway.
    await process.run(200)
    expect((await rowOf(store, id)).pending.control).toBe(0)
  })

  it('holds its session while the digest is written, however long that takes [I25]', async () => {
    const digest = gated()
    const process = host({ digest: digest.writer })
    const id = await create(process.store, 'a')
    await fill(process, id, 9)
    await compacted(process, id)
    const open = digest.close()
    await ask(process.store, id, 'erase', { entries: [1] })
    await process.run(150)
    const before = await rowOf(process.store, id)
    await process.run(4 * SETTINGS.lingerMs)
    const after = await rowOf(process.store, id)
    expect([after.runner, after.fence]).toEqual([before.runner, before.fence])
    open()
    await process.run(200)
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
  })

  it('releases its session only once the digest is written, even when the process closes [I25]', async () => {
    const digest = gated()
    const process = host({ digest: digest.writer })
    const id = await create(process.store, 'a')
    await fill(process, id, 9)
    await compacted(process, id)
    const open = digest.close()
    await ask(process.store, id, 'erase', { entries: [1] })
    await process.run(150)
    const { runner } = await rowOf(process.store, id)
    const closed = process.runner.close()
    await process.run(500)
    expect((await rowOf(process.store, id)).runner).toBe(runner)
    open()
    await process.run(500)
    await closed
    const row = await rowOf(process.store, id)
    // The request waits for the next holder of the session.
    expect([row.runner, row.pending.control]).toEqual([null, 1])
  })

  it('may name the handoff itself in its range', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id, 9)
    const { covers, effective } = await compacted(process, id)
    await say(process.store, id, 'the secret is BASALT')
    await process.run(500)
    const { tail } = await rowOf(process.store, id)
    const entries = Array.from({ length: tail - covers }, (_, index) => covers + 1 + index)
    expect(entries).toContain(effective)
    await ask(process.store, id, 'erase', { entries })
    await process.run(2_000)
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
    expect(await wholeOf(process, id)).not.toContain('BASALT')
  })

  it.each(['erase', 'revert'])('continues above an erased handoff: %s', async (control) => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id, 9)
    const first = await compacted(process, id)
    const second = await installed(process, id)
    expect(second.covers).toBeLessThan(first.effective)
    await ask(process.store, id, 'erase', { entries: [first.effective] })
    await process.run(2_000)
    await ask(process.store, id, control, control === 'erase' ? { entries: [second.covers] } : {})
    await process.run(2_000)
    await say(process.store, id, 'still there?')
    await process.run(500)
    expect(process.crashes).toEqual([])
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
    expect(process.model.last.at(-1)).toBe('still there?')
    expect(await process.store.verify({})).toEqual([])
  })
})

/** A second handoff that covers a little more than the first, as a person installs it. */
async function installed(process: Process, id: Id) {
  const settings = { ...SETTINGS, sections: { keepTokens: 100 } }
  await ask(process.store, id, 'install', await preview(process, id, settings))
  await process.run(500)
  return await rowOf(process.store, id)
}
