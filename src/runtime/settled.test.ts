import { describe, expect, it } from 'vitest'
import { mailOf, open, say, soon } from '../../test/support/runtime-place.ts'
import { type SessionId, sessionId } from '../base/ids.ts'
import type { LocalRuntime } from './open-runtime.ts'

const FILLER = 'the river is wide and slow here. '.repeat(120)

async function make(runtime: LocalRuntime, id: string) {
  await runtime.createSession({ agent: 'main', id })
  return runtime.session(sessionId(id))
}

async function fill(runtime: LocalRuntime, id: SessionId, count: number): Promise<void> {
  const session = runtime.session(id)
  for (let n = 1; n <= count; n++) {
    const admission = await session.admit(say(`${n}: ${FILLER}`, crypto.randomUUID()))
    await session.reply(mailOf(admission), soon())
  }
}

const once = () => ({ source: 'test', key: crypto.randomUUID() })

describe('a control item that was turned down', () => {
  it('is told with its reason: a pin that does not fit, and one that is not there', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'pinned')
    const pin = async (name: string, text: string | null) =>
      await session.settled(mailOf(await session.pin({ ...once(), name, text })), soon())
    expect(await pin('rule', 'Never delete.')).toEqual({ kind: 'done' })
    expect(await pin('large', FILLER.repeat(20))).toMatchObject({
      kind: 'turned-down',
      why: 'no-room',
      tokensAfter: expect.any(Number),
      limit: expect.any(Number),
    })
    expect(await pin('gone', null)).toEqual({ kind: 'turned-down', why: 'unknown-pin' })
    expect((await session.summary())?.pins).toEqual(['rule'])
  })

  it('is told with its reason: a revert of nothing, and one without room', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'reverted')
    const revert = async () => await session.settled(mailOf(await session.revert(once())), soon())
    expect(await revert()).toEqual({ kind: 'turned-down', why: 'nothing-to-revert' })
    await fill(runtime, session.id, 7)
    const compacted = mailOf(await session.compact(once()))
    expect(await session.settled(compacted, soon())).toEqual({ kind: 'done' })
    await fill(runtime, session.id, 6)
    expect(await revert()).toMatchObject({ kind: 'turned-down', why: 'no-room' })
    expect((await session.summary())?.compaction).not.toBeNull()
  })

  it('is told with its reason: a compaction of nothing', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'short')
    const asked = mailOf(await session.compact(once()))
    const end = { kind: 'turned-down', why: 'nothing-to-compact' }
    expect(await session.settled(asked, soon())).toEqual(end)
    // However often it is asked.
    expect(await session.settled(asked, soon())).toEqual(end)
  })

  it('is told with its reason: an erasure whose handoff cannot be written anew', async () => {
    const { runtime } = await open({
      seams: {
        writer: (writer) => ({
          write: async (request, signal) =>
            request.operation.reason === 'erasure'
              ? { kind: 'failed', reason: 'no' }
              : await writer.write(request, signal),
        }),
      },
    })
    const session = await make(runtime, 'erased')
    await fill(runtime, session.id, 6)
    await session.settled(mailOf(await session.compact(once())), soon())
    const purged = await session.purge({ entries: [2], reason: 'asked' })
    if (purged.kind !== 'asked') throw new Error(purged.kind)
    const [mail] = purged.mail
    expect(mail && (await session.settled(mail, soon()))).toEqual({
      kind: 'turned-down',
      why: 'no-replacement',
    })
  })

  it('is nobody’s when there is no such item', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'none')
    expect(await session.settled(7 as never, soon())).toBeNull()
  })
})
