import { describe, expect, it } from 'vitest'
import type { JsonValue } from '#core/base/json'
import { Ledger } from './laws/ledger.ts'
import { LoadClient } from './load-client.ts'
import type { Question } from './process-messages.ts'

interface Handle {
  name: string
  isReady: boolean
  status: { waiting: number } | null
  ask(question: Question): Promise<JsonValue>
}

describe('a client of the crowd', () => {
  it('sends one message after another, with an effect in each fourth, every third twice at once', async () => {
    const { client, asked, letters, end } = crowd({ stopAfter: 8 })
    await client.run(end)
    const question = (key: number) => ({
      ...{ what: 'admit', sessionId: 'agent-2', source: 'chat-agent-2', key: `agent-2.${key}` },
      ...{ lane: 'user', text: letters()[key - 1]?.text },
    })
    expect(asked.map(({ question: each }) => each)).toEqual([1, 2, 3, 3, 4, 5, 6, 6].map(question))
    // Each time another process, and not its own first.
    expect(asked.map(({ by }) => by).slice(0, 4)).toEqual([
      'agent-1',
      'agent-2',
      'agent-1',
      'agent-2',
    ])
    expect(letters().map(({ text }) => text.includes('\nuse hand_over'))).toEqual([
      ...[false, false, false, true, false, false],
    ])
    expect(letters().map(({ mail, order }) => [mail, order])).toEqual(
      [1, 2, 3, 4, 5, 6].map((each) => [each, each]),
    )
    const lengths = letters().map(({ text }) => text.length)
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(400)
    expect(Math.max(...lengths)).toBeLessThan(420)
  })

  it('sends nothing twice unless that is asked for', async () => {
    const { client, asked, end } = crowd({ stopAfter: 3, sendsTwice: false })
    await client.run(end)
    expect(asked).toHaveLength(3)
  })

  it('sends what it was brought first, in its lane and short', async () => {
    const { client, asked, letters, end } = crowd({ stopAfter: 4 })
    client.bring('notification', 1)
    client.bring('user', 2, 0)
    await client.run(end)
    expect(
      letters().map(({ key, lane, mail, text }) => [key, lane, mail, text.length < 180]),
    ).toEqual([
      ...[
        ['agent-2.1', 'notification', 2, true],
        ['agent-2.2', 'user', 3, true],
      ],
      ...[
        ['agent-2.3', 'user', 4, true],
        ['agent-2.4', 'user', 1, false],
      ],
    ])
    expect(letters()[0]?.text.length).toBeGreaterThanOrEqual(160)
    expect(asked.map(({ question }) => 'source' in question && question.source)).toEqual([
      ...['chat-agent-2', 'watch-agent-2', 'chat-agent-2', 'chat-agent-2'],
    ])
  })

  it('waits while thirty messages of its agent wait', async () => {
    const { client, asked, handles, end, stop } = crowd({ stopAfter: 1 })
    const [, own] = handles
    if (own !== undefined) own.status = { waiting: 30 }
    const run = client.run(end)
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(asked).toEqual([])
    if (own !== undefined) own.status = { waiting: 29 }
    await expect.poll(() => asked).toHaveLength(1)
    stop()
    await run
  })

  it('asks another process if one fails or is not there', async () => {
    const { client, asked, letters, handles, end } = crowd({ stopAfter: 3, failing: 2 })
    const [first] = handles
    if (first !== undefined) first.isReady = false
    await client.run(end)
    expect(asked.map(({ by }) => by)).toEqual(['agent-2', 'agent-2', 'agent-2'])
    expect(letters().map(({ mail }) => mail)).toEqual([1])
  })

  it('reports a refusal, and one message under two numbers', async () => {
    const answers: JsonValue[] = [{ kind: 'refused' }, { kind: 'duplicate', mail: 7 }]
    answers.push({ kind: 'admitted', mail: 8 }, { kind: 'admitted', mail: 9 })
    const { client, failures, letters, end } = crowd({ stopAfter: 4, answers })
    await client.run(end)
    expect(failures).toEqual([
      'agent-2.1 was refused: {"kind":"refused"}',
      'agent-2.3 was acknowledged as mail 8 and 9',
    ])
    expect(letters().map(({ mail }) => mail)).toEqual([null, 7, 8])
  })

  it('counts the stops that were acknowledged, each with its own key', async () => {
    const answers: JsonValue[] = [{ kind: 'admitted', mail: 1 }, { kind: 'other', mail: 2 }, null]
    answers.push({ kind: 'duplicate', mail: 'x' }, { kind: 'duplicate', mail: 3 })
    const { client, asked, ledger } = crowd({ stopAfter: 99, answers })
    for (let at = 0; at < 5; at++) await client.stop()
    expect(asked.map(({ question }) => question)).toEqual(
      [1, 2, 3, 4, 5].map((at) => ({
        ...{ what: 'stop', sessionId: 'agent-2', source: 'person-agent-2', key: `stop-${at}` },
      })),
    )
    expect([...ledger.stops]).toEqual([['agent-2', 2]])
  })
})

interface Plan {
  /** The client ends after so many questions. */
  readonly stopAfter: number
  readonly sendsTwice?: boolean
  readonly answers?: JsonValue[]
  /** So many questions are answered by an error. */
  readonly failing?: number
}

function crowd({ stopAfter, sendsTwice = true, answers = [], failing = 0 }: Plan) {
  const ended = new AbortController()
  const asked: { by: string; question: Question }[] = []
  const failures: string[] = []
  const mails = new Map<string, number>()
  const handles = ['agent-1', 'agent-2'].map(
    (name): Handle => ({
      ...{ name, isReady: true, status: null },
      ask: async (question) => {
        asked.push({ by: name, question })
        if (asked.length === stopAfter) ended.abort()
        if (asked.length <= failing) throw new Error('gone')
        const key = 'key' in question ? question.key : ''
        const mail = mails.get(key) ?? mails.size + 1
        mails.set(key, mail)
        return answers.length > 0 ? (answers.shift() ?? null) : { kind: 'admitted', mail }
      },
    }),
  )
  const ledger = new Ledger()
  const client = new LoadClient({
    ...{ agent: 'agent-2', handles: handles as never, ledger, paceMs: 1, tokens: 100, sendsTwice },
    onFailure: (text) => failures.push(text),
  })
  const letters = () => ledger.letters
  const stop = () => ended.abort()
  return { client, asked, failures, letters, ledger, handles, end: ended.signal, stop }
}
