import { afterEach, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../store/memory/open.ts'
import type { SessionEvent, TurnRecord } from './agent-types.ts'
import { openLoop } from './open-loop.ts'
import { aiSdk } from './typed-formats/ai-sdk.ts'
import type { Format } from './typed-formats/format.ts'
import { type OpenAIChat, openaiChat } from './typed-formats/openai.ts'

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function open() {
  const store = openMemoryStore()
  const loop = await openLoop({ store, name: 'mine', format: openaiChat, contextWindow: 32_000 })
  opened.push(
    () => store.close(),
    () => loop.close(),
  )
  return { store, loop }
}

type Chat = Format<OpenAIChat>
const CALL = { id: 'c1', type: 'function', function: { name: 'time', arguments: '{}' } } as const
const ANSWER = { role: 'assistant', content: 'It is noon.' } as const
const TURN: TurnRecord<Chat> = {
  key: 'k',
  input: 'What time is it?',
  made: [
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 'c1', content: 'Noon.' },
    ANSWER,
  ],
}

describe('a turn that another loop ran', () => {
  it('is in the history and the context unchanged, once per key', async () => {
    const { store, loop } = await open()
    const session = loop.session('ana')
    expect(await session.record(TURN)).toEqual({ kind: 'recorded', turn: 1, isDuplicate: false })
    expect(await session.record(TURN)).toEqual({ kind: 'recorded', turn: 1, isDuplicate: true })
    const history = await session.history()
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    const { messages } = await session.context()
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages.at(-1)).toEqual(ANSWER)
    expect(await session.search('noon')).toHaveLength(2)
    expect(await store.verify({})).toEqual([])
  })

  it('is refused under a key of another turn or another session', async () => {
    const { loop } = await open()
    await loop.session('ana').record(TURN)
    const refused = { kind: 'refused', why: 'key-reused' }
    expect(await loop.session('ana').record({ ...TURN, input: 'Other.' })).toEqual(refused)
    expect(await loop.session('bo').record(TURN)).toEqual(refused)
  })

  it('is refused during a running turn', async () => {
    const { loop } = await open()
    const session = loop.session('ana')
    const asked = session.ask('Hi.')
    const step = (await loop.steps().next()).value
    expect(await session.record(TURN)).toEqual({ kind: 'refused', why: 'turn-running' })
    step?.reply({ role: 'assistant', content: 'Hello.' })
    expect(await asked).toMatchObject({ kind: 'answered', text: 'Hello.' })
    expect(await session.record(TURN)).toMatchObject({ kind: 'recorded', turn: 2 })
    const answer = session.ask('And now?')
    const next = (await loop.steps().next()).value
    expect(next?.request.messages).toHaveLength(7)
    next?.reply({ role: 'assistant', content: 'Later.' })
    expect(await answer).toMatchObject({ text: 'Later.' })
  })

  it('comes as one durable event', async () => {
    const { loop } = await open()
    const session = loop.session('ana')
    await session.record(TURN)
    const events: SessionEvent[] = []
    for await (const event of session.events({ after: 0 })) {
      if (event.type === 'caught-up') break
      events.push(event)
    }
    expect(events).toEqual([
      { type: 'turn-ended', cursor: expect.any(Number), turn: 1, how: 'answered' },
    ])
  })

  it('accepts the response of a library', async () => {
    const store = openMemoryStore()
    await using loop = await openLoop({ store, name: 'm', format: aiSdk, contextWindow: 32_000 })
    const made = { response: { messages: [{ role: 'assistant' as const, content: 'Hello.' }] } }
    const recorded = await loop.session('ana').record({ key: 'k', input: 'Hi.', made })
    expect(recorded).toMatchObject({ kind: 'recorded' })
    // Of several steps, 7 has only the last one's messages in its response.
    const said = [...made.response.messages, { role: 'assistant' as const, content: 'Bye.' }]
    await loop
      .session('bo')
      .record({ key: 'b', input: 'Hi.', made: { ...made, responseMessages: said } })
    expect(await loop.session('bo').history()).toHaveLength(3)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no message', []],
    ['a question', [{ role: 'user', content: 'Hi.' }]],
    ['a result before its call', [{ role: 'tool', tool_call_id: 'c1', content: 'Noon.' }]],
  ])('is refused with an error when "made" is %s', async (_what, made) => {
    const { loop } = await open()
    await expect(
      loop.session('ana').record({ ...TURN, made: made as never }),
    ).rejects.toMatchObject({
      ...{ code: 'invalid-message', at: 'made' },
    })
    expect(await loop.session('ana').info()).toBeUndefined()
  })
})
