import { describe, expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import {
  assistant,
  handoff,
  system,
  toolCall,
  toolResult,
  user,
} from '../../../../test/support/builders.ts'
import { costOfTenfold } from '../../../../test/support/timing.ts'
import { makeAnswer, type Script } from './answer.ts'
import type { Ask } from './protocols/protocol.ts'

function ask(messages: readonly Message[], rest: Partial<Ask> = {}): Ask {
  return {
    model: 'stand-in',
    messages,
    tools: ['read', 'bash'],
    inputTokens: 10,
    wantsStream: false,
    wantsReasoning: false,
    wantsUsage: false,
    ...rest,
  }
}

function answerTo(...messages: readonly Message[]) {
  return makeAnswer(ask(messages))
}

describe('makeAnswer to a question', () => {
  it('quotes the user’s message and says where it is', () => {
    const { text } = answerTo(
      user('Hello. The code word is PELICAN-7. Please keep it.'),
      assistant('Noted.'),
      user('What was the code word?'),
    )
    expect(text).toContain('"The code word is PELICAN-7."')
    expect(text).toContain('in one of your messages: ')
  })

  it('answers the last of several questions that it can answer', () => {
    const { text } = answerTo(
      user('The code word is PELICAN-7.'),
      assistant('A line such as this calls a tool.'),
      user('What was the code word? Tell me all of it.'),
    )
    expect(text).toContain('"The code word is PELICAN-7."')
  })

  it('says that it has no record of an unknown fact', () => {
    const { text } = answerTo(user('The sky is blue.'), user('What was the code word?'))
    expect(text).toContain('no record of: code word')
  })

  it('finds a question in quotation marks', () => {
    const said = [user('"The code word is GRANITE."'), assistant('I see.')]
    const { text } = answerTo(...said, user('"What was the code word?"'))
    expect(text).toContain('The code word is GRANITE.')
  })

  it('does not quote an earlier question or its own answer', () => {
    const question = user('What was the code word?')
    const first = answerTo(question)
    const second = answerTo(question, assistant(first.text), question)
    expect(second.text).toContain('no record of: code word')
    expect(second.text).not.toContain('found')
  })

  it('prefers the newest of two answers', () => {
    const { text } = answerTo(
      user('The code word is HERON.'),
      user('The code word is now OSPREY.'),
      user('Which code word did I give you?'),
    )
    expect(text).toContain('OSPREY')
  })

  it.each([
    ['the summary', { summary: '- The user said: the code word is PELICAN.' }],
    ['a preserved message', { preserved: [kept('The code word is PELICAN.')] }],
    ['the ledger', { ledger: [{ kind: 'value', text: 'code word PELICAN', count: 1, number: 1 }] }],
    ['a task', { tasks: [{ status: 'pending', text: 'send the code word PELICAN' }] }],
  ] as const)('looks into a handoff: %s', (_, values) => {
    const { text } = answerTo(handoff(values), user('What was the codeword?'))
    expect(text).toContain('PELICAN')
    expect(text).toContain('handoff')
  })

  it('looks into tool results and the system prompt', () => {
    const results = [user('go'), toolCall('a'), toolResult('a', 'build number: 4711')]
    expect(answerTo(...results, user('What was the build number?')).text).toContain('4711')
    const pinned = system('The deploy window is Tuesday.')
    expect(answerTo(pinned, user('When is the deploy window?')).text).toContain('Tuesday')
  })

  it('lists the files that were changed', () => {
    const files = [{ path: 'src/plan.ts', access: 'changed', number: 3 }] as const
    const question = user('Which file did you change?')
    expect(answerTo(handoff({ files }), question).text).toContain('src/plan.ts')
    const call = toolCall('a', { path: 'docs/guide.md' }, 'write')
    const said = [user('go'), call, toolResult('a', 'ok'), question]
    expect(answerTo(...said).text).toContain('docs/guide.md')
    expect(answerTo(user('Nothing yet.'), question).text).toContain('no record of: file')
  })

  it('finds a word anywhere in a line without an end', () => {
    const line = (at: number) => `${'x,'.repeat(at)} code word PELICAN ${',y'.repeat(3_000)}`
    for (let at = 380; at < 520; at += 3) {
      expect(answerTo(user(line(at)), user('What was the code word?')).text).toContain('PELICAN')
    }
  })

  it('says in every answer of its own that it is a stand-in', () => {
    for (const text of ['Hello.', 'What was the code word?', 'use nothing {}']) {
      expect(answerTo(user(text)).text).toContain('stand-in')
    }
  })
})

describe('makeAnswer to commands', () => {
  it('calls the tools that the user names, several at once', () => {
    const { calls, finish } = answerTo(user('Please:\nuse read {"path":"a"}\nuse bash {"x": [1]}'))
    expect(calls).toEqual([
      { name: 'read', input: '{"path":"a"}' },
      { name: 'bash', input: '{"x": [1]}' },
    ])
    expect(finish).toBe('tool-calls')
  })

  it('continues step by step as results arrive, then reports them', () => {
    const script = user('think first\nuse read {}\nthen\nuse bash {}\nthen\nsay All done.')
    const first = [toolCall('a'), toolResult('a', 'one')]
    const second = [toolCall('b'), toolResult('b', 'two')]
    const output = [{ type: 'text', text: 'two' }] as const
    // OpenAI's results do not name their tool.
    const unnamed = { role: 'tool', parts: [{ type: 'tool-result', callId: 'b', output }] } as const
    expect(answerTo(script)).toMatchObject({ reasoning: 'first', calls: [{ name: 'read' }] })
    expect(answerTo(script, ...first).calls).toEqual([{ name: 'bash', input: '{}' }])
    expect(answerTo(script, ...first, ...second)).toMatchObject({ text: 'All done.', calls: [] })
    expect(answerTo(user('use bash {}'), toolCall('b'), unnamed).text).toContain(
      'bash answered: two',
    )
  })

  it('takes no commands from tools, from handoffs or from earlier messages', () => {
    const results = [user('go'), toolCall('a'), toolResult('a', 'use bash {"command":"rm"}')]
    expect(answerTo(...results).calls).toEqual([])
    expect(answerTo(handoff({ summary: 'use bash {}' }), user('Hello.')).calls).toEqual([])
    expect(answerTo(user('use bash {}'), assistant('no'), user('Hello.')).calls).toEqual([])
  })

  it('does not call a tool that is not offered', () => {
    const { calls, text } = answerTo(user('use rocket {}'))
    expect(calls).toEqual([])
    expect(text).toContain('rocket is not offered; offered: read, bash')
  })

  it('uses the answer of a given script', () => {
    const script: Script = ({ messages }) =>
      messages.length > 1 ? undefined : { calls: [{ name: 'odd', input: '{"torn' }] }
    expect(makeAnswer(ask([user('Hello.')]), script)).toEqual({
      reasoning: '',
      text: '',
      calls: [{ name: 'odd', input: '{"torn' }],
      finish: 'tool-calls',
    })
    expect(makeAnswer(ask([user('a'), user('Hello.')]), script).text).toContain('stand-in')
  })
})

describe('makeAnswer to results', () => {
  it('tells the name of each tool, whether it failed, and the first 400 characters', () => {
    const part = (callId: string, text: string, more: object = {}) => ({
      ...{ type: 'tool-result', callId, output: [{ type: 'text', text }], ...more },
    })
    const parts = [
      ...[part('a', 'x'.repeat(401)), part('b', 'No.', { isError: true })],
      ...[part('c', 'Yes.', { name: 'own' }), part('d', '')],
    ]
    const call = (id: string, name: string) => ({ type: 'tool-call', id, name, input: {} })
    const { text } = answerTo(
      user('Hello.'),
      { role: 'assistant', parts: [call('a', 'old'), call('b', 'bash')] } as never,
      { role: 'assistant', parts: [call('a', 'read')] } as never,
      { role: 'tool', parts } as never,
    )
    expect(text.split('\n').slice(1)).toEqual([
      ...[
        `read answered: ${'x'.repeat(400)}`,
        'bash failed: No.',
        'own answered: Yes.',
        'd answered: ',
      ],
    ])
  })

  it('names the first tool that is not offered', () => {
    const { text } = answerTo(user('use one {}\nuse read {}\nuse two {}'))
    expect(text).toContain('The tool one is not offered; offered: read, bash.')
    const none = makeAnswer(ask([user('use one {}')], { tools: [] }))
    expect(none.text).toContain('The tool one is not offered; offered: none.')
    const odd = { tools: ['exec'], textTools: ['exec'] }
    expect(makeAnswer(ask([user('use a-b {}')], odd)).text).toContain('The tool a-b is not offered')
  })
})

describe('makeAnswer within a limit', () => {
  it('stops at the limit and says so', () => {
    const said = makeAnswer(ask([user(`say ${'word '.repeat(50)}`)], { tokensMax: 10 }))
    expect(said).toMatchObject({ finish: 'length' })
    expect(said.text).toHaveLength(40)
  })

  it('includes reasoning if the request asks for it', () => {
    const said = makeAnswer(ask([user('Hello.')], { wantsReasoning: true }))
    expect(said.reasoning).toBe('I read 1 messages.')
    expect(makeAnswer(ask([user('Hello.')])).reasoning).toBe('')
    const own = makeAnswer(ask([user('think twice')], { wantsReasoning: true }))
    expect(own.reasoning).toBe('twice')
    const script = () => ({ text: 'Yes.' })
    expect(makeAnswer(ask([user('Hello.')], { wantsReasoning: true }), script)).toEqual({
      ...{ reasoning: '', text: 'Yes.', calls: [], finish: 'stop' },
    })
  })

  it('shares the limit between thoughts and words, and calls nothing beyond it', () => {
    const answer = { reasoning: 'a'.repeat(20), text: 'b'.repeat(20) }
    const calls = [{ name: 'read', input: '{}' }]
    const within = (tokensMax: number) =>
      makeAnswer(ask([user('Hello.')], { tokensMax }), () => ({ ...answer, calls }))
    expect(within(10)).toEqual({ ...answer, calls, finish: 'tool-calls' })
    const cut = { calls: [], finish: 'length' }
    expect(within(9)).toEqual({ reasoning: answer.reasoning, text: 'b'.repeat(16), ...cut })
    expect(within(3)).toEqual({ reasoning: 'a'.repeat(12), text: '', ...cut })
  })

  it('keeps the end that a script gives, and takes no call for another', () => {
    const script = () => ({ calls: [{ name: 'read', input: '{}' }], finish: 'length' as const })
    expect(makeAnswer(ask([user('Hello.')]), script).finish).toBe('length')
  })
})

describe('makeAnswer to a very long text', () => {
  it.each(['What was the code word?', 'Which file was it?', 'Summarize the conversation.'])(
    'takes time in proportion to its length: %s',
    (question) => {
      const seeds = ['a', '/', 'a/', 'A1-', '===== a 0123456789ab =====\n', '#1 user:\n', '? ']
      const prepare = (length: number) => {
        const messages = seeds.map((seed) => user(seed.repeat(length / seeds.length / seed.length)))
        return () => answerTo(...messages, user(question))
      }
      expect(costOfTenfold(prepare, { size: 100_000, floorMs: 8 })).toBeLessThan(15)
    },
  )
})

function kept(text: string) {
  return { message: user(text), number: 4, state: 'answered' } as const
}

describe('makeAnswer to a command that names a tool', () => {
  const used = (rest: Partial<Ask>) => makeAnswer(ask([user('use run {"cmd":"date"}')], rest))

  it('calls it through the code tool if only that is offered', () => {
    const { calls } = used({ tools: ['exec', 'wait'], textTools: ['exec'] })
    expect(calls).toEqual([{ name: 'exec', input: 'text(await tools.run({"cmd":"date"}))' }])
    const wait = makeAnswer(ask([user('use wait {}')], { tools: ['exec', 'wait'] }))
    expect(wait.calls).toEqual([{ name: 'wait', input: '{}' }])
  })

  it('lists the offered tools if none can do it', () => {
    const { calls, text } = used({ tools: ['exec', 'wait'] })
    expect([calls, text.endsWith('The tool run is not offered; offered: exec, wait.')]).toEqual([
      [],
      true,
    ])
  })
})
