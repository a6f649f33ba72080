import { describe, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Platform, Sent } from './platform.ts'
import { type Drafts, Showing } from './showing.ts'

/** A platform and a store that note what is asked of them, and answer when they are told to. */
function place(nonce: boolean) {
  const log: string[] = []
  const stored: (() => void)[] = []
  const send = async ({ address }: { address: string }): Promise<Sent> => {
    log.push(`send ${address}`)
    return { kind: 'sent', id: `id-${address}` }
  }
  const platform: Platform = {
    ...{ name: 'test', account: 'one', start: () => {}, send, edit: send },
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
      return new Promise<void>((resolve) => void stored.push(resolve))
    },
    findDraft: async () => undefined,
    listReplies: async () => [],
  }
  const showing = new Showing({ platform, drafts, clock: systemClock })
  const show = (address: string) => {
    const key = { sessionId: `s-${address}` as SessionId, key: `k-${address}` }
    return showing.show({ ...key, address, text: 'hello', isFinal: true })
  }
  return { log, stored, show }
}

const rest = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('Showing', () => {
  it('sends no message without a nonce before the id of the last one is durable, in any chat', async () => {
    const { log, stored, show } = place(false)
    const shown = [show('a'), show('b')]
    await rest()
    expect(log).toEqual(['send a', 'note id-a'])
    stored.shift()?.()
    await rest()
    expect(log).toEqual(['send a', 'note id-a', 'send b', 'note id-b'])
    stored.shift()?.()
    expect((await Promise.all(shown)).map(({ kind }) => kind)).toEqual(['shown', 'shown'])
  })

  it('lets chats go side by side where a nonce keeps messages from being there twice', async () => {
    const { log, stored, show } = place(true)
    const shown = [show('a'), show('b')]
    await rest()
    expect(log.toSorted()).toEqual(['note id-a', 'note id-b', 'send a', 'send b'])
    for (const store of stored) store()
    await Promise.all(shown)
  })
})
