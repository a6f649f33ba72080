import { describe, expect, it } from 'vitest'
import type { Store } from '#core/store/contract'
import { FaultInjector, type PlannedFault } from './fault-injector.ts'

type Fault = Omit<PlannedFault, 'id'>

describe('a planned fault', () => {
  it.each([
    'admit',
    'renew',
    'acquire',
    'recover',
    'deliver',
    'commitReply',
    'commitResults',
    'claimCompaction',
    'commitCompaction',
    'claimReply',
    'settleReply',
  ] as const)('meets %s, and no other request', async (verb) => {
    const { ask, heard } = plan({ verb, fault: 'refuse' })
    const others = ['admit', 'renew'].filter((each) => each !== verb)
    for (const other of others) await ask(other, {})
    expect(heard).toEqual([])
    await expect(ask(verb, {})).rejects.toThrow('the rehearsal refused it')
    expect(heard).toEqual(['met one'])
  })

  it.each([
    ['its holder', { lease: { sessionId: 's' } }, { lease: { sessionId: 't' }, sessionId: 's' }],
    ['its name', { sessionId: 's' }, { sessionId: 't' }],
    ['the address of a message', { to: { sessionId: 's' } }, { to: {} }],
  ])('is meant for one session, found by %s', async (_what, own, other) => {
    const { ask, heard } = plan({ verb: 'admit', fault: 'refuse', sessionId: 's' })
    await ask('admit', other)
    await ask('admit', {})
    expect(heard).toEqual([])
    await expect(ask('admit', own)).rejects.toThrow('refused')
  })

  it('leaves every other verb of the store as it is', () => {
    const store = { readReady: async () => [] } as unknown as Store
    expect(new FaultInjector({ met: () => {}, repeated: () => {} }).over(store).readReady).toBe(
      store.readReady,
    )
  })

  it.each(['none', 'superseded', 'held', 'fence-changed', 'lost', 'joined', 'already'])(
    'waits for the next request if this one did nothing (%s)',
    async (kind) => {
      const { ask, heard, kinds } = plan({ verb: 'admit', fault: 'lose' })
      kinds.push(kind)
      expect(await ask('admit', {})).toEqual({ kind })
      expect(heard).toEqual([])
      await expect(ask('admit', {})).rejects.toThrow('the rehearsal lost the answer')
      expect(heard).toEqual(['met one'])
      expect(await ask('admit', {})).toEqual({ kind: 'done' })
    },
  )

  it('holds every request until it is released, if it is to stay', async () => {
    const { ask, asked, heard, injector } = plan({ verb: 'admit', fault: 'hold', stays: true })
    const both = [ask('admit', { at: 1 }), ask('admit', { at: 2 })]
    expect({ asked, heard }).toEqual({ asked: [], heard: ['met one', 'met one'] })
    injector.release('one')
    expect(await Promise.all(both)).toEqual([{ kind: 'done' }, { kind: 'done' }])
    await ask('admit', { at: 3 })
    expect(asked).toEqual([{ at: 1 }, { at: 2 }, { at: 3 }])
    expect(heard).toHaveLength(2)
  })

  it('is dropped when it is released before it was met', async () => {
    const { ask, injector } = plan({ verb: 'admit', fault: 'refuse' })
    injector.release('one')
    expect(await ask('admit', {})).toEqual({ kind: 'done' })
  })

  it('repeats a request as it was, and a claim as one of another claimant', async () => {
    const { ask, asked, heard, injector, kinds } = plan({ verb: 'admit', fault: 'repeat' })
    kinds.push('done', 'duplicate')
    await ask('admit', { key: 'k' })
    await expect.poll(() => heard).toEqual(['met one', 'repeated one: duplicate'])
    injector.arm({ id: 'two', verb: 'claimCompaction', fault: 'repeat' })
    await ask('claimCompaction', { operation: 'a-1', upto: 4 })
    await expect.poll(() => heard.slice(2)).toEqual(['met two', 'repeated two: done'])
    expect(asked).toEqual([
      ...[{ key: 'k' }, { key: 'k' }],
      ...[
        { operation: 'a-1', upto: 4 },
        { operation: 'a-1-again', upto: 4 },
      ],
    ])
  })

  it('reports the error of a repeated request', async () => {
    const { ask, heard, kinds } = plan({ verb: 'admit', fault: 'repeat' })
    kinds.push('done', '!')
    await ask('admit', {})
    await expect.poll(() => heard).toEqual(['met one', 'repeated one: Error: too late'])
  })
})

/** A store that answers with these kinds, then with `done`; `!` throws. */
function plan(fault: Fault) {
  const heard: string[] = []
  const asked: unknown[] = []
  const kinds: string[] = []
  const injector = new FaultInjector({
    met: ({ id }) => heard.push(`met ${id}`),
    repeated: ({ id }, outcome) => heard.push(`repeated ${id}: ${outcome}`),
  })
  const answer = async (request: unknown) => {
    asked.push(request)
    const kind = kinds.shift() ?? 'done'
    if (kind === '!') throw new Error('too late')
    return { kind }
  }
  const store = injector.over(new Proxy({}, { get: () => answer }) as Store)
  injector.arm({ id: 'one', ...fault })
  const ask = (verb: string, request: object) =>
    (store as unknown as { [verb: string]: typeof answer })[verb]?.(request)
  return { injector, heard, asked, kinds, ask }
}
