import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTaskOf } from '../laws/ledger.ts'
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
    expect(answer.content).toContain('I was told: [agent-1.7] The code word')
    expect(answer.content).toContain('maple-83')
  })

  it('searches the session before it says that it has no record', async () => {
    const question = ['user', parcelQuestion('agent-1.7')] as const
    const { tool_calls } = await ask(['user', 'Hello.'], question)
    expect(tool_calls).toMatchObject([{ function: { name: 'recall' } }])
    expect((await ask(question, ['tool', told])).content).toContain('I looked it up:')
    expect((await ask(question, ['tool', 'Nothing was found.'])).content).toContain('no record')
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
    expect((await ask(task, question)).content).toContain(openTaskOf('agent-1'))
    expect((await ask(question, ['tool', 'Nothing was found.'])).content).toContain('idle')
  })

  it('records which messages it received word for word, including those of other sessions', async () => {
    await ask(['user', 'Somebody mentions [agent-1.7] only.'])
    expect(model.record().seen.size).toBe(0)
    await ask(['user', told])
    expect([...model.record().seen]).toEqual(['agent-1.7'])
    expect(model.record().strays).toEqual([])
    await ask(['user', '[agent-2.1] The code word of parcel agent-2.1 is alder.'])
    expect(model.record().strays).toEqual(['a request of agent-1 holds messages of agent-2'])
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

  async function ask(...said: readonly (readonly [role: string, text: string])[]): Promise<Said> {
    const messages = said.flatMap<object>(([role, content], at) => {
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
      body: JSON.stringify({ model: 'agent-1', messages, tools }),
    })
    const { choices } = (await response.json()) as { choices: readonly { message: Said }[] }
    const [choice] = choices
    if (choice === undefined) throw new Error('nothing was answered')
    return choice.message
  }
})
