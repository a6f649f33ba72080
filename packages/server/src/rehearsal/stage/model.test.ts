import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTaskOf } from '../laws/ledger.ts'
import { SUMMARY_MODEL } from '../terms.ts'
import { openQuestion, parcelQuestion, RehearsalModel } from './model.ts'

describe('the model of a rehearsal', () => {
  const told = '[agent-1.7] The code word of parcel p1x7 is maple-83.'
  let model: RehearsalModel
  let url: string
  beforeEach(async () => {
    model = new RehearsalModel((key) => (key === 'agent-1.7' ? told : undefined))
    url = await model.start()
  })
  afterEach(() => model.stop())

  it('answers from the messages in its request', async () => {
    const answer = await ask(['user', told], ['user', parcelQuestion('agent-1.7')])
    expect(answer.content).toBe(`I was told: ${told}`)
    const long = `The code word of parcel p1x7 is ${'maple'.repeat(100)}.`
    const cut = await ask(['user', long], ['user', parcelQuestion('agent-1.7')])
    expect(cut.content).toBe(`I was told: ${long.slice(0, 400)}`)
  })

  it('searches the session before it says that it has no record', async () => {
    const question = ['user', parcelQuestion('agent-1.7')] as const
    const { tool_calls } = await ask(['user', 'Hello.'], question)
    expect(tool_calls).toMatchObject([
      { function: { name: 'recall', arguments: '{"query":"p1x7","limit":5}' } },
    ])
    expect((await ask(question, ['tool', told])).content).toBe(`I looked it up: ${told}`)
    expect((await ask(question, ['tool', 'Nothing was found.'])).content).toBe(
      'I have no record of p1x7.',
    )
  })

  it('answers a question once, even if other messages follow it', async () => {
    const question = ['user', parcelQuestion('agent-1.7')] as const
    const note = ['user', 'A line was seen.'] as const
    expect((await ask(['user', told], question, note)).content).toContain('maple-83')
    const behind = await ask(['user', told], question, ['assistant', 'maple-83'], note)
    expect(behind.content).not.toContain('maple-83')
  })

  it('is idle only if no request is open', async () => {
    const question = ['user', openQuestion('agent-1')] as const
    const task = ['user', `Please ${openTaskOf('agent-1')}.`] as const
    expect((await ask(task, question)).content).toBe(`I was told: Please ${openTaskOf('agent-1')}.`)
    const { tool_calls } = await ask(question)
    expect(tool_calls).toMatchObject([
      { function: { arguments: `{"query":"open ${openTaskOf('agent-1')}","limit":5}` } },
    ])
    expect((await ask(question, ['tool', 'Nothing was found.'])).content).toBe(
      'I am idle: nothing is open.',
    )
    expect((await ask(['user', 'Question: what else?'])).content).toContain('stand-in')
  })

  it('records which messages it received word for word, including those of other sessions', async () => {
    await ask(['user', 'Somebody mentions [agent-1.7] only.'])
    expect(model.record().seen.size).toBe(0)
    await ask(['user', told])
    expect([...model.record().seen]).toEqual(['agent-1.7'])
    expect(model.record().strays).toEqual([])
    await ask(['user', '[agent-2.1] The code word of parcel agent-2.1 is alder.'])
    expect(model.record().strays).toEqual(['a request of agent-1 holds messages of agent-2'])
    await ask(['user', 'Here are [agent-1.1] and [agent-2.1].'])
    expect(model.record().strays[1]).toBe(
      'a request of agent-1 holds messages of agent-1 and agent-2',
    )
  })

  it('counts requests and the largest of them, and apart from them summaries', async () => {
    const tokens: number[] = []
    for (const text of ['Hello.', told.repeat(3), 'Bye.']) {
      await ask(['user', text])
      tokens.push(model.record().tokensMax)
    }
    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? 0)
    expect(tokens[2]).toBe(tokens[1])
    expect(model.record()).toMatchObject({ requests: 3, summaries: 0 })
    const before = performance.now()
    await Promise.all([
      askAs(SUMMARY_MODEL, ['user', `${told} [agent-1.7]`.repeat(9)]),
      askAs(SUMMARY_MODEL, ['user', '[agent-1.1] beside [agent-2.1]']),
      askAs('other', ['user', `${told}`.repeat(9)]),
    ])
    // Other things are to happen while a summary is written.
    expect(performance.now() - before).toBeGreaterThanOrEqual(990)
    expect(model.record()).toEqual({
      ...{ requests: 3, summaries: 2, tokensMax: tokens[1], seen: new Set(['agent-1.7']) },
      strays: ['a request of summary holds messages of agent-1 and agent-2'],
    })
  })

  it('tells which agents wait for an answer, and since when', async () => {
    model.server.faults.next('half-open')
    const ended = new AbortController()
    const waiting = ask(['user', 'Hello.'], ended.signal).catch(() => {})
    await expect.poll(() => model.waitingFor(20)).toEqual(['agent-1'])
    expect(model.waitingFor(60_000)).toEqual([])
    ended.abort()
    await waiting
    await expect.poll(() => model.waitingFor(0)).toEqual([])
  })

  it('returns at the same address after an outage', async () => {
    await model.stop()
    await expect(ask(['user', told])).rejects.toThrow()
    expect(await model.start()).toBe(url)
    expect((await ask(['user', told])).content).toContain('stand-in')
  })

  interface Said {
    readonly content: string
    readonly tool_calls?: unknown
  }

  type Line = readonly [role: string, text: string]

  async function ask(...said: readonly (Line | AbortSignal)[]): Promise<Said> {
    return await askAs('agent-1', ...said)
  }

  async function askAs(model: string, ...said: readonly (Line | AbortSignal)[]): Promise<Said> {
    const lines = said.filter((each): each is Line => !(each instanceof AbortSignal))
    const signal = said.find((each) => each instanceof AbortSignal) ?? null
    const messages = lines.flatMap<object>(([role, content], at) => {
      if (role !== 'tool') return [{ role, content }]
      const id = `call-${at}`
      const call = { id, type: 'function', function: { name: 'recall', arguments: '{}' } }
      return [
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: id, content },
      ]
    })
    const tools = [{ type: 'function', function: { name: 'recall', parameters: {} } }]
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, tools }),
      signal,
    })
    const { choices } = (await response.json()) as { choices: readonly { message: Said }[] }
    const [choice] = choices
    if (choice === undefined) throw new Error('nothing was answered')
    return choice.message
  }
})
