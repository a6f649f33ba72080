import { afterEach, describe, expect, it } from 'vitest'
import type { JsonValue } from '../base/json.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { type Loop, openLoop } from './own-loop.ts'

describe('a loop of one’s own', () => {
  it('gets the context, commits the answer before tools run, and their results after', async () => {
    const { loop, store } = await open()
    await loop.admit('s', user('What is the weather?'))
    const seen: JsonValue[][] = []
    for await (const step of loop) {
      seen.push([...step.messages])
      if (seen.length === 1) {
        const calls = await step.reply(calling('weather', '{"town":"Bergen"}'))
        expect(calls.map(({ name, input, key }) => ({ name, input, key }))).toEqual([
          { name: 'weather', input: { town: 'Bergen' }, key: 's-3-call_1' },
        ])
        const entries = await store.readEntries({ sessionId: 's', from: 3, to: 3 } as never)
        expect(entries[0]?.kind).toBe('assistant')
        for (const call of calls) call.done('rain')
      } else {
        expect(await step.reply({ role: 'assistant', content: 'It rains.' })).toEqual([])
        break
      }
    }
    expect(seen[1]?.map((message) => (message as { role: string }).role)).toEqual([
      ...['system', 'user', 'assistant', 'tool'],
    ])
    expect(JSON.stringify(seen[1])).toContain('rain')
  })

  it('compacts beside the conversation, in the words of the writer', async () => {
    const { loop, store } = await open(async () => ({
      text: 'We spoke of rivers.',
      finish: 'stop',
    }))
    let last: readonly JsonValue[] = []
    for (let n = 1; n <= 14; n++) {
      await loop.admit('s', user(`${n}: ${'The river is wide and slow here. '.repeat(60)}`))
      for await (const step of loop) {
        last = step.messages
        await step.reply({ role: 'assistant', content: `I see, ${n}.` })
        break
      }
    }
    expect(JSON.stringify(last)).toContain('We spoke of rivers.')
    expect((await store.findSession('s' as never))?.effective).toBeGreaterThan(0)
  })

  it('refuses what is no message of its format', async () => {
    const { loop } = await open()
    await expect(loop.admit('s', { role: 'assistant', content: 'x' })).rejects.toThrow(
      'Expected one user message in the format openai-chat.',
    )
  })
})

const opened: { loop: Loop; close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const { loop, close } of opened.splice(0)) {
    await loop.close()
    await close()
  }
})

async function open(summarize?: Parameters<typeof openLoop>[0]['summarize']) {
  const store = await openMemoryStore()
  const loop = await openLoop({
    store,
    agent: 'mine',
    format: 'openai-chat',
    windowTokens: 8_000,
    system: 'You are brief.',
    ...(summarize !== undefined && { summarize }),
  })
  opened.push({ loop, close: () => store.close() })
  return { loop, store }
}

function user(content: string): JsonValue {
  return { role: 'user', content }
}

function calling(name: string, text: string): JsonValue {
  const call = { id: 'call_1', type: 'function', function: { name, arguments: text } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}
