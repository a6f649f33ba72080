import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversation } from '../../../../../../test/support/generators.ts'
import { tries } from '../../../../../../test/support/seeded-random.ts'
import type { JsonObject, JsonValue } from '../../../base/json.ts'
import { DIALECTS, type Dialect } from '../../dialect.ts'
import { render } from '../render.ts'
import { type DialectRule, explainRule, RULES_BY_DIALECT } from '../rules.ts'
import { checkWire } from './check.ts'

const user = (content: JsonValue): JsonObject => ({ role: 'user', content })
const reply = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content,
  ...more,
})

const chatCall = (id: JsonValue, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'bash', arguments: '{}', ...more },
})
const chatResult = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'ok' })
const chatStep = (id: JsonValue, more: JsonObject = {}): JsonObject[] => [
  reply(null, { tool_calls: [chatCall(id, more)] }),
  chatResult(String(id)),
]
const chat = (...messages: JsonValue[]): JsonObject => ({ messages })

const item = (call_id: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  call_id,
  name: 'bash',
  arguments: '{}',
  ...more,
})
const output = (call_id: string): JsonObject => ({
  type: 'function_call_output',
  call_id,
  output: 'ok',
})
const reasoning = (id: string): JsonObject => ({ type: 'reasoning', id, summary: [] })
const responses = (...input: JsonValue[]): JsonObject => ({ input })

const use = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_use',
  id,
  name: 'bash',
  input: {},
  ...more,
})
const result = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
})
const text = (value: string): JsonObject => ({ type: 'text', text: value })
const thinking = { type: 'thinking', thinking: 'so', signature: 'sig' }

const turn = (role: string, ...parts: JsonValue[]): JsonObject => ({ role, parts })
const ask = turn('user', { text: 'go' })
const functionCall = (name: string, args: JsonValue = {}): JsonObject => ({
  functionCall: { name, args },
})
const functionResponse = (name: string, response: JsonValue = {}): JsonObject => ({
  functionResponse: { name, response },
})
const gemini = (...contents: JsonValue[]): JsonObject => ({ contents })

/** For every rule of every dialect, a request that breaks it. */
const BROKEN: { readonly [dialect in Dialect]: { readonly [rule in DialectRule]?: JsonValue } } = {
  'openai-chat': {
    shape: chat({ role: 'function', name: 'x', content: 'x' }, user('go')),
    'no-messages': chat({ role: 'system', content: 'be kind' }),
    'request-last': chat(user('go'), reply('done')),
    'lone-surrogate': chat(user('half a pair: \ud83d')),
    'call-id': chat(user('go'), ...chatStep('x'.repeat(41))),
    'duplicate-call-id': chat(user('go'), ...chatStep('a'), ...chatStep('a')),
    'tool-name': chat(user('go'), ...chatStep('a', { name: 'a.b' })),
    'call-input': chat(user('go'), ...chatStep('a', { arguments: {} })),
    'unanswered-call': chat(user('go'), reply(null, { tool_calls: [chatCall('a')] }), user('and?')),
    'orphan-result': chat(user('go'), chatResult('a')),
    'duplicate-result': chat(user('go'), ...chatStep('a'), chatResult('a')),
    'empty-content': chat(user('go'), reply(null), user('and?')),
    'content-part': chat(user([{ type: 'tool_result' }])),
  },
  'openai-responses': {
    shape: responses({ content: 'x' }, user('go')),
    'no-messages': responses(),
    'request-last': responses(user('go'), reply('done')),
    'lone-surrogate': responses(user('\udc00')),
    'call-id': responses(user('go'), item(''), output('')),
    'duplicate-call-id': responses(user('go'), item('a'), output('a'), item('a'), output('a')),
    'tool-name': responses(user('go'), item('a', { name: 'x'.repeat(65) }), output('a')),
    'call-input': responses(user('go'), item('a', { arguments: null }), output('a')),
    'unanswered-call': responses(user('go'), item('a'), user('and?')),
    'orphan-result': responses(user('go'), output('a')),
    'duplicate-result': responses(user('go'), item('a'), output('a'), output('a')),
    'empty-content': responses(user([{ type: 'input_text', text: ' \n' }])),
    'content-part': responses(user([{ type: 'output_text', text: 'x' }])),
    'reasoning-alone': responses(user('go'), reasoning('rs_1'), user('and?')),
    'duplicate-item-id': responses(
      user('go'),
      reasoning('rs_1'),
      reasoning('rs_1'),
      reply('x'),
      user('y'),
    ),
  },
  anthropic: {
    shape: chat(user('go'), { role: 'developer', content: 'x' }, user('go')),
    'system-position': chat(user('go'), { role: 'system', content: 'x' }, user('go')),
    'no-messages': chat(),
    'request-last': chat(user('go'), reply('done')),
    'lone-surrogate': { system: 'a\ud800', messages: [user('go')] },
    'call-id': chat(user('go'), reply([use('a.b')]), user([result('a.b')])),
    'duplicate-call-id': chat(user('go'), reply([use('a'), use('a')]), user([result('a')])),
    'tool-name': chat(user('go'), reply([use('a', { name: '' })]), user([result('a')])),
    'call-input': chat(user('go'), reply([use('a', { input: 'ls' })]), user([result('a')])),
    'unanswered-call': chat(user('go'), reply([use('a'), use('b')]), user([result('a')])),
    'orphan-result': chat(user([result('a')])),
    'duplicate-result': chat(user('go'), reply([use('a')]), user([result('a'), result('a')])),
    'first-role': chat(reply('hello'), user('go')),
    'role-alternation': chat(user('go'), user('on')),
    'empty-content': chat(user('go'), reply([]), user('on')),
    'blank-text': chat(user([text('go'), text('\n\n')])),
    'trailing-whitespace': chat(user('go'), reply('well, ')),
    'content-part': chat(user('go'), reply([{ type: 'image', source: {} }]), user('on')),
    'results-first': chat(user('go'), reply([use('a')]), user([text('see'), result('a')])),
    'error-result': chat(
      user('go'),
      reply([use('a')]),
      user([result('a', { is_error: true, content: '' })]),
    ),
    'thinking-unsigned': chat(
      user('go'),
      reply([{ ...thinking, signature: '' }, text('x')]),
      user('on'),
    ),
    'thinking-last': chat(user('go'), reply([text('x'), thinking]), user('on')),
  },
  gemini: {
    shape: gemini({ role: 'assistant', parts: [{ text: 'x' }] }, ask),
    'no-messages': gemini(),
    'request-last': gemini(ask, turn('model', { text: 'done' })),
    'lone-surrogate': gemini(turn('user', { text: '\ud800' })),
    'tool-name': gemini(ask, turn('model', functionCall('9')), turn('user', functionResponse('9'))),
    'call-input': gemini(
      ask,
      turn('model', functionCall('a', 'ls')),
      turn('user', functionResponse('a')),
    ),
    'unanswered-call': gemini(
      ask,
      turn('model', functionCall('a'), functionCall('b')),
      turn('user', functionResponse('a')),
    ),
    'orphan-result': gemini(ask, turn('model', { text: 'x' }), turn('user', functionResponse('a'))),
    'results-alone': gemini(
      ask,
      turn('model', functionCall('a')),
      turn('user', functionResponse('a'), { text: 'x' }),
    ),
    'first-role': gemini(turn('model', { text: 'hello' }), ask),
    'role-alternation': gemini(ask, ask),
    'empty-content': gemini(ask, turn('model'), ask),
    'blank-text': gemini(turn('user', { text: ' ' })),
    'content-part': gemini(turn('user', functionCall('a')), turn('user', functionResponse('a'))),
  },
  strict: {
    shape: chat(user([text('go')])),
    'no-messages': chat({ role: 'system', content: 'be kind' }),
    'request-last': chat(user('go'), reply('done')),
    'lone-surrogate': chat(user('\udfff')),
    'first-role': chat(reply('hello'), user('go')),
    'role-alternation': chat(user('go'), user('on')),
    'system-position': chat(user('go'), reply('x'), { role: 'system', content: 'x' }, user('y')),
    'blank-text': chat(user('')),
  },
}

/** Requests as the providers' documentation shows them. */
const SOUND: { readonly [dialect in Dialect]: readonly JsonValue[] } = {
  'openai-chat': [
    chat(
      { role: 'system', content: 'be kind' },
      user('go'),
      ...chatStep('a'),
      reply('ok'),
      user('and?'),
    ),
    chat(
      user([
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'https://x/y' } },
      ]),
      reply('', { tool_calls: [chatCall('a'), chatCall('b')] }),
      chatResult('b'),
      chatResult('a'),
    ),
    chat(
      { role: 'developer', content: [text('be kind')] },
      user('go'),
      reply(null, {
        tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }],
      }),
      chatResult('a'),
    ),
  ],
  'openai-responses': [
    responses(user('go'), reasoning('rs_1'), item('a'), item('b'), output('b'), output('a')),
    responses({ type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }, user('and?')),
    { input: 'go' },
  ],
  anthropic: [
    { system: [text('be kind')], messages: [user('go')] },
    chat(
      user('go'),
      reply([thinking, text('I look.'), use('a')]),
      user([result('a'), text('and?')]),
    ),
  ],
  gemini: [
    gemini(
      ask,
      turn('model', functionCall('a'), functionCall('a')),
      turn('user', functionResponse('a'), functionResponse('a')),
      ask,
    ),
    { systemInstruction: { parts: [{ text: 'be kind' }] }, contents: [ask] },
  ],
  strict: [chat({ role: 'system', content: 'be kind' }, user('go'), reply('x'), user('y'))],
}

describe('checkWire for gemini', () => {
  it.each([
    ['has the name of another call', [functionCall('a')], [functionResponse('b')]],
    ['comes in addition', [functionCall('a')], [functionResponse('a'), functionResponse('a')]],
    [
      'changes places with another',
      [functionCall('a'), functionCall('b')],
      [functionResponse('b'), functionResponse('a')],
    ],
  ])('finds a response that %s', (_what, calls, responses) => {
    const wire = gemini(ask, turn('model', ...calls), turn('user', ...responses))
    expect(checkWire('gemini', wire).map(({ rule }) => rule)).toContain('orphan-result')
  })
})

describe.each(DIALECTS)('checkWire for %s', (dialect) => {
  it.each(RULES_BY_DIALECT[dialect])('finds a violation of %s', (rule) => {
    const wire = BROKEN[dialect][rule]
    if (wire === undefined) throw new Error(`no example breaks ${rule}: ${explainRule(rule)}`)
    expect(checkWire(dialect, wire).map((violation) => violation.rule)).toContain(rule)
  })

  it('has an example of every rule', () => {
    expect(Object.keys(BROKEN[dialect]).toSorted()).toEqual(RULES_BY_DIALECT[dialect].toSorted())
  })

  it('passes what the provider documents', () => {
    for (const wire of SOUND[dialect]) expect(checkWire(dialect, wire)).toEqual([])
  })

  it('reports its own rules only, and judges any JSON without failing', () => {
    const key = fc.constantFrom(
      ...[
        'role',
        'type',
        'content',
        'parts',
        'text',
        'tool_calls',
        'function',
        'name',
        'id',
        'call_id',
      ],
      ...['tool_use_id', 'tool_call_id', 'input', 'functionCall', 'functionResponse', 'output'],
    )
    const leaf = fc.constantFrom<JsonValue>(
      ...[
        'user',
        'assistant',
        'model',
        'tool',
        'system',
        'text',
        'tool_use',
        'tool_result',
        'a',
        '',
        '\ud800',
      ],
      ...[
        'function_call',
        'function_call_output',
        'reasoning',
        'thinking',
        'message',
        null,
        1,
        true,
      ],
    )
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5 }),
      ),
    }))
    const wire = fc.dictionary(
      fc.constantFrom('messages', 'input', 'contents', 'system'),
      fc.array(value),
    )
    fc.assert(
      fc.property(fc.oneof(wire, value), (json) => {
        for (const { rule } of checkWire(dialect, json))
          expect(RULES_BY_DIALECT[dialect]).toContain(rule)
      }),
      { numRuns: tries(500) },
    )
  })

  it('finds violations in at least half of the slices that keep the last messages', () => {
    let broken = 0
    let slices = 0
    fc.assert(
      fc.property(
        conversation({ endsWith: 'request', turnsMax: 6 }),
        fc.nat(),
        (messages, seed) => {
          const wire = render(messages, dialect)
          const [key = ''] = Object.keys(wire).filter(
            (name) => Array.isArray(wire[name]) && name !== 'system',
          )
          const items = wire[key] as readonly JsonValue[]
          if (items.length < 6) return
          const kept = items.slice(-(1 + (seed % (items.length - 2))))
          slices++
          if (checkWire(dialect, { ...wire, [key]: kept }).length > 0) broken++
        },
      ),
      { numRuns: 300, seed: 1 },
    )
    // OpenAI accepts a reply as the first message; the others refuse a leading reply or result.
    expect(broken / slices).toBeGreaterThan(dialect.startsWith('openai') ? 0.2 : 0.4)
  })

  it('names the place of a violation', () => {
    const wire = BROKEN[dialect]['lone-surrogate'] ?? null
    expect(checkWire(dialect, wire)[0]?.at).toMatch(/^(messages|input|contents|system)/)
  })
})

describe('what each provider refuses as well', () => {
  const rules = (dialect: Dialect, wire: JsonObject) =>
    checkWire(dialect, wire).map(({ rule }) => rule)
  const anthropic = (...messages: JsonValue[]): JsonObject => ({ messages })

  it.each<[string, Dialect, JsonObject, readonly DialectRule[]]>([
    [
      'an output that is missing',
      'openai-responses',
      responses(user('go'), item('a'), { type: 'function_call_output', call_id: 'a' }),
      ['shape'],
    ],
    [
      'an output of a custom tool that is missing',
      'openai-responses',
      responses(...[user('go'), { type: 'custom_tool_call', call_id: 'a', name: 'b', input: '' }], {
        type: 'custom_tool_call_output',
        call_id: 'a',
      }),
      ['shape'],
    ],
    [
      'nothing of a result that has other fields',
      'openai-responses',
      responses(...[user('go'), { type: 'computer_call', call_id: 'a' }], {
        type: 'computer_call_output',
        call_id: 'a',
        screenshot: {},
      }),
      [],
    ],
    [
      'sealed thoughts without their seal',
      'anthropic',
      anthropic(user('go'), reply([{ type: 'redacted_thinking' }, text('a')]), user('on')),
      ['thinking-unsigned'],
    ],
    [
      'sealed thoughts at the end',
      'anthropic',
      anthropic(
        user('go'),
        reply([text('a'), { type: 'redacted_thinking', data: 'x' }]),
        user('on'),
      ),
      ['thinking-last'],
    ],
    [
      'a picture from the assistant',
      'anthropic',
      anthropic(user('go'), reply([{ type: 'image' }, text('a')]), user('on')),
      ['content-part'],
    ],
    [
      'a failed call without a word',
      'anthropic',
      anthropic(
        user('go'),
        reply([use('a')]),
        user([result('a', { is_error: true, content: [] })]),
      ),
      ['error-result'],
    ],
  ])('%s', (_, dialect, wire, found) => {
    expect(rules(dialect, wire)).toEqual(found)
  })
})
