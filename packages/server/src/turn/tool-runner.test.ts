import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { JsonObject, JsonValue } from '#core/base/json'
import { readToolInput } from '#core/message/formats/tool-input'
import type { ToolCallPart } from '#core/message/message'
import { messageCounter } from '#core/tokens/count'
import { FakeClock } from '../../../../test/model/fake-clock.ts'
import type { Tool, ToolAnswer } from '../tools/tool.ts'
import { OUTPUT_CHARACTERS_MAX, type ToolFailure, toolRunner } from './tool-runner.ts'

const countMessage = messageCounter('generic')

function tool(run: Tool['run'], fields: Partial<Tool> = {}): Tool {
  const inputSchema: JsonObject = {
    type: 'object',
    properties: { path: { type: 'string' }, lines: { type: 'integer', minimum: 1 } },
    required: ['path'],
    additionalProperties: false,
  }
  return { name: 'look', description: '', inputSchema, isRepeatable: true, run, ...fields }
}

const answers = (output: ToolAnswer['output']): Tool['run'] => {
  return async () => ({ outcome: 'ok', output })
}

function stage(tools: readonly Tool[], clock = new FakeClock()) {
  const failures: ToolFailure[] = []
  const runner = toolRunner({
    tools: new Map([['ada', tools]]),
    clock,
    countMessage: (_, message) => countMessage(message),
    callMsMax: 5_000,
    onFailure: (failure) => failures.push(failure),
  })
  const run = (call: Partial<ToolCallPart>, signal = new AbortController().signal) => {
    const whole: ToolCallPart = {
      ...{ type: 'tool-call', id: 'c1', name: 'look', input: { path: 'a' } },
      ...call,
    }
    const place = { sessionId: sessionId('s-1'), agent: 'ada', turn: 1, entry: 4, key: 'k' }
    return runner.run({ ...place, call: whole }, signal)
  }
  return { runner, run, failures, clock }
}

describe('a tool call', () => {
  it('passes on the input and stores the whole output with its token count', async () => {
    const seen: JsonValue[] = []
    const { run, clock } = stage([
      tool(async ({ input }) => {
        seen.push(input)
        return { outcome: 'ok', output: 'x'.repeat(300_000) }
      }),
    ])
    const outcome = await run({ input: { path: 'a', lines: 2 } })
    expect(seen).toEqual([{ path: 'a', lines: 2 }])
    expect(outcome.output).toBe('x'.repeat(300_000))
    expect(outcome.tokens).toBeGreaterThan(50_000)
    expect(clock.timers).toBe(0)
  })

  it('of an unknown tool lists the available ones', async () => {
    const { run } = stage([tool(answers('a')), tool(answers('b'), { name: 'write' })])
    expect(await run({ name: 'delete' })).toMatchObject({
      outcome: 'error',
      output: 'There is no tool of the name "delete". There are: look, write.',
    })
  })

  it.each([
    ['a missing field', {}, 'path'],
    ['a wrong type', { path: 3 }, 'path'],
    ['a number out of bounds', { path: 'a', lines: 0 }, 'lines'],
    ['a field too many', { path: 'a', secret: 'hunter2' }, 'secret'],
    ['no object', 'a', 'object'],
  ])('with %s is refused with the problem and not carried out', async (_, input, word) => {
    let runs = 0
    const { run } = stage([
      tool(async () => {
        runs++
        return { outcome: 'ok', output: '' }
      }),
    ])
    const { outcome, output } = await run({ input })
    expect([outcome, runs]).toEqual(['error', 0])
    expect(output).toContain(word)
    expect(output).not.toContain('hunter2')
  })

  it('with invalid JSON arguments gets the position of the error', async () => {
    const { run } = stage([tool(answers('a'))])
    const { output } = await run(readToolInput('{"path": "a'))
    expect(output).toBe(
      'The arguments are not valid JSON: a string is never closed, at character 12. Send one JSON object.',
    )
  })

  it('whose schema is unreadable is validated by the tool alone', async () => {
    const odd = tool(answers('ran'), { inputSchema: { type: 'nonsense' } })
    expect(await stage([odd]).run({ input: { a: 1 } })).toMatchObject({ output: 'ran' })
  })

  it('that takes too long is aborted and gets a result', async () => {
    const { run, clock } = stage([
      tool((_, signal) => {
        return new Promise(() => signal.addEventListener('abort', () => stopped.push('told')))
      }),
    ])
    const stopped: string[] = []
    const running = run({})
    await clock.pass(5_000)
    expect(await running).toMatchObject({
      outcome: 'error',
      output: expect.stringContaining('Stopped after 5 s'),
    })
    expect(stopped).toEqual(['told'])
    expect(clock.timers).toBe(0)
  })

  it("that is stopped ends at once, with the tool's final output if there is any", async () => {
    const deaf = stage([tool(() => new Promise(() => {}))])
    const polite = stage([
      tool(
        (_, signal) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () =>
              resolve({ outcome: 'interrupted', output: 'half of it' }),
            ),
          ),
      ),
    ])
    for (const [stage, output] of [
      [deaf, 'Stopped. It may have had its effect.'],
      [polite, 'half of it'],
    ] as const) {
      const stop = new AbortController()
      const running = stage.run({}, stop.signal)
      stop.abort()
      expect(await running).toMatchObject({ outcome: 'interrupted', output })
    }
  })

  it('whose tool throws becomes a result, and the error goes to the log without the input', async () => {
    const thrown = new Error('boom')
    const throws: Tool['run'] = () => {
      throw thrown
    }
    const { run, failures } = stage([tool(throws)])
    const outcome = await run({ input: { path: 'hunter2' } })
    expect(outcome.outcome).toBe('error')
    expect(outcome.output).not.toContain('boom')
    expect(failures).toEqual([{ sessionId: 's-1', tool: 'look', entry: 4, error: thrown }])
  })

  it('keeps a million characters and reports how many more there were', async () => {
    const { run } = stage([tool(answers(`${'😀'.repeat(600_000)}`))])
    const { output } = await run({})
    expect(String(output).isWellFormed()).toBe(true)
    expect(String(output).length).toBeLessThan(OUTPUT_CHARACTERS_MAX + 100)
    expect(output).toMatch(/\[200000 further characters were not kept\]$/)
  })

  it('bounds the parts of an output together', async () => {
    const image = (data: string) =>
      ({ type: 'image', source: { kind: 'base64', mediaType: 'image/png', data } }) as const
    const { run } = stage([tool(answers([image('abcd'), image('x'.repeat(1_100_000))]))])
    expect((await run({})).output).toEqual([
      image('abcd'),
      { type: 'text', text: '[a part of type image was too large and was not kept]' },
    ])
  })

  it('may be repeated only if every tool of that name allows it', () => {
    const once = tool(answers(''), { name: 'start', isRepeatable: false })
    const { runner } = stage([tool(answers('')), once])
    expect(['look', 'start', 'nobody'].map((name) => runner.isRepeatable(name))).toEqual([
      ...[true, false, false],
    ])
  })
})
