import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SUMMARY_MODEL } from '../terms.ts'
import { StageModel } from './stage-model.ts'

const WISH = 'Write the handoff under these headings.'

describe('the model of the stage', () => {
  let model: StageModel
  let url: string
  beforeEach(async () => {
    model = new StageModel()
    url = await model.start()
  })
  afterEach(() => model.stop())

  it('keeps the requests of each agent, oldest first, and the size of its largest', async () => {
    const told: string[] = []
    model.onRequest = (agent) => told.push(agent)
    const texts = ['Hello.', 'Hello again, and again.', 'Bye.']
    for (const text of texts) await ask('scene-a', text)
    await ask('scene-b', 'Hello.')
    expect(told).toEqual(['scene-a', 'scene-a', 'scene-a', 'scene-b'])
    expect(model.requestsOf('scene-a')).toEqual(texts.map((text) => bodyOf('scene-a', text)))
    expect(model.requestsOf('scene-c')).toEqual([])
    expect(model.tokensMaxOf('scene-a')).toBeGreaterThan(model.tokensMaxOf('scene-b'))
    expect([model.tokensMaxOf('scene-b') > 0, model.tokensMaxOf('scene-c')]).toEqual([true, 0])
  })

  it('spoils the answers of one agent until it is healed, with the newest fault', async () => {
    model.spoil('scene-a', 'status; code=500')
    model.spoil('scene-a', 'status; code=503')
    expect([await ask('scene-a', 'x'), await ask('scene-b', 'x')]).toEqual([503, 200])
    expect(await ask('scene-a', 'x')).toBe(503)
    model.heal('scene-a')
    model.heal('scene-c')
    expect(await ask('scene-a', 'x')).toBe(200)
  })

  it('spoils the handoffs of one conversation, whichever model writes them', async () => {
    model.spoilSummary('scene-a', 'status; code=503')
    expect([
      await ask(SUMMARY_MODEL, 'Of scene-a.'),
      await ask(SUMMARY_MODEL, 'Of scene-b.'),
      await ask('scene-a', `Of scene-a. ${WISH}`),
      await ask('scene-a', 'Of scene-a.'),
      await ask('scene-b', `Of scene-a. ${WISH}`),
    ]).toEqual([503, 200, 503, 200, 200])
    model.heal('summary of scene-a')
    expect(await ask(SUMMARY_MODEL, 'Of scene-a.')).toBe(200)
  })

  it('takes a moment for a handoff alone', async () => {
    const before = performance.now()
    await ask(SUMMARY_MODEL, 'Of scene-b.')
    expect(performance.now() - before).toBeGreaterThanOrEqual(149)
  })

  const bodyOf = (name: string, content: string) =>
    JSON.stringify({ model: name, messages: [{ role: 'user', content }] })

  async function ask(name: string, text: string): Promise<number> {
    const response = await fetch(`${url}/v1/chat/completions`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: bodyOf(name, text),
    })
    await response.text()
    return response.status
  }
})
