import { expect, it } from 'vitest'
import { checkConfig } from './check.ts'
import { pathText } from './read/problem.ts'
import { configSchema } from './schema/schema.ts'

/** What is told of a configuration: each text with the path of the key that it is about. */
function told(input: object, env: Readonly<Record<string, string>> = {}) {
  const originOf = (path: readonly (string | number)[]) =>
    ({ kind: 'flag', flag: pathText(path) }) as const
  const { problems, warnings } = checkConfig(configSchema.parse(input), { env, originOf })
  return [...problems, ...warnings].map(({ origin, text }) => [
    origin.kind === 'flag' ? origin.flag : '',
    text,
  ])
}

const model = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
const seeing = { credential: { kind: 'variable', name: 'KEY' } }
const main = (more: object) => ({ agents: { main: { model: { ...model, ...seeing }, ...more } } })
const KEY = { KEY: 'k' }
const blind = (name: string) => [
  'auxiliary.vision',
  `The model of the agent ${name} sees no images, and no route of \`auxiliary.vision\` does: images will be named but not described.`,
]
const NO_MEMORY = [
  'auxiliary.memory.enabled',
  '`auxiliary.memory.enabled` has no effect: no agent has the tool `memory`.',
]
const NO_TASK = [
  'auxiliary.memory',
  '`auxiliary.memory` has no effect: switch it on with `auxiliary.memory.enabled`.',
]
const open = (host: string) => [
  'http.host',
  `${host} can be reached from other machines; callers need a token there.`,
]
const memory = { tools: { memory: true } }
const noEndpoint = (name: string, why: string) => [
  'auxiliary.compaction.atProvider',
  `\`auxiliary.compaction.atProvider\` has no effect for the agent ${name}: ${why}. The model gets a written request instead.`,
]

it.each<[string, object, Record<string, string>, readonly unknown[]]>([
  ['a whole one', main({}), KEY, []],
  ['an empty one', {}, {}, []],
  [
    'an empty key',
    main({}),
    { KEY: ' ' },
    [
      [
        'agents.main.model',
        'The variable KEY is empty; claude-sonnet-4-5 will refuse to answer the agent main.',
      ],
    ],
  ],
  [
    'an unknown window',
    { agents: { main: { model: { ...model, ...seeing, model: 'my-own' } } } },
    KEY,
    [
      [
        'agents.main.model',
        'The context window of my-own is unknown; 32,768 tokens are assumed. Set `windowTokens` beside the model.',
      ],
    ],
  ],
  [
    'an unknown model with a window',
    { agents: { main: { model: { ...model, ...seeing, model: 'my-own', windowTokens: 50_000 } } } },
    KEY,
    [],
  ],
  [
    'names that are alike',
    { agents: { 'my-a': {}, my_A: {}, other: {} } },
    {},
    [
      [
        'agents.my_A',
        'The agents my-a and my_A differ only in case or dashes; environment variables cannot name the second.',
      ],
    ],
  ],
  [
    'a tool that may start nothing',
    main({ tools: { process: { enabled: true, programs: [] } } }),
    KEY,
    [
      [
        'agents.main.tools.process',
        'The agent main has the tool process but may start no program; list some under `programs`.',
      ],
    ],
  ],
  [
    'a tool that may start something',
    main({ tools: { process: { enabled: true, programs: ['/bin/ls'] } } }),
    KEY,
    [],
  ],
  [
    'notes of nobody',
    { ...main({ tools: { memory: false } }), auxiliary: { memory: { enabled: true } } },
    KEY,
    [NO_MEMORY],
  ],
  ['notes of an agent', { ...main(memory), auxiliary: { memory: { enabled: true } } }, KEY, []],
  [
    'a model for notes that are off',
    { ...main({}), auxiliary: { memory: { model: 'claude-haiku-4-5' } } },
    KEY,
    [NO_TASK],
  ],
  ['every address', { ...main({}), http: { host: '0.0.0.0' } }, KEY, [open('0.0.0.0')]],
  ['another machine', { ...main({}), http: { host: '10.0.0.5' } }, KEY, [open('10.0.0.5')]],
  [
    'every address, switched off',
    { ...main({}), http: { host: '0.0.0.0', enabled: false } },
    KEY,
    [],
  ],
  ...['localhost', '127.8.8.8', '::1'].map(
    (host): [string, object, Record<string, string>, readonly unknown[]] => [
      host,
      { ...main({}), http: { host } },
      KEY,
      [],
    ],
  ),
])('is told of: %s', (_, input, env, expected) => {
  expect(told(input, env)).toEqual(expected)
})

it('a threshold that is never left behind is a problem, once, at the key that sets it', () => {
  expect(told({ ...main({}), compaction: { softTokens: 2_000 } }, KEY)).toEqual([
    [
      'compaction.softTokens',
      'A compaction is due at 2,000 tokens and ends at 63,000, so it would be due again at once ' +
        '(agent main, 180,000 usable tokens). Raise `compaction.softShare` or lower `compaction.targetShare`.',
    ],
  ])
  const both = { agents: { a: {}, b: {} }, compaction: { softShare: 0.2, targetShare: 0.5 } }
  const problems = told(both).filter(([, text]) => String(text).startsWith('A compaction'))
  expect(problems.map(([where]) => where)).toEqual(['compaction.softShare'])
})

it.each<[string, string]>([
  ['openai-responses', 'only openai-responses can read its own compactions'],
  ['google', 'google has no known compaction endpoint'],
])('a compaction at %s has no effect, and the reason is told', (provider, why) => {
  const own = { provider, model: provider === 'google' ? 'gemini-2.5-pro' : 'gpt-5', ...seeing }
  const input = {
    agents: { main: { model: own } },
    auxiliary: { compaction: { atProvider: true } },
  }
  expect(told(input, KEY)).toEqual([noEndpoint('main', why)])
  const anthropic = { ...main({}), auxiliary: { compaction: { atProvider: true } } }
  expect(told(anthropic, KEY)).toEqual([])
})

it('a model that sees no images needs another that does', () => {
  const own = { ...model, ...seeing, images: false }
  const input = { agents: { main: { model: own } } }
  expect(told(input, KEY)).toEqual([blind('main')])
  const vision = { vision: { ...model, ...seeing } }
  expect(told({ ...input, auxiliary: vision }, KEY)).toEqual([])
})
