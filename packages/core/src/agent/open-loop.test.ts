import { afterEach, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../store/memory/open.ts'
import { type Loop, openLoop } from './open-loop.ts'
import type { Format } from './typed-formats/format.ts'
import { type OpenAIChat, openaiChat } from './typed-formats/openai.ts'

type ChatLoop = Loop<Format<OpenAIChat>>

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function open(): Promise<ChatLoop> {
  const store = openMemoryStore()
  const loop = await openLoop({
    ...{ store, name: 'mine', format: openaiChat, contextWindow: 32_000, retry: { delayMs: 1 } },
  })
  opened.push(
    () => store.close(),
    () => loop.close(),
  )
  return loop
}

/** A worker that answers every step with the last words in it. */
async function echo(loop: ChatLoop): Promise<number> {
  let count = 0
  for await (const step of loop.steps()) {
    count++
    const last = step.request.messages.at(-1)
    step.reply({ role: 'assistant', content: `You said: ${String(last?.content)}` })
  }
  return count
}

describe('a loop', () => {
  it('shares its steps among any number of workers, and gives each question its own answer', async () => {
    const loop = await open()
    const workers = Array.from({ length: 4 }, () => echo(loop))
    const ids = Array.from({ length: 12 }, (_, number) => `user-${number}`)
    const answers = await Promise.all(ids.map((id) => loop.session(id).ask(`I am ${id}.`)))
    for (const [index, id] of ids.entries())
      expect(answers[index]).toMatchObject({ text: `You said: I am ${id}.` })
    await loop.close()
    const served = await Promise.all(workers)
    expect(served.reduce((sum, count) => sum + count, 0)).toBe(12)
  })

  it('gives the step of a worker that throws to another one', async () => {
    const loop = await open()
    const asked = loop.session('ana').ask('Hello.')
    const thrower = async () => {
      for await (const step of loop.steps()) throw new Error(`body of ${step.sessionId}`)
    }
    await expect(thrower()).rejects.toThrow('body of ana')
    void echo(loop)
    expect(await asked).toMatchObject({ kind: 'answered', text: 'You said: Hello.' })
  })

  it('fails a step on request, and reports a second reply', async () => {
    const loop = await open()
    const [first, second] = [loop.session('ana').ask('One.'), loop.session('bo').ask('Two.')]
    const seen: unknown[] = []
    for await (const step of loop.steps()) {
      if (step.sessionId === 'ana') step.fail(new Error('no key'))
      else step.reply({ role: 'assistant', content: 'one' })
      for (const again of [() => step.reply({ role: 'assistant' }), () => step.fail('x')])
        expect(again).toThrow(expect.objectContaining({ code: 'already-replied' }))
      seen.push(step.sessionId)
      if (seen.length === 2) break
    }
    expect(await first).toMatchObject({ kind: 'failed', reason: 'no key' })
    expect(await second).toMatchObject({ kind: 'answered', text: 'one' })
  })
})
