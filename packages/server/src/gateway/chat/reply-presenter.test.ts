import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { Platform, Sent } from './platform.ts'
import { type Drafts, ReplyPresenter } from './reply-presenter.ts'

/** A platform and a store that record calls and answer when the test releases them. */
function fixture(nonce: boolean) {
  const log: string[] = []
  const stored: (() => void)[] = []
  const send = async ({ address }: { address: string }): Promise<Sent> => {
    log.push(`send ${address}`)
    return { kind: 'sent', id: `id-${address}` }
  }
  const platform: Platform = {
    ...{ name: 'test', account: 'one', start: () => {}, send, edit: send },
    remove: async ({ id }) => ({ kind: 'sent', id }),
    showTyping: async () => {},
    close: async () => {},
    capabilities: {
      ...{ edits: true, threads: false, images: false, nonce },
      ...{ lengthMax: 100, editEveryMs: 1, typingMs: 1 },
    },
  }
  const drafts: Drafts = {
    putDraft: ({ ids }) => {
      log.push(`note ${ids}`)
      return new Promise((resolve) => void stored.push(() => resolve({ kind: 'done' })))
    },
    findDraft: async () => undefined,
    listReplies: async () => [],
  }
  const showing = new ReplyPresenter({ platform, drafts, clock: systemClock })
  const show = (address: string) => {
    const key = { sessionId: `s-${address}` as SessionId, key: `k-${address}` }
    return showing.show({ ...key, address, text: 'hello', isFinal: true })
  }
  return { log, stored, show }
}

const rest = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('ReplyPresenter', () => {
  it('without nonces, sends no message in any chat before the id of the last one is durable', async () => {
    const { log, stored, show } = fixture(false)
    const results = [show('a'), show('b')]
    await rest()
    expect(log).toEqual(['send a', 'note id-a'])
    stored.shift()?.()
    await rest()
    expect(log).toEqual(['send a', 'note id-a', 'send b', 'note id-b'])
    stored.shift()?.()
    expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['presented', 'presented'])
  })

  it('with nonces, which prevent duplicates, sends to several chats at once', async () => {
    const { log, stored, show } = fixture(true)
    const results = [show('a'), show('b')]
    await rest()
    expect(log.toSorted()).toEqual(['note id-a', 'note id-b', 'send a', 'send b'])
    for (const store of stored) store()
    await Promise.all(results)
  })

  /** A reply of which an earlier process has sent three messages. */
  function shrinking(
    remove: Platform['remove'],
    ids: readonly string[] = ['1', '2', '3'],
    isFinal = true,
  ) {
    const log: string[] = []
    const platform = {
      capabilities: { lengthMax: 100, nonce: true },
      send: async ({ nonce }) => {
        log.push(`send ${nonce}`)
        return { kind: 'sent', id: 'found' }
      },
      edit: async ({ id, text }) => {
        log.push(`edit ${id} ${text}`)
        return { kind: 'sent', id }
      },
      remove: async (message) => {
        log.push(`remove ${message.id}`)
        return await remove(message)
      },
    } as Partial<Platform> as Platform
    const drafts: Drafts = {
      putDraft: async ({ ids }) => {
        log.push(`note ${ids}`)
        return { kind: 'done' }
      },
      findDraft: async (draft) => ({ ...draft, ids, at: 0 }),
      listReplies: async () => [],
    }
    const showing = new ReplyPresenter({ platform, drafts, clock: systemClock })
    const said = { sessionId: 's' as SessionId, key: 'k', address: 'a', isFinal }
    return { log, show: (text: string) => showing.show({ ...said, text }) }
  }

  it('removes previews beyond the complete reply, and all of them if there is no reply', async () => {
    const { log, show } = shrinking(async ({ id }) => ({ kind: 'sent', id }))
    expect(await show('short')).toEqual({ kind: 'presented', receipt: '1' })
    expect(log).toEqual(['edit 1 short', 'remove 3', 'note 1,2', 'remove 2', 'note 1'])
    const nothing = shrinking(async ({ id }) => ({ kind: 'sent', id }))
    expect(await nothing.show('')).toEqual({ kind: 'presented', receipt: '' })
    expect(nothing.log.filter((line) => line.startsWith('remove'))).toHaveLength(3)
  })

  it('finds a sent but unrecorded message by its nonce and removes it with the rest', async () => {
    const removed: Platform['remove'] = async ({ id }) => ({ kind: 'sent', id })
    const growing = shrinking(removed, ['1'], false)
    await growing.show('word '.repeat(30))
    expect(growing.log.slice(1)).toEqual(['note 1,', 'send k-1', 'note 1,found'])
    const died = shrinking(removed, ['1', ''])
    expect(await died.show('short')).toEqual({ kind: 'presented', receipt: '1' })
    const found = ['send k-1', 'note 1,found', 'remove found', 'note 1']
    expect(died.log).toEqual(['edit 1 short', ...found])
  })

  it('blanks a message that cannot be removed, and waits when the platform asks for it', async () => {
    const stays = shrinking(async () => ({ kind: 'failed', why: 'final', text: '' }))
    expect(await stays.show('short')).toEqual({ kind: 'presented', receipt: '1' })
    expect(stays.log).toContain('edit 3 …')
    const failed = { kind: 'failed', why: 'rate', retryAfterMs: 5_000, text: '' } as const
    const delays = shrinking(async () => failed)
    expect(await delays.show('short')).toEqual({ kind: 'failed', retryAfterMs: 5_000 })
  })

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 1e15])(
    'bounds a requested delay of %d ms from both sides',
    async (retryAfterMs) => {
      const failed = { kind: 'failed', why: 'rate', retryAfterMs, text: '' } as const
      const results = await shrinking(async () => failed).show('short')
      const delays = results.kind === 'failed' ? (results.retryAfterMs ?? 0) : 0
      expect(delays).toBeGreaterThanOrEqual(1_000)
      expect(delays).toBeLessThanOrEqual(3_600_000)
    },
  )
})

/** A presenter over a platform with scripted answers and a store that keeps drafts; all is noted. */
function stage({
  answers = [] as readonly (Sent | null)[],
  drafts: known = {} as Readonly<Record<string, readonly string[]>>,
  waiting = [] as readonly string[],
  lengthMax = 12,
  nonce = true,
} = {}) {
  const log: unknown[] = []
  let now = 0
  let asked = 0
  let made = 0
  const answer = (id: string | null, ...what: readonly unknown[]): Sent => {
    log.push(what)
    const scripted = answers[asked++] ?? null
    return scripted ?? { kind: 'sent', id: id ?? `m${++made}` }
  }
  const platform = {
    capabilities: { lengthMax, nonce },
    send: async (out) => answer(null, 'send', out.address, out.text, out.nonce),
    edit: async (out) => answer(out.id, 'edit', out.address, out.id, out.text, out.nonce),
    remove: async ({ address, id }) => answer(id, 'remove', address, id),
  } as Partial<Platform> as Platform
  const kept = new Map(Object.entries(known))
  const drafts: Drafts = {
    putDraft: async ({ sessionId, key, ids }) => {
      log.push(['keep', sessionId, key, ...ids])
      if (ids.length === 0) kept.delete(key)
      else kept.set(key, ids)
      return { kind: 'done' }
    },
    findDraft: async (draft) => {
      const ids = kept.get(draft.key)
      return ids === undefined ? undefined : { ...draft, ids, at: 0 }
    },
    listReplies: async (query) => {
      log.push(['waiting', query])
      return waiting.map((key) => ({ key })) as never
    },
  }
  const clock = { now: () => now, monotonic: () => now, after: () => () => {} }
  const presenter = new ReplyPresenter({ platform, drafts, clock })
  const said = { sessionId: 's' as SessionId, key: 'k', address: 'a' }
  const told = () => log.splice(0)
  const show = async (text: string, isFinal = true, fields = {}) => [
    await presenter.show({ ...said, text, isFinal, ...fields }),
    ...told(),
  ]
  const giveUp = async (text: string) => {
    await presenter.giveUp({ ...said, text })
    return told()
  }
  const say = async (address = 'a') => [
    await presenter.say({ address, text: 'Hi.', nonce: 'n' }),
    ...told(),
  ]
  const pass = (ms: number) => {
    now += ms
  }
  return { show, giveUp, say, pass, kept, told }
}

const failed = (why: 'rate' | 'outage' | 'final' | 'gone', retryAfterMs?: number): Sent => ({
  ...{ kind: 'failed', why, text: 'no' },
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})
const presented = (receipt: string) => ({ kind: 'presented', receipt })
const WAITING = ['waiting', { sessionId: 's', state: 'waiting', limit: 1 }]
const ANSWERED = ['waiting', { sessionId: 's', state: 'waiting', limit: 100 }]

describe('a reply on its way to its chat', () => {
  it('grows from preview to reply in the same messages, and only what changed is edited', async () => {
    const { show } = stage()
    expect(await show('one', false)).toEqual([
      ...[presented('m1'), WAITING, ['send', 'a', 'one', 'k-0'], ['keep', 's', 'k', 'm1']],
    ])
    expect(await show('one two three', false)).toEqual([
      ...[presented('m2'), ['edit', 'a', 'm1', 'one two', 'k-0'], ['keep', 's', 'k', 'm1', '']],
      ...[
        ['send', 'a', 'three', 'k-1'],
        ['keep', 's', 'k', 'm1', 'm2'],
      ],
    ])
    expect(await show('one two three', false)).toEqual([presented('m2')])
    expect(await show('one', false)).toEqual([
      ...[presented('m2'), ['edit', 'a', 'm1', 'one', 'k-0'], ['edit', 'a', 'm2', '…', 'k-1']],
    ])
    expect(await show('one two four five six')).toEqual([
      ...[
        presented('m3'),
        ['edit', 'a', 'm1', 'one two', 'k-0'],
        ['edit', 'a', 'm2', 'four', 'k-1'],
      ],
      ...[
        ['send', 'a', 'five six', 'k-2'],
        ['keep', 's', 'k', 'm1', 'm2', 'm3'],
      ],
    ])
    // Nothing comes after the complete reply.
    expect(await show('late', false)).toEqual([{ kind: 'failed' }])
  })

  it('has a place announced for it only by a platform with nonces, and not for the reply', async () => {
    const plain = stage({ nonce: false })
    await plain.show('one', false)
    expect(await plain.show('one two three', false)).toEqual([
      ...[presented('m2'), ['edit', 'a', 'm1', 'one two', 'k-0']],
      ...[
        ['send', 'a', 'three', 'k-1'],
        ['keep', 's', 'k', 'm1', 'm2'],
      ],
    ])
  })

  it('is restored from its draft by another process, and once only', async () => {
    const { show } = stage({ drafts: { k: ['x', 'y'] } })
    expect(await show('one two three', false)).toEqual([
      ...[presented('y'), ['edit', 'a', 'x', 'one two', 'k-0'], ['edit', 'a', 'y', 'three', 'k-1']],
    ])
    expect(await show('one two fourth')).toEqual([
      ...[presented('y'), ['edit', 'a', 'y', 'fourth', 'k-1']],
    ])
  })

  it('is not previewed while an earlier one waits', async () => {
    const { show } = stage({ waiting: ['earlier'] })
    expect(await show('one', false)).toEqual([{ kind: 'failed' }, WAITING])
    expect(await show('one')).toEqual([
      ...[presented('m1'), ['send', 'a', 'one', 'k-0'], ['keep', 's', 'k', 'm1']],
    ])
  })

  it('is sent again where a person removed it', async () => {
    const { show } = stage({ drafts: { k: ['x'] }, answers: [failed('gone')] })
    expect(await show('one')).toEqual([
      ...[presented('m1'), ['edit', 'a', 'x', 'one', 'k-0']],
      ...[
        ['send', 'a', 'one', 'k-0'],
        ['keep', 's', 'k', 'm1'],
      ],
    ])
  })

  it.each<[string, Sent, object, number]>([
    ['asks for a pause', failed('rate', 5_000), { retryAfterMs: 5_000 }, 5_000],
    ['asks for less of it', failed('rate'), { retryAfterMs: 10_000 }, 10_000],
    ['is away', failed('outage'), { retryAfterMs: 10_000 }, 10_000],
    ['is away and says for how long', failed('outage', 70), { retryAfterMs: 70 }, 70],
    ['will never take it', failed('final'), { isFinal: true, why: 'no' }, 0],
    ['has no such place', failed('gone'), { isFinal: true, why: 'no' }, 0],
  ])('waits if the platform %s', async (_what, answer, failure, heldMs) => {
    const { show, pass } = stage({ answers: [answer] })
    const attempt = ['send', 'a', 'one', 'k-0']
    expect(await show('one')).toEqual([{ kind: 'failed', ...failure }, attempt])
    if (heldMs > 1) {
      pass(heldMs - 1)
      expect(await show('one')).toEqual([{ kind: 'failed', retryAfterMs: 1 }])
      pass(1)
    }
    expect(await show('one')).toEqual([presented('m1'), attempt, ['keep', 's', 'k', 'm1']])
  })

  it('waits in one chat after a limit, and in all after an outage', async () => {
    const other = { key: 'o', address: 'b' }
    const limited = stage({ answers: [failed('rate', 5_000)] })
    await limited.show('one')
    expect((await limited.show('one', true, other))[0]).toEqual(presented('m1'))
    const away = stage({ answers: [failed('outage')] })
    await away.show('one')
    expect(await away.show('one', true, other)).toEqual([{ kind: 'failed', retryAfterMs: 10_000 }])
    // The longer of the two.
    const both = stage({ answers: [failed('rate', 5_000), failed('outage', 2_000)] })
    await both.show('one')
    await both.show('one', true, other)
    expect(await both.show('one')).toEqual([{ kind: 'failed', retryAfterMs: 5_000 }])
    both.pass(2_000)
    expect((await both.show('one', true, other))[0]).toEqual(presented('m1'))
    expect(await both.show('one')).toEqual([{ kind: 'failed', retryAfterMs: 3_000 }])
  })

  it('that comes out shorter removes what is too much, or blanks it', async () => {
    const drafts = { k: ['x', 'y', 'z'] }
    const shrunk = stage({ drafts, answers: [null, failed('final'), failed('final')] })
    expect(await shrunk.show('one')).toEqual([
      ...[presented('x'), ['edit', 'a', 'x', 'one', 'k-0']],
      ...[
        ['remove', 'a', 'z'],
        ['edit', 'a', 'z', '…', ''],
        ['keep', 's', 'k', 'x', 'y'],
      ],
      ...[
        ['remove', 'a', 'y'],
        ['keep', 's', 'k', 'x'],
      ],
    ])
    const slow = stage({ drafts, answers: [null, failed('rate', 2_000)] })
    expect(await slow.show('one')).toEqual([
      ...[{ kind: 'failed', retryAfterMs: 2_000 }, ['edit', 'a', 'x', 'one', 'k-0']],
      ['remove', 'a', 'z'],
    ])
    slow.pass(2_000)
    expect((await slow.show('one')).slice(0, 2)).toEqual([presented('x'), ['remove', 'a', 'z']])
  })

  it('finds the message that a dead process may have sent', async () => {
    const { show, pass } = stage({
      drafts: { k: ['x', ''] },
      answers: [null, failed('rate', 2_000)],
    })
    const found = ['send', 'a', '…', 'k-1']
    expect(await show('one')).toEqual([
      ...[{ kind: 'failed', retryAfterMs: 2_000 }, ['edit', 'a', 'x', 'one', 'k-0'], found],
    ])
    pass(2_000)
    expect(await show('one')).toEqual([
      ...[presented('x'), found, ['keep', 's', 'k', 'x', 'm1']],
      ...[
        ['remove', 'a', 'm1'],
        ['keep', 's', 'k', 'x'],
      ],
    ])
  })
})

describe('a turn that ends', () => {
  it('without a preview leaves nothing', async () => {
    const { show, giveUp } = stage()
    expect(await giveUp('half')).toEqual([])
    const empty = stage({ waiting: ['earlier'] })
    await empty.show('half', false)
    expect(await empty.giveUp('half')).toEqual([ANSWERED, ['keep', 's', 'k']])
    expect(await show('late', false)).toHaveLength(4)
  })

  it('without a reply leaves its preview with the last text, complete', async () => {
    const { show, giveUp, kept } = stage()
    await show('half …', false)
    expect(await giveUp('half')).toEqual([
      ...[ANSWERED, ['edit', 'a', 'm1', 'half', 'k-0'], ['keep', 's', 'k']],
    ])
    expect([...kept]).toEqual([])
    expect(await show('late', false)).toEqual([{ kind: 'failed' }])
  })

  it('with a reply leaves the preview to the outbox', async () => {
    const { show, giveUp } = stage({ waiting: ['k'], drafts: { k: ['x'] } })
    await show('half …', false)
    expect(await giveUp('half')).toEqual([ANSWERED])
    const settled = stage()
    await settled.show('half …', false)
    settled.kept.clear()
    expect(await settled.giveUp('half')).toEqual([ANSWERED])
  })
})

describe('a message that is no reply', () => {
  it('is sent as it is, and held back with the others', async () => {
    const { say, show, pass } = stage({ answers: [null, failed('rate', 5_000)] })
    const attempt = ['send', 'a', 'Hi.', 'n']
    expect(await say()).toEqual([{ kind: 'sent', id: 'm1' }, attempt])
    expect(await say()).toEqual([failed('rate', 5_000), attempt])
    const held = { kind: 'failed', why: 'rate', retryAfterMs: 5_000, text: 'held back' }
    expect(await say()).toEqual([held])
    expect(await show('one')).toEqual([{ kind: 'failed', retryAfterMs: 5_000 }])
    expect((await say('b'))[0]).toEqual({ kind: 'sent', id: 'm2' })
    pass(5_000)
    expect((await say())[0]).toEqual({ kind: 'sent', id: 'm3' })
  })
})
