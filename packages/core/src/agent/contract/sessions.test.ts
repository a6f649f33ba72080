import { describe, expect, it } from 'vitest'
import {
  type Chat,
  calling,
  echo,
  lastText,
  open,
  openStore,
  town,
} from '../../../../../test/library/agents.ts'
import { mailNumber, sessionId } from '../../base/ids.ts'
import type { DurableAgent } from '../agent-types.ts'
import { tool } from '../tool.ts'

describe('a session of an agent', () => {
  it('is empty until something was said to it', async () => {
    const agent = await open(echo)
    const session = agent.session('ana')
    const none = { kind: 'nothing-to-do', why: 'There is no such session.' }
    expect(await session.history()).toEqual([])
    expect(await session.search('river')).toEqual([])
    expect(await session.compactionReport()).toBeUndefined()
    expect((await session.context()).messages).toEqual([])
    expect(await session.erase({ entries: 'all', reason: 'asked' })).toEqual(none)
    expect(await session.erase({ entries: [1], reason: 'asked' })).toEqual(none)
    await expect(session.answer({ mail: 1 })).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'mail', message: 'The session "ana" has no message 1.' },
    })
    await session.ask('Hello.')
    await expect(session.answer({ mail: 2 })).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'mail', message: 'The session "ana" has no message 2.' },
    })
    expect(await session.erase({ entries: [], reason: 'asked' })).toEqual({
      ...{ kind: 'nothing-to-do', why: 'No entries were named.' },
    })
  })

  it('tells in order what happened to it', async () => {
    const weather = tool({ description: 'x', input: town, execute: () => 'Rain.' })
    const agent = await open(
      (step) => {
        if (lastText(step) === 'break') throw new Error('no key')
        return lastText(step) === 'weather' ? calling({ town: 'Bergen' }) : echo(step)
      },
      { tools: { weather } },
    )
    const session = agent.session('ana')
    const long = 'The river is wide and slow here. '.repeat(100)
    await session.ask('weather')
    await session.ask('break')
    for (let number = 1; number <= 6; number++) await session.ask(`${number}: ${long}`)
    await session.compact()
    const report = await session.compactionReport()
    const compaction = report?.entry ?? 0
    expect(await session.compactionReport({ entry: compaction })).toEqual(report)
    expect(await session.compactionReport({ entry: compaction - 1 })).toBeUndefined()
    await session.undo()
    await session.erase({ entries: [1], reason: 'asked' })
    await session.erase({ entries: 'all', reason: 'asked' })
    const told: string[] = []
    for await (const event of session.events({ after: 0 })) {
      if (event.type === 'caught-up') break
      const how = event.type === 'turn-ended' && `${event.turn} ${event.how}`
      told.push([event.type, how || ('role' in event && event.role)].filter(Boolean).join(' '))
    }
    const turn = (number: number) => [
      ...['message user', 'message assistant', `turn-ended ${number} answered`],
    ]
    expect(told).toEqual([
      ...['message user', 'message assistant', 'message tool', 'message assistant'],
      ...['turn-ended 1 answered', 'message user'],
      ...['message assistant', 'turn-ended 2 failed'],
      ...[3, 4, 5, 6, 7, 8].flatMap(turn),
      // A deletion begins, and ends when the last piece is erased.
      ...['compacted', 'undone', 'erased', 'deleted', 'deleted'],
    ])
  })

  it('takes no message that is too large, and no answer for one that was withdrawn', async () => {
    const store = openStore()
    const agent = await open(() => new Promise<never>(() => {}), { store })
    const session = agent.session('ana')
    const limit = 4 * 1024 * 1024
    const tooLarge = { kind: 'refused', why: 'too-large', limit }
    expect(await session.send('x'.repeat(limit))).toEqual(tooLarge)
    const stopped = session.ask('One.')
    await expect.poll(async () => (await session.info())?.state).toBe('working')
    const sent = await session.send('Two.')
    if (sent.kind !== 'sent') throw new Error(sent.why)
    await store.withdraw({ sessionId: sessionId('ana'), mail: mailNumber(sent.mail) })
    expect(await session.answer(sent)).toEqual({ kind: 'withdrawn' })
    await session.stop()
    expect(await stopped).toMatchObject({ kind: 'stopped', text: '' })
  })

  const wrong = (value: unknown) => value as never
  type Session = ReturnType<DurableAgent<Chat>['session']>
  it.each<[string, string, (session: Session) => unknown]>([
    ['before', '"before" is 0. It is a whole number, at least 1.', (s) => s.history({ before: 0 })],
    [
      'limit',
      '"limit" is 0. It is a number of entries, at least 1.',
      (s) => s.history({ limit: 0 }),
    ],
    ['text', '"text" is 5.', (s) => s.search(wrong(5))],
    [
      'entry',
      '"entry" is 0. It is a whole number, at least 1.',
      (s) => s.compactionReport({ entry: 0 }),
    ],
    [
      ...['query.entri', 'There is no option "entri" in "query". The options are entry.'],
      (s) => s.compactionReport(wrong({ entri: 1 })),
    ],
    ['query', '"query" is null. Give an object.', (s) => s.compactionReport(wrong(null))],
    ['after', '"after" is -1. It is a whole number, at least 0.', (s) => s.events({ after: -1 })],
    ['at', '"at" is 0. It is a whole number, at least 1.', (s) => s.fork({ at: 0 })],
    ['id', '"id" is "a b". Use letters, digits, "_" and "-".', (s) => s.fork({ id: 'a b' })],
    ['text', '"text" is "". Give a text, or null to unpin it.', (s) => s.pin('dog', '')],
    ['text', '"text" is 5. Give a text, or null to unpin it.', (s) => s.pin('dog', wrong(5))],
    ['focus', '"focus" is 5, not a string.', (s) => s.compact({ focus: wrong(5) })],
    [
      ...['mail', '"mail" is undefined. Give what `send` returned, if its kind is "sent".'],
      (s) => s.answer(wrong({ kind: 'refused' })),
    ],
    [
      ...['mail', '"mail" is 0. Give what `send` returned, if its kind is "sent".'],
      (s) => s.answer({ mail: 0 }),
    ],
    [
      ...['entries', '"entries" is "some". Give numbers, or "all".'],
      (s) => s.erase({ entries: wrong('some'), reason: 'asked' }),
    ],
    [
      ...['entries', '"entries" is 0. It is a whole number, at least 1.'],
      (s) => s.erase({ entries: [1, 0], reason: 'asked' }),
    ],
    [
      ...['reason', '"reason" is "". Give a text that is not empty.'],
      (s) => s.erase({ entries: 'all', reason: '' }),
    ],
    [
      ...['forks', '"forks" is "drop". It is one of "refuse", "keep", "purge".'],
      (s) => s.erase({ entries: 'all', reason: 'asked', forks: wrong('drop') }),
    ],
    [
      ...[
        'signal',
        '"signal" is an object, not an AbortSignal. Of a controller, give `controller.signal`.',
      ],
      (s) => s.stop({ signal: wrong(new AbortController()) }),
    ],
  ] as [string, string, (session: Session) => unknown][])(
    'refuses a wrong %s: %s',
    async (at, message, act) => {
      const session = (await open(echo)).session('ana')
      await session.ask('Hello.')
      const error = { code: 'invalid-option', at, message }
      await expect((async () => act(session))()).rejects.toMatchObject(error)
    },
  )
})
