import { describe, expect, it } from 'vitest'
import { sessionId } from '../../base/ids.ts'
import type { ToolRequest } from '../../session/step.ts'
import { AgentTools } from '../agent-tools.ts'
import { textOfError } from '../attempt.ts'
import { checkTools, type SchemaIssue, type StandardSchema, tool } from '../tool.ts'

describe('the tools of an agent', () => {
  const schema = (issues?: readonly SchemaIssue[]): StandardSchema<unknown> => ({
    '~standard': {
      ...{ version: 1, vendor: 'test' },
      validate: (value) => (issues === undefined ? { value } : { issues }),
    },
  })
  const request: ToolRequest = {
    ...{ sessionId: sessionId('ana'), agent: 'mine', turn: 3, entry: 4, key: 'ana-4-c1' },
    call: { type: 'tool-call', id: 'c1', name: 'look', input: {} },
  }
  const run = async (
    execute: () => unknown,
    {
      issues,
      lease = new AbortController().signal,
    }: { issues?: readonly SchemaIssue[]; lease?: AbortSignal } = {},
  ) => {
    const errors: unknown[] = []
    const options = { description: 'x', jsonSchema: {}, input: schema(issues), execute }
    const onError = (error: unknown, where: object) => {
      errors.push([textOfError(error), where])
    }
    const tools = new AgentTools({ tools: { look: tool(options) }, onError }, ({ role }) =>
      role === 'tool' ? 7 : 0,
    )
    return { outcome: await tools.run(request, lease), errors, tools }
  }

  it('answer with a text, with JSON, or with nothing', async () => {
    for (const [made, output] of [
      ['Rain.', 'Rain.'],
      [undefined, ''],
      [{ rain: [true] }, '{"rain":[true]}'],
      [null, 'null'],
    ]) {
      const { outcome, errors } = await run(() => made)
      expect(outcome).toEqual({ outcome: 'ok', output, tokens: 7 })
      expect(errors).toEqual([])
    }
  })

  it('tell the model and `onError` of a result that no JSON can hold', async () => {
    const problem =
      'The result of the tool "look" cannot be written as JSON. Return a string or plain data.'
    for (const made of [new Map(), { all: new Set([1]) }, () => 5]) {
      const { outcome, errors } = await run(() => made)
      expect(outcome).toEqual({ outcome: 'error', output: problem, tokens: 7 })
      const where = { sessionId: 'ana', turn: 3, attempt: 1, tool: 'look' }
      expect(errors).toEqual([[problem, where]])
    }
  })

  it('name each place where the input is wrong', async () => {
    const { outcome } = await run(() => 'ran', {
      issues: [
        { message: 'too long', path: ['towns', { key: 0 }, 'name'] },
        { message: 'too much' },
      ],
    })
    const output = 'The input is not valid. towns.0.name: too long; input: too much'
    expect(outcome).toEqual({ outcome: 'error', output, tokens: 7 })
  })

  it('stop with their lease, and know no tool of another name', async () => {
    const stop = new AbortController()
    const { outcome, errors, tools } = await run(
      () => {
        stop.abort(new Error('lost'))
        return new Promise(() => {})
      },
      { lease: stop.signal },
    )
    expect(outcome).toEqual({ outcome: 'interrupted', output: 'Stopped.', tokens: 7 })
    expect(errors).toEqual([])
    const other = { ...request, call: { ...request.call, id: 'c2', name: 'toString' } }
    expect(await tools.run(other, new AbortController().signal)).toEqual({
      ...{ outcome: 'error', output: 'There is no tool "toString".', tokens: 7 },
    })
  })

  it.each<[string, unknown, string, string]>([
    ['a list', [], 'tools', '"tools" is an array. Give an object: { name: tool }.'],
    ['a text', 'x', 'tools', '"tools" is "x". Give an object: { name: tool }.'],
    ['null', null, 'tools', '"tools" is null. Give an object: { name: tool }.'],
    [
      ...['a name with a blank', { 'a b': {} }, 'tools.a b'],
      'No model can call "a b". Use 1 to 64 letters, digits, "_" or "-".',
    ],
    [
      ...['an empty description', { a: { description: '' } }, 'tools.a.description'],
      '"tools.a.description" is "". Give a text that is not empty.',
    ],
    [
      ...['a JSON Schema as input', { a: { description: 'x', execute() {}, input: {} } }],
      ...['tools.a.input', '"tools.a.input" is an object. Give a schema of zod, valibot or '],
    ],
  ] as [string, unknown, string, string][])(
    'are refused if they are %s',
    (_, tools, at, problem) => {
      const message = expect.stringContaining(problem)
      expect(() => checkTools(tools)).toThrow(expect.objectContaining({ at, message }))
    },
  )
})
