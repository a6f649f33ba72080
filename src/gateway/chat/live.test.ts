import { describe, expect, it } from 'vitest'
import { Timeline } from '../../../test/simulation/timeline.ts'
import { sessionId } from '../../base/ids.ts'
import { SILENT } from '../../runtime/logger.ts'
import type { RuntimeEvent } from '../../runtime/runtime.ts'
import { Live } from './live.ts'
import type { Platform } from './platform.ts'
import { Showing } from './showing.ts'

const S = sessionId('s')
const TYPING_MS = 4_000

/** Live over a platform that notes where somebody seems to type, on virtual time. */
function open() {
  const timeline = new Timeline()
  const clock = {
    now: () => timeline.now,
    monotonic: () => timeline.now,
    after: (delayMs: number, callback: () => void) => timeline.plan(null, delayMs, callback),
  }
  const signs: string[] = []
  const platform: Platform = {
    name: 'test',
    account: 'bot',
    capabilities: {
      ...{ edits: true, threads: false, images: false, nonce: true },
      ...{ lengthMax: 1_000, editEveryMs: 1_000, typingMs: TYPING_MS },
    },
    start: () => {},
    send: async () => ({ kind: 'sent', id: '1' }),
    edit: async () => ({ kind: 'sent', id: '1' }),
    showTyping: async (address) => {
      signs.push(address)
      throw new Error('a sign that cannot be shown harms nobody')
    },
    close: async () => {},
  }
  const drafts = {
    putDraft: async () => {},
    findDraft: async () => undefined,
    listReplies: async () => [],
  }
  let tell: (event: RuntimeEvent) => void = () => {}
  const runtime = {
    async *events(_: object, signal: AbortSignal): AsyncGenerator<RuntimeEvent> {
      while (!signal.aborted) {
        yield await new Promise<RuntimeEvent>((resolve) => {
          tell = resolve
          signal.addEventListener('abort', () => resolve({ type: 'caught-up', cursor: 0 }))
        })
      }
    },
  }
  const showing = new Showing({ platform, drafts, clock })
  const live = new Live({ platform, runtime, showing, clock, logger: SILENT })
  live.start()
  const pass = (ms: number) => timeline.run(timeline.now + ms, () => false)
  const stored = async (kind: 'turn started' | 'turn ended' | 'step committed') => {
    await pass(1)
    const facts = { turn: 1, ended: 'answered' }
    tell({ type: 'stored', cursor: 1, at: 0, sessionId: S, kind, operationId: null, facts })
    await pass(1)
  }
  const count = async (ms: number) => {
    signs.length = 0
    await pass(ms)
    return signs.length
  }
  return { live, signs, stored, pass, count }
}

describe('the typing sign', () => {
  it('stays while a turn runs and something is heard of it, and ends with it', async () => {
    const { live, stored, count } = open()
    live.watch(S, 'room')
    await stored('turn started')
    for (let n = 0; n < 5; n++) {
      expect(await count(4 * 60_000)).toBe((4 * 60_000) / TYPING_MS)
      await stored('step committed')
    }
    await stored('turn ended')
    expect(await count(60_000)).toBe(0)
    await live.close()
  })

  it('ends by itself when nothing is heard any more', async () => {
    const { live, stored, count, pass } = open()
    live.watch(S, 'room')
    await stored('turn started')
    await pass(6 * 60_000)
    expect(await count(60 * 60_000)).toBe(0)
    await live.close()
  })

  it('ends in a chat that the session is no longer watched from', async () => {
    const { live, stored, signs, count } = open()
    live.watch(S, 'old room')
    await stored('turn started')
    live.watch(S, 'new room')
    await count(60_000)
    expect(signs).toEqual([])
    await stored('turn started')
    await count(60_000)
    expect(new Set(signs)).toEqual(new Set(['new room']))
    await live.close()
  })
})
