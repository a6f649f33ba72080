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
