import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import type { ReplyRow } from '#core/store/tables/rows'
import { Timeline } from '../../../../../test/simulation/timeline.ts'
import { Live, TURN_STOPPED } from './live.ts'
import type { Platform } from './platform.ts'
import { type Drafts, ReplyPresenter } from './reply-presenter.ts'

const S = sessionId('s')
const TYPING_MS = 4_000

/** `Live` on virtual time, over a platform that records its typing indicators. */
function open({ edits = true, sent = null as Error | null, isEnded = false } = {}) {
  const timeline = new Timeline()
  const clock = {
    now: () => timeline.now,
    monotonic: () => timeline.now,
    after: (delayMs: number, callback: () => void) => timeline.plan(null, delayMs, callback),
  }
  const signs: string[] = []
  const displayed: string[] = []
  const requests: unknown[] = []
  const logged: unknown[] = []
  const waiting: { readonly key: string }[] = []
  const platform: Platform = {
    name: 'test',
    account: 'bot',
    capabilities: {
      ...{ edits, threads: false, images: false, nonce: true },
      ...{ lengthMax: 1_000, editEveryMs: 1_000, typingMs: TYPING_MS },
    },
    start: () => {},
    send: async (out) => {
      requests.push([timeline.now, 'send', out])
      if (sent !== null) throw sent
      return { kind: 'sent', id: String(displayed.push(out.text)) }
    },
    edit: async ({ id, text, nonce }) => {
      requests.push([timeline.now, 'edit', id, text, nonce])
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
      if (isEnded) throw new Error('no events')
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
  const note = (level: string) => (fields: object, text: string) => {
    logged.push([level, fields, text])
  }
  const silent = { debug: note('debug'), info: note('info') }
  const logger: Logger = { ...silent, warn: note('warn'), error: note('error') }
  const live = new Live({ platform, runtime, presenter: showing, clock, logger })
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
  const tell = async (event: object) => {
    await pass(1)
    const which = { sessionId: S, turn: 1, step: 1, attempt: 'a' }
    emit({ type: 'live', ...which, ...event } as unknown as RuntimeEvent)
    await pass(1)
  }
  const count = async (ms: number) => {
    signs.length = 0
    await pass(ms)
    return signs.length
  }
  const told = { displayed, requests, logged, signs }
  return { ...told, live, stored, pass, count, say, tell, waiting, kept }
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

  it('lasts five minutes without an event, to the millisecond', async () => {
    const { live, stored, signs, pass } = open()
    live.watch(S, 'room')
    live.watch(S, 'room')
    expect(signs).toEqual(['room', 'room'])
    await stored('turn started')
    await pass(60 * 60_000)
    // At once, and then every four seconds, the last after five minutes.
    expect(signs).toHaveLength(3 + (5 * 60) / 4)
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

describe('a notice', () => {
  it('is sent once under its code, and not when it only changes', async () => {
    const { live, tell, requests } = open()
    live.watch(S, 'room')
    await tell({ kind: 'notice', text: 'It takes long.', code: 'slow' })
    await tell({ kind: 'notice', text: 'Still.', code: 'slow', isUpdate: true })
    await tell({ kind: 'notice', text: 'Of another.', code: 'slow', sessionId: 'other' })
    await tell({ kind: 'tool', text: 'Of no interest.' })
    await tell({ type: 'stored', kind: 'compaction committed', cursor: 9, facts: { warning: 'W' } })
    expect(requests).toEqual([
      [1, 'send', { address: 'room', text: 'It takes long.', nonce: 's-1-slow' }],
      [9, 'send', { address: 'room', text: 'W', nonce: 's-9' }],
    ])
    await live.close()
  })

  it('that cannot be shown is logged', async () => {
    const err = new Error('socket')
    const { live, tell, logged } = open({ sent: err })
    live.watch(S, 'room')
    await tell({ kind: 'notice', text: 'It takes long.', code: 'slow' })
    expect(logged).toEqual([['warn', { sessionId: S, err }, 'notice not shown']])
    await live.close()
  })
})

describe('previews', () => {
  it('are edits of one message, no more often than the platform allows', async () => {
    const { live, say, pass, requests } = open()
    live.watch(S, 'room')
    await say('One')
    await say(' two')
    expect(requests).toEqual([])
    await pass(1_000)
    await say(' three')
    await say(' four')
    await pass(5_000)
    const send = { address: 'room', text: 'One two …', nonce: 's-1-0' }
    expect(requests).toEqual([
      [1_001, 'send', send],
      [2_005, 'edit', '1', 'One two three four …', 's-1-0'],
    ])
    await live.close()
  })

  it('begin again with another attempt, and with what an attempt takes back', async () => {
    const { live, say, tell, pass, displayed } = open()
    live.watch(S, 'room')
    await say('One')
    await say('Two', 'b')
    await tell({ kind: 'void' })
    await pass(1_000)
    expect(displayed).toEqual(['Two …'])
    await tell({ kind: 'void', attempt: 'b' })
    await say('Three', 'b')
    await pass(1_000)
    expect(displayed).toEqual(['Three …'])
    await live.close()
  })

  it('show no blank text, and nothing where messages cannot be edited', async () => {
    const { live, say, pass, requests } = open()
    live.watch(S, 'room')
    await say(' \n')
    await pass(5_000)
    expect(requests).toEqual([])
    await live.close()
    const plain = open({ edits: false })
    plain.live.watch(S, 'room')
    await plain.say('One')
    await plain.pass(5_000)
    expect(plain.requests).toEqual([])
    await plain.live.close()
  })

  it('of an earlier turn do not hold up those of the next', async () => {
    const { live, say, tell, pass, displayed } = open()
    live.watch(S, 'room')
    await say('One')
    await tell({ type: 'stored', kind: 'turn started', facts: { turn: 2 } })
    await tell({ kind: 'delta', turn: 2, text: 'Two' })
    await pass(1_000)
    expect(displayed).toEqual(['Two …'])
    await live.close()
  })

  it('that fail are logged', async () => {
    const err = new Error('socket')
    const { live, say, pass, logged } = open({ sent: err })
    live.watch(S, 'room')
    await say('One')
    await pass(1_000)
    expect(logged).toEqual([['warn', { sessionId: S, err }, 'growing answer not shown']])
    await live.close()
  })

  it('are missing, and replies are not, when events cannot be followed', async () => {
    const { live, pass, logged, signs } = open({ isEnded: true })
    live.watch(S, 'room')
    await pass(1)
    expect(logged).toEqual([
      ['error', { err: new Error('no events') }, 'events cannot be followed'],
    ])
    expect(signs).toEqual(['room'])
    await live.close()
  })

  it('end with the chat gateway', async () => {
    const { live, stored, say, pass, requests, signs } = open()
    live.watch(S, 'room')
    await stored('turn started')
    await say('One')
    await live.close()
    signs.length = 0
    await pass(60_000)
    expect([requests, signs]).toEqual([[], []])
  })
})
