import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { SILENT } from '#core/base/logger'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import type { ReplyRow } from '#core/store/tables/rows'
import { Timeline } from '../../../../../test/simulation/timeline.ts'
import { Live, TURN_STOPPED } from './live.ts'
import type { Platform } from './platform.ts'
import { type Drafts, ReplyPresenter } from './reply-presenter.ts'

const S = sessionId('s')
const TYPING_MS = 4_000

/** `Live` on virtual time, over a platform that records its typing indicators. */
function open() {
  const timeline = new Timeline()
  const clock = {
    now: () => timeline.now,
    monotonic: () => timeline.now,
    after: (delayMs: number, callback: () => void) => timeline.plan(null, delayMs, callback),
  }
  const signs: string[] = []
  const displayed: string[] = []
  const waiting: { readonly key: string }[] = []
  const platform: Platform = {
    name: 'test',
    account: 'bot',
    capabilities: {
      ...{ edits: true, threads: false, images: false, nonce: true },
      ...{ lengthMax: 1_000, editEveryMs: 1_000, typingMs: TYPING_MS },
    },
    start: () => {},
    send: async ({ text }) => ({ kind: 'sent', id: String(displayed.push(text)) }),
    edit: async ({ id, text }) => {
      displayed[Number(id) - 1] = text
      return { kind: 'sent', id }
    },
    remove: async ({ id }) => {
      displayed.splice(Number(id) - 1, 1)
      return { kind: 'sent', id }
    },
    showTyping: async (address) => {
      signs.push(address)
      throw new Error('the typing indicator is unavailable')
    },
    close: async () => {},
  }
  const kept = new Map<string, readonly string[]>()
  const drafts: Drafts = {
    putDraft: async ({ key, ids }) => {
      if (ids.length === 0) kept.delete(key)
      else kept.set(key, ids)
      return { kind: 'done' }
    },
    findDraft: async (draft) => {
      const ids = kept.get(draft.key)
      return ids === undefined ? undefined : { ...draft, ids, at: 0 }
    },
    listReplies: async () => waiting as ReplyRow[],
  }
  let emit: (event: RuntimeEvent) => void = () => {}
  const runtime = {
    async *events(_: object, signal: AbortSignal): AsyncGenerator<RuntimeEvent> {
      while (!signal.aborted) {
        yield await new Promise<RuntimeEvent>((resolve) => {
          emit = resolve
          signal.addEventListener('abort', () =>
            resolve({ type: 'caught-up', cursor: 0, store: '' }),
          )
        })
      }
    },
  }
  const showing = new ReplyPresenter({ platform, drafts, clock })
  const live = new Live({ platform, runtime, presenter: showing, clock, logger: SILENT })
  live.start()
  const pass = (ms: number) => timeline.run(timeline.now + ms, () => false)
  const say = async (text: string, attempt = 'a') => {
    await pass(1)
    const which = { sessionId: S, turn: 1, step: 1, attempt }
    emit({ type: 'live', kind: 'delta', text, ...which } as unknown as RuntimeEvent)
    await pass(1)
  }
  const stored = async (
    kind: 'turn started' | 'turn ended' | 'step committed' | 'compaction committed',
    ended = 'answered',
    more: { readonly warning?: string } = {},
  ) => {
    await pass(1)
    const facts = { turn: 1, ended, ...more }
    emit({ type: 'stored', cursor: 1, at: 0, sessionId: S, kind, operationId: null, facts })
    await pass(1)
  }
  const count = async (ms: number) => {
    signs.length = 0
    await pass(ms)
    return signs.length
  }
  return { live, signs, stored, pass, count, say, displayed: displayed, waiting, kept }
}

describe('the typing indicator', () => {
  it('stays while a turn runs and emits events, and ends with the turn', async () => {
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

  it('ends if no more events arrive', async () => {
    const { live, stored, count, pass } = open()
    live.watch(S, 'room')
    await stored('turn started')
    await pass(6 * 60_000)
    expect(await count(60 * 60_000)).toBe(0)
    await live.close()
  })

  it('ends in a chat that no longer watches the session', async () => {
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

describe('a compaction', () => {
  it('sends its warning to the chat once, and nothing without a warning [S14]', async () => {
    const { live, stored, displayed } = open()
    live.watch(S, 'room')
    await stored('compaction committed')
    await stored('compaction committed', '', { warning: 'Compacted 2 times.' })
    expect(displayed).toEqual(['Compacted 2 times.'])
    await live.close()
  })
})

describe('a growing answer', () => {
  const EDIT_MS = 1_500

  it.each([
    ['answered', 'I note that down.'],
    ['stopped', `I note that down.\n\n${TURN_STOPPED}`],
  ])('of a turn that %s without a reply is complete', async (ended, whole) => {
    const { live, stored, say, pass, displayed, kept } = open()
    live.watch(S, 'room')
    await stored('turn started')
    await say('I note that down.')
    await pass(EDIT_MS)
    expect(displayed).toEqual(['I note that down. …'])
    await stored('turn ended', ended)
    await pass(EDIT_MS)
    expect(displayed).toEqual([whole])
    expect(kept.size).toBe(0)
    await live.close()
  })

  it('keeps its first words if they arrive before the start of the turn', async () => {
    const { live, stored, say, pass, displayed } = open()
    live.watch(S, 'room')
    await say('I note ')
    await stored('turn started')
    await say('that down.')
    await pass(EDIT_MS)
    expect(displayed).toEqual(['I note that down. …'])
    await live.close()
  })

  it('is left to the outbox when an earlier reply waits there', async () => {
    const { live, stored, say, pass, displayed, waiting } = open()
    live.watch(S, 'room')
    await stored('turn started')
    await say('Half of')
    await pass(EDIT_MS)
    waiting.push({ key: `${S}-1` })
    await stored('turn ended')
    await pass(EDIT_MS)
    expect(displayed).toEqual(['Half of …'])
    await live.close()
  })

  it('is left alone when the outbox has settled it in the meantime', async () => {
    const { live, stored, say, pass, displayed, kept } = open()
    live.watch(S, 'room')
    await stored('turn started')
    await say('Half of')
    await pass(EDIT_MS)
    displayed[0] = 'Half of it all, by another process.'
    kept.clear()
    await stored('turn ended')
    await pass(EDIT_MS)
    expect(displayed).toEqual(['Half of it all, by another process.'])
    await live.close()
  })
})
