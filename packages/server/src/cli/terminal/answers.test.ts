import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { Message } from '#core/message/message'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { assistant, user } from '../../../../../test/support/builders.ts'
import type { Session } from '../../runtime/runtime.ts'
import { AnswerDisplay } from './answers.ts'

it('the terminal shows the warning that a compaction carries, and none without [S14]', async () => {
  const said: string[] = []
  const screen = { stream: () => {}, endAnswer: () => {}, say: (text: string) => said.push(text) }
  const answers = new AnswerDisplay({} as Session, screen)
  const stored = { type: 'stored', at: 0, sessionId: sessionId('s'), operationId: 'o' } as const
  for (const facts of [{}, { warning: 'Compacted 2 times.' }]) {
    await answers.show({ ...stored, cursor: 1, kind: 'compaction committed', facts })
  }
  expect(said.filter((text) => text.includes('2 times'))).toEqual(['(Compacted 2 times.)'])
})

describe('the answers of a session on a terminal', () => {
  type Live = Extract<RuntimeEvent, { type: 'live' }>
  type Stored = Extract<RuntimeEvent, { type: 'stored' }>
  const id = sessionId('s')
  const place = { type: 'live', sessionId: id, turn: 3, step: 7 } as const
  const stored = (kind: Stored['kind'], facts: Stored['facts'] = {}): Stored => ({
    ...{ type: 'stored', at: 0, cursor: 1, sessionId: id, operationId: 'o', kind, facts },
  })
  const committed = stored('step committed', { turn: 3, upto: 7, entry: 8 })

  /** The output of a screen: pieces unchanged, `|` at the end of an answer, lines in brackets. */
  async function shown(
    events: readonly RuntimeEvent[],
    message: Message = assistant('From the store.'),
  ) {
    const screen: string[] = []
    const reads: unknown[] = []
    const session = {
      transcript: (query: unknown) => {
        reads.push(query)
        return Promise.resolve([{ message }])
      },
    } as unknown as Session
    const answers = new AnswerDisplay(session, {
      stream: (text) => void screen.push(text),
      endAnswer: () => void screen.push('|'),
      say: (text) => void screen.push(`[${text}]`),
    })
    for (const event of events) await answers.show(event)
    return { screen: screen.join(''), reads }
  }

  const delta = (text: string, over: Partial<Live> = {}): Live =>
    ({ ...place, kind: 'delta', text, ...over }) as Live

  it('arrive in pieces, and are not read again', async () => {
    const { screen, reads } = await shown([delta('On'), delta('e.'), committed])
    expect([screen, reads]).toEqual(['One.|', []])
  })

  it('are read from the transcript if another process ran the turn', async () => {
    const { screen, reads } = await shown([committed])
    expect([screen, reads]).toEqual(['From the store.|', [{ from: 8, to: 8 }]])
    expect((await shown([delta('x', { step: 6 }), committed])).screen).toBe('xFrom the store.|')
    expect((await shown([delta('x', { turn: 2 }), committed])).screen).toBe('xFrom the store.|')
    expect((await shown([delta('x'), committed, committed])).screen).toBe('x|From the store.|')
    expect((await shown([committed], user('Not an answer.'))).screen).toBe('|')
  })

  it('are withdrawn when an attempt is interrupted, once', async () => {
    const gone = { ...place, kind: 'void' } as Live
    const again = '|[(The answer was interrupted and will start again.)]'
    expect((await shown([delta('On'), gone, gone])).screen).toBe(`On${again}`)
    expect((await shown([gone])).screen).toBe('')
    expect((await shown([delta('On'), gone, committed])).screen).toBe(`On${again}From the store.|`)
  })

  it('name the tools used, and omit reasoning', async () => {
    const call = { ...place, kind: 'call', tool: 'find' } as Live
    const thought = { ...place, kind: 'reasoning', text: 'Hmm.' } as Live
    expect((await shown([delta('Wait.'), thought, call])).screen).toBe('Wait.|[(uses find)]')
  })

  describe('that wait for the model', () => {
    const notice = (code: string, text: string): Live =>
      ({ ...place, kind: 'notice', code, text, nextTryAt: 1 }) as unknown as Live
    const retry = notice('retrying', 'Status 429.')
    const wait = notice('waiting-for-model', 'Status 429. Your message is safe.')
    const retrying = '[Status 429. Trying again.]'
    const waiting =
      '[Your message is safe. Trying again. /continue tries now, /stop ends the turn.]'

    it('say the reason once, however often it is tried, until something else happens', async () => {
      const tries = [retry, retry, wait]
      expect((await shown([...tries, retry, wait])).screen).toBe(retrying + waiting)
      expect((await shown([...tries, delta('Yes'), committed, retry, wait])).screen).toBe(
        `${retrying}${waiting}Yes|${retrying}${waiting}`,
      )
    })

    it('give the whole reason if no retry has shown it', async () => {
      const other = notice('retrying', 'Status 500.')
      for (const before of [[], [other]])
        expect((await shown([...before, wait])).screen).toContain('[Status 429. Your message is')
    })

    it('say it again for a try that the person asked for', async () => {
      const said: string[] = []
      const screen = {
        stream: () => {},
        endAnswer: () => {},
        say: (text: string) => said.push(text),
      }
      const answers = new AnswerDisplay({} as Session, screen)
      for (const event of [retry, wait]) await answers.show(event)
      answers.forgetNotices()
      for (const event of [retry, wait]) await answers.show(event)
      expect(said.map((text) => `[${text}]`)).toEqual([retrying, waiting, retrying, waiting])
    })
  })

  it('say that one answer follows to several messages', async () => {
    const delivered = (turn: number, ...mail: number[]) =>
      stored('message delivered', { turn, mail })
    const said = '[(One answer will cover all messages since the last answer.)]'
    expect((await shown([delivered(3, 1), delivered(4, 2)])).screen).toBe('')
    expect((await shown([delivered(3, 1), delivered(3, 2)])).screen).toBe(said)
    expect((await shown([delivered(3, 1, 2)])).screen).toBe(said)
  })

  it.each<[Stored, string]>([
    [stored('turn ended', { ended: 'answered' }), ''],
    [
      stored('turn ended', { ended: 'stopped' }),
      '[(The turn was stopped; there is no complete answer.)]',
    ],
    [
      stored('turn ended', { ended: 'failed' }),
      '[(The turn failed; send the message again to retry.)]',
    ],
    [
      stored('compaction committed'),
      '[(Compacted: a handoff now replaces the older part of the conversation.)]',
    ],
    [
      stored('compaction committed', { tokensBefore: 12_000, tokensAfter: 900 }),
      '[(Compacted: a handoff now replaces the older part of the conversation, 12,000 -> 900 tokens.)]',
    ],
    [
      stored('compaction failed'),
      '[(The compaction failed and will be retried; nothing changed.)]',
    ],
    [stored('compaction failed', { reason: 'not-smaller' }), ''],
    [stored('session deleted'), '[(This session was purged.)]'],
    [stored('session deleted', { state: 'gone' }), ''],
    [stored('compaction started'), ''],
  ])('say how it went: %#', async (event, text) => {
    expect((await shown([event])).screen).toBe(text)
  })
})
