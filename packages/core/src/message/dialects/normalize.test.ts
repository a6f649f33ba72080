import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { DIALECTS, type Dialect } from '../dialect.ts'
import { writeEnvelope } from '../handoff/envelope.ts'
import type { Handoff } from '../handoff/handoff.ts'
import type { AssistantPart, Message, ResultPart, ToolResultPart, UserPart } from '../message.ts'
import { normalize } from './normalize.ts'
import { render } from './render.ts'

const text = (value: string) => ({ type: 'text', text: value }) as const
const user = (...parts: (string | UserPart)[]): Message => ({
  role: 'user',
  parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
})
const reply = (...parts: (string | AssistantPart)[]): Message => ({
  role: 'assistant',
  parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
})
const system = (value: string): Message => ({ role: 'system', parts: [text(value)] })
const call = (id: string, name = 'bash'): AssistantPart => ({
  type: 'tool-call',
  id,
  name,
  input: {},
})
const result = (callId: string, ...output: ResultPart[]): ToolResultPart => ({
  type: 'tool-result',
  callId,
  output,
})
const results = (...parts: ToolResultPart[]): Message => ({ role: 'tool', parts })
const image: UserPart = { type: 'image', source: { kind: 'url', url: 'https://example.org/a.png' } }
const thought: AssistantPart = {
  type: 'reasoning',
  text: 'so',
  sealed: { provider: 'anthropic', value: { type: 'thinking', thinking: 'so', signature: 'sig' } },
}
const item: AssistantPart = {
  type: 'reasoning',
  text: '',
  sealed: { provider: 'openai', value: { type: 'reasoning', id: 'rs_1', summary: [] } },
}
const handoff: Handoff = {
  version: 1,
  by: 'digest',
  covers: 40,
  kept: 3,
  compactions: 1,
  preserved: [],
  tasks: [],
  files: [],
  ledger: [],
  summary: 'The tests were fixed.',
}

/** Roles and kinds of parts, in a compact notation. */
function outline(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    if (message.role === 'handoff') return 'handoff'
    const parts = message.parts.map((part) => {
      if (part.type === 'tool-call') return `call ${part.id}`
      if (part.type === 'tool-result') return `result ${part.callId}`
      return part.type === 'text' ? part.text.split('\n')[0] : part.type
    })
    return `${message.role}: ${parts.join(', ')}`
  })
}

const outlineFor = (dialect: Dialect, ...messages: Message[]) =>
  outline(normalize(messages, dialect))

describe('a handoff', () => {
  it.each(DIALECTS)(
    'is one user message with the request behind it, and that comes last: %s',
    (dialect) => {
      const messages = normalize(
        [system('be kind'), { role: 'handoff', handoff }, user('go on')],
        dialect,
      )
      expect(messages.map(({ role }) => role)).toEqual(['system', 'user'])
      expect(messages[1]).toEqual({
        role: 'user',
        parts: [...writeEnvelope(handoff).parts, text('go on')],
      })
    },
  )

  it.each(DIALECTS)('joins a protected user message before it: %s', (dialect) => {
    const messages = [user('first'), { role: 'handoff', handoff } as const, user('go on')]
    expect(normalize(messages, dialect).map(({ role }) => role)).toEqual(['user'])
  })
})

describe('neighbours of one role', () => {
  it('stay separate if the provider accepts them', () => {
    const messages = [user('one'), user('two'), reply('a'), reply('b'), user('three')]
    expect(normalize(messages, 'openai-chat')).toBe(messages)
    expect(normalize(messages, 'openai-responses')).toBe(messages)
  })

  it.each(['anthropic', 'gemini', 'strict'] as const)(
    'become one message of several parts: %s',
    (dialect) => {
      expect(
        outlineFor(dialect, user('one'), user('two'), reply('a'), reply('b'), user('three')),
      ).toEqual(['user: one, two', 'assistant: a, b', 'user: three'])
    },
  )

  it('are synthetic when joined only if each of them is', () => {
    const note: Message = { role: 'user', parts: [text('note')], synthetic: true }
    const marks = (...messages: Message[]) =>
      normalize(messages, 'anthropic').map((message) => 'synthetic' in message)
    expect(marks(note, note)).toEqual([true])
    expect(marks(note, user('one'))).toEqual([false])
  })

  it('become one if chat would expect the results between them', () => {
    expect(
      outlineFor(
        'openai-chat',
        reply(call('a')),
        reply(call('b')),
        results(result('a'), result('b')),
      ),
    ).toEqual(['assistant: call a, call b', 'tool: result a, result b'])
  })

  it('become one message with all results of a step', () => {
    const messages = [
      user('go'),
      reply(call('a'), call('b')),
      results(result('b')),
      results(result('a')),
    ]
    expect(outlineFor('anthropic', ...messages)).toEqual([
      'user: go',
      'assistant: call a, call b',
      'tool: result b, result a',
    ])
  })
})

describe('the first role', () => {
  it.each(['anthropic', 'gemini', 'strict'] as const)('is the user’s: %s', (dialect) => {
    expect(outlineFor(dialect, system('be kind'), reply('hello'), user('hi'))).toEqual([
      'system: be kind',
      'user: [The messages before this one are not shown.]',
      'assistant: hello',
      'user: hi',
    ])
  })
})

describe('system text', () => {
  it('in the middle stays where it is, in the user role if the provider has no other', () => {
    const messages = [system('be kind'), user('go'), reply('ok'), system('be quick'), user('on')]
    expect(normalize(messages, 'openai-chat')).toBe(messages)
    expect(outlineFor('anthropic', ...messages).slice(-1)).toEqual(['user: be quick, on'])
  })
})

describe('an empty part or message', () => {
  it('is left out by itself', () => {
    const messages = [user('go'), reply('  '), user(''), reply(), user('on')]
    expect(outlineFor('openai-chat', ...messages)).toEqual(['user: go', 'user: on'])
    expect(outlineFor('anthropic', ...messages)).toEqual(['user: go, on'])
  })

  it('is left out beside other parts if the provider refuses it', () => {
    const messages = [user('go'), reply('\n\n', call('a')), results(result('a', text('')))]
    expect(normalize(messages, 'openai-chat')).toBe(messages)
    expect(outlineFor('anthropic', ...messages)[1]).toBe('assistant: call a')
  })
})

describe('reasoning', () => {
  it('goes back to its own provider, first and word for word', () => {
    const messages = [user('go'), reply(thought, call('a')), results(result('a'))]
    expect(normalize(messages, 'anthropic')).toBe(messages)
    const wire = JSON.stringify(render(messages, 'anthropic'))
    expect(wire).toContain(
      '"content":[{"type":"thinking","thinking":"so","signature":"sig"},{"type":"tool_use"',
    )
    for (const dialect of DIALECTS.filter((name) => name !== 'anthropic')) {
      expect(JSON.stringify(render(messages, dialect))).not.toContain('sig')
    }
  })

  it('in a message of its own stays with the reply after it', () => {
    const messages = [user('go'), reply(item), reply(call('a')), results(result('a'))]
    expect(normalize(messages, 'openai-responses')).toBe(messages)
  })

  it('of an interrupted reply is left out', () => {
    const messages = [user('go'), reply(item), user('again'), reply('ok', thought), user('on')]
    expect(outlineFor('openai-responses', ...messages)).toEqual([
      'user: go',
      'user: again',
      'assistant: ok',
      'user: on',
    ])
    expect(outlineFor('anthropic', ...messages)).toEqual([
      'user: go, again',
      'assistant: ok',
      'user: on',
    ])
  })
})

describe('an image from a tool', () => {
  const step = [
    user('look'),
    reply(call('a')),
    results(result('a', text('taken'), image as ResultPart)),
  ]

  it('stays in the result if the provider accepts it', () => {
    expect(normalize(step, 'anthropic')).toBe(step)
    expect(normalize(step, 'openai-responses')).toBe(step)
  })

  it.each(['openai-chat', 'gemini'] as const)(
    'is shown behind the results where it does not: %s',
    (dialect) => {
      expect(outlineFor(dialect, ...step, user('well?'))).toEqual([
        'user: look',
        'assistant: call a',
        'tool: result a',
        'user: [Shown by the tools above:], image, well?',
      ])
    },
  )
})

describe('names', () => {
  it('that a provider refuses are changed for the call and its result alike', () => {
    const messages = [
      user('go'),
      reply(call('functions.bash:0', 'web/search'), call('functions_bash_0')),
      results(result('functions_bash_0'), result('functions.bash:0')),
    ]
    expect(outlineFor('anthropic', ...messages)).toEqual([
      'user: go',
      'assistant: call functions_bash_0, call functions_bash_0_2',
      'tool: result functions_bash_0_2, result functions_bash_0',
    ])
    expect(JSON.stringify(render(messages, 'anthropic'))).toContain('"name":"web_search"')
  })
})

describe('render', () => {
  it('asks the model to continue if the last message is its own', () => {
    expect(render([user('go'), reply('done')], 'openai-chat')).toEqual({
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'done' },
        { role: 'user', content: 'Continue.' },
      ],
    })
  })

  it('writes calls and results as text for templates without tools', () => {
    const messages = [
      system('be kind'),
      user('go'),
      reply('I look.', call('a')),
      results(result('a', text('ok'))),
      user('and?'),
    ]
    expect(render(messages, 'strict')).toEqual({
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'I look.\n[call bash] {}' },
        { role: 'user', content: '[result of bash]\nok\nand?' },
      ],
    })
  })

  it('puts Gemini’s responses in the order of the calls, and text in a turn of its own', () => {
    const messages = [
      system('be kind'),
      user('go'),
      reply(call('a', 'one'), call('b', 'two')),
      results(result('b', text('2')), { ...result('a', text('1')), isError: true }),
      user('and?'),
    ]
    expect(render(messages, 'gemini')).toEqual({
      systemInstruction: { parts: [{ text: 'be kind' }] },
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'one', args: {} } },
            { functionCall: { name: 'two', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'one', response: { error: '1' } } },
            { functionResponse: { name: 'two', response: { output: '2' } } },
          ],
        },
        { role: 'user', parts: [{ text: 'and?' }] },
      ],
    })
  })

  it('puts Anthropic’s results and the text after them in one message, results first', () => {
    const messages = [user('go'), reply(call('a')), results(result('a', text('ok'))), user('and?')]
    expect(render(messages, 'anthropic')['messages']).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'bash', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'ok' },
          { type: 'text', text: 'and?' },
        ],
      },
    ])
  })

  it.each(DIALECTS)('takes time in proportion to the messages: %s', (dialect) => {
    const hostile = (count: number): Message[] => [
      ...Array.from({ length: count }, () => user(image)),
      reply(...Array.from({ length: count }, () => call('é'))),
      ...Array.from({ length: count }, () =>
        results(result('é', image as ResultPart), result('x')),
      ),
      ...Array.from({ length: count }, () => reply(item, thought)),
    ]
    const prepare = (count: number) => {
      const messages = hostile(count)
      return () => render(messages, dialect)
    }
    // Linear is 10, quadratic 100.
    expect(costOfTenfold(prepare, { size: 1_000, floorMs: 3, clearlyLinear: 30 })).toBeLessThan(40)
  })
})
