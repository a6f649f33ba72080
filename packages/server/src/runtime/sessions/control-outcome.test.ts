import { describe, expect, it } from 'vitest'
import { type SessionId, sessionId } from '#core/base/ids'
import { controlOutcome } from '#core/session/view/control-outcome'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import type { LocalRuntime } from '../open-runtime.ts'

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

it('finds the outcome of a control item however long ago it was admitted', async () => {
  const { store } = await open({ runs: false })
  const fixture = await StoreFixture.open(store)
  // Several times older than one read covers.
  for (let at = 0; at < 3 * LIST_MAX; at++) {
    await store.setTitle({ sessionId: fixture.id, title: `${at}` })
  }
  const control = { lane: 'control', control: 'pin', tokens: 0 } as const
  const mail = await fixture.admit({}, control)
  const pinned = { name: 'rule', change: 'set', body: 'x', tokens: 1, settles: [mail] } as const
  expect(await store.pin({ ...fixture.fenced(), ...pinned })).toMatchObject({ kind: 'appended' })
  const looks: number[] = []
  const counting: Store = {
    ...store,
    readAudit: (query) => {
      looks.push(query.after)
      return store.readAudit(query)
    },
  }
  const hub = {
    async *events() {
      yield { type: 'caught-up', cursor: 0, store: '' } as const
    },
  }
  const end = await controlOutcome(
    { store: counting, hub },
    { sessionId: fixture.id, mail },
    soon(),
  )
  expect(end).toEqual({ kind: 'done' })
  expect(looks).toHaveLength(1)
})

describe('a refused control item', () => {
  it('reports its reason: a pin that does not fit, and one that does not exist', async () => {
    const { runtime, store } = await open()
    const session = await make(runtime, 'pinned')
    const pin = async (name: string, text: string | null) =>
      await session.controlOutcome(mailOf(await session.pin({ ...once(), name, text })), soon())
    expect(await pin('rule', 'Never delete.')).toEqual({ kind: 'done' })
    const large = await pin('large', FILLER.repeat(20))
    const row = await store.findSession(session.id)
    const context = await store.readContext({ sessionId: session.id })
    const [, asked] = await store.listMail({ sessionId: session.id, lane: 'control', limit: 2 })
    const settings = context?.entries.find(({ kind }) => kind === 'settings')
    const sizes = [settings, row?.pins['rule'], asked].map((each) => each?.tokens ?? Number.NaN)
    expect(large).toEqual({
      ...{ kind: 'turned-down', why: 'no-room' },
      tokensAfter: sizes.reduce((sum, tokens) => sum + tokens),
      limit: row?.limits.pinTokens,
    })
    expect(await pin('gone', null)).toEqual({ kind: 'turned-down', why: 'unknown-pin' })
    expect((await session.summary())?.pins).toEqual(['rule'])
  })

  it('reports its reason: nothing to revert, and a revert that does not fit', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'reverted')
    const revert = async () =>
      await session.controlOutcome(mailOf(await session.revert(once())), soon())
    expect(await revert()).toEqual({ kind: 'turned-down', why: 'nothing-to-revert' })
    await fill(runtime, session.id, 7)
    const compacted = mailOf(await session.compact(once()))
    expect(await session.controlOutcome(compacted, soon())).toEqual({ kind: 'done' })
    await fill(runtime, session.id, 6)
    expect(await revert()).toMatchObject({ kind: 'turned-down', why: 'no-room' })
    expect((await session.summary())?.compaction).not.toBeNull()
  })

  it('reports its reason: another compaction than the one to undo is in effect', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'twice')
    for (const count of [7, 5]) {
      await fill(runtime, session.id, count)
      const asked = mailOf(await session.compact(once()))
      expect(await session.controlOutcome(asked, soon())).toEqual({ kind: 'done' })
    }
    const compaction = (await session.summary())?.compaction ?? undefined
    if (compaction === undefined) throw new Error('not compacted')
    // Two people at once: both saw the same compaction in effect.
    const both = [await session.revert({ ...once(), compaction })]
    both.push(await session.revert({ ...once(), compaction }))
    const ends = await Promise.all(both.map((each) => session.controlOutcome(mailOf(each), soon())))
    expect(ends).toEqual([{ kind: 'done' }, { kind: 'turned-down', why: 'out-of-date' }])
    expect((await session.summary())?.compaction).toBeLessThan(compaction)
  })

  it('reports its reason: nothing to compact', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'short')
    const asked = mailOf(await session.compact(once()))
    const end = { kind: 'turned-down', why: 'nothing-to-compact' }
    expect(await session.controlOutcome(asked, soon())).toEqual(end)
    // The answer is the same every time.
    expect(await session.controlOutcome(asked, soon())).toEqual(end)
  })

  it('reports its reason: an erasure whose handoff cannot be rewritten', async () => {
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
    await session.controlOutcome(mailOf(await session.compact(once())), soon())
    const purged = await session.purge({ entries: [2], reason: 'asked' })
    if (purged.kind !== 'asked') throw new Error(purged.kind)
    const mail = purged.asked[0]?.mail
    expect(mail && (await session.controlOutcome(mail, soon()))).toEqual({
      kind: 'turned-down',
      why: 'no-replacement',
    })
  })

  it('is null if there is no such item', async () => {
    const { runtime } = await open()
    const session = await make(runtime, 'none')
    expect(await session.controlOutcome(7 as never, soon())).toBeNull()
  })
})
