import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../test/support/timing.ts'
import type { FormatName } from './formats/names.ts'
import { InputError } from './input-error.ts'
import { readConversation } from './read.ts'

function refusal(
  text: string,
  format: FormatName | 'auto' = 'auto',
  bytesMax?: number,
): InputError {
  try {
    readConversation(text, format, bytesMax === undefined ? {} : { bytesMax })
  } catch (error) {
    if (error instanceof InputError) return error
    throw error
  }
  throw new Error('the input was read')
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const hi = '{"role":"user","content":"hi"}'

describe('readConversation refuses', () => {
  it.each([
    ['an empty file', '', 'is empty'],
    ['blanks only', ' \n\t\n', 'is empty'],
    ['a byte order mark only', '\ufeff', 'is empty'],
    ['a number', '42', 'expected an array, or an object'],
    ['a string', '"hi"', 'expected an array, or an object'],
    ['null', 'null', 'expected an array, or an object'],
    ['an array of numbers', '[1, 2]', 'item 0 is not an object'],
    ['an object without messages', '{"a": 1}', 'openai-responses: expected an array'],
    ['an unknown role', '[{"role":"model","content":"hi"}]', 'has the role "model"'],
    ['a UI message', '[{"role":"user","parts":[]}]', 'has "parts" where "content" is due'],
    ['lines of nothing known', '{"a":1}\n{"b":2}', 'hermes: line 1 has no role'],
    ['5,000 levels', nested(5_000), 'deeper than 1000 levels'],
    ['5,000 levels in a line', `${hi}\n${nested(5_000)}\n${hi}`, 'line 2, column 1001'],
  ])('%s', (_, text, problem) => {
    const error = refusal(text)
    expect(error.message).toContain(problem)
    expect({ code: error.code, retryable: error.retryable }).toEqual({
      code: 'bad-input',
      retryable: false,
    })
  })

  it.each<[string, string, number, number]>([
    ['a missing comma', '[\n  {"a": 1}\n  {"b": 2}\n]', 3, 3],
    ['a trailing comma', '[1,\n2,\n]', 3, 1],
    ['a single quote', "['a']", 1, 2],
    ['a string over two lines', '["a\nb"]', 1, 4],
    ['a raw NUL', '["a\u0000b"]', 1, 4],
    ['a bad escape', '["\\x"]', 1, 3],
    ['an early end', '[{"role":"user",\n"content":', 2, 11],
    ['text behind the end', '[]\n[]', 2, 1],
    ['a broken line among lines', `${hi}\n\n{"role":user}\n${hi}`, 3, 9],
    ['a broken first line', `{"role":user}\n${hi}\n${hi}`, 1, 9],
    ['a torn line that is not the last', `${hi}\n{"role":"us\n${hi}`, 2, 12],
  ])('%s, with its line and column', (_, text, line, column) => {
    const error = refusal(text)
    expect(error.position).toEqual({ line, column })
    expect(error.message).toContain(`line ${line}, column ${column}`)
  })

  it('input that fits no format, with the reason of each', () => {
    const { message } = refusal('[{"kind":"event"}]')
    for (const name of ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk', 'codex', 'pi']) {
      expect(message).toMatch(new RegExp(`^ {2}${name}: .`, 'm'))
    }
  })

  it('input that is not of the named format', () => {
    expect(refusal('[{"role":"user"}]', 'codex').message).toContain('codex: ')
    expect(refusal(`${hi}\n${hi}`, 'openai-chat').position).toEqual({ line: 2, column: 1 })
  })

  it('more bytes than the limit [fault 35]', () => {
    expect(refusal(`[${hi}]`, 'auto', 20).message).toContain('at most 20 are read')
    expect(readConversation(`[${hi}]`, 'auto', { bytesMax: 32 }).messages).toHaveLength(1)
  })
})

describe('readConversation distinguishes formats', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
  it.each<[FormatName, unknown]>([
    ['openai-chat', []],
    ['openai-chat', [{ role: 'user', content: 'hi' }]],
    ['openai-chat', [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]],
    ['openai-chat', { model: 'm', messages: [{ role: 'user', content: 'hi' }] }],
    ['openai-chat', [{ role: 'assistant', tool_calls: [call] }]],
    ['openai-chat', [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }]],
    ['openai-responses', { input: 'hi' }],
    ['openai-responses', { input: [{ role: 'user', content: 'hi' }] }],
    ['openai-responses', [{ type: 'message', role: 'user', content: 'hi' }]],
    ['openai-responses', [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]],
    [
      'openai-responses',
      [
        { role: 'user', content: 'hi' },
        { type: 'reasoning', id: 'r' },
      ],
    ],
    ['anthropic', { system: 'be brief', messages: [{ role: 'user', content: 'hi' }] }],
    ['anthropic', [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f' }] }]],
    ['anthropic', [{ role: 'user', content: [{ type: 'image', source: { type: 'url' } }] }]],
    ['anthropic', [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }] }]],
    ['ai-sdk', [{ role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a' }] }]],
    ['ai-sdk', [{ role: 'user', content: 'hi', providerOptions: {} }]],
    ['ai-sdk', { system: 's', messages: [{ role: 'tool', content: [{ type: 'tool-result' }] }] }],
    ['hermes', { role: 'user', content: 'hi' }],
    ['codex', { timestamp: 't', type: 'session_meta', payload: { id: 'a' } }],
    ['pi', { type: 'session', version: 3, id: 'a' }],
    ['claude-code', { type: 'user', uuid: 'a', message: { role: 'user', content: 'hi' } }],
  ])('%s: %j', (format, document) => {
    expect(readConversation(JSON.stringify(document), 'auto').format).toBe(format)
  })

  it('detects a format by the last of many messages', () => {
    const plain = Array.from({ length: 500 }, () => ({ role: 'user', content: 'hi' }))
    const last = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f' }] }
    expect(readConversation(JSON.stringify([...plain, last]), 'auto').format).toBe('anthropic')
  })

  it('uses a named format if the structure allows it', () => {
    const text = JSON.stringify([{ role: 'user', content: 'hi' }])
    for (const format of ['anthropic', 'ai-sdk', 'openai-responses'] as const) {
      expect(readConversation(text, format).format).toBe(format)
    }
  })
})

describe('readConversation copes, and says so, with', () => {
  it('a torn last line, blank lines, a byte order mark and Windows line ends', () => {
    const text = `\ufeff${hi}\r\n\r\n${hi}\r\n{"role":"assis`
    const { messages, notes } = readConversation(text, 'auto')
    expect(messages).toHaveLength(2)
    expect(notes).toEqual([
      'Line 4, the last one, is torn and was left out.',
      'Blank lines were skipped: 1.',
    ])
  })

  it('documents that share a line', () => {
    const { messages, notes } = readConversation(`${hi}\n${hi}${hi}`, 'auto')
    expect(messages).toHaveLength(3)
    expect(notes).toEqual(['Line 2 held several documents; all were read.'])
  })

  it('null, dict, number and missing content, lone surrogates, NUL and a key called __proto__ [fault 35]', () => {
    const text = `[{"role":"user","content":null},{"role":"user","content":{"a":1}},{"role":"user"},
      {"role":"user","content":7,"__proto__":{"polluted":true}},
      {"role":"user","content":["x",null,{"type":"text","text":"\\ud800\\u0000"}]}]`
    const { messages } = readConversation(text, 'auto')
    expect(messages.map((message) => 'parts' in message && message.parts.length)).toEqual([
      0, 1, 0, 1, 3,
    ])
    expect('polluted' in {}).toBe(false)
  })

  it('a text of half a million lines in one message [fault 35]', () => {
    const text = JSON.stringify([{ role: 'user', content: 'x\n'.repeat(500_000) }])
    expect(readConversation(text, 'auto').messages).toHaveLength(1)
  })
})

describe('readConversation takes time in proportion', () => {
  const repeat = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length))
  it.each<[string, (length: number) => string]>([
    ['brackets', (length) => repeat('[', length)],
    ['backslashes in a string', (length) => `["${repeat('\\', length)}`],
    ['documents in a line', (length) => `${hi}\n${repeat('{}', length)}`],
    ['parts in a message', (length) => `[{"role":"user","content":[${repeat('1,', length)}1]}]`],
    ['items in a reply', (length) => `[${repeat('{"type":"reasoning"},', length)}{"type":"x"}]`],
    ['a fault at the end', (length) => `[${repeat('\n{},', length)}]`],
  ])('to %s', (_, make) => {
    const prepare = (length: number) => {
      const text = make(length)
      return () => {
        try {
          readConversation(text, 'auto')
        } catch (error) {
          expect(error).toBeInstanceOf(InputError)
        }
      }
    }
    // Quadratic would be 100. JSON.parse alone reached 35 on a busy machine, because at this size
    // the garbage collector starts to copy.
    expect(costOfTenfold(prepare, { size: 100_000, floorMs: 2, clearlyLinear: 30 })).toBeLessThan(
      50,
    )
  })
})
