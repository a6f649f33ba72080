import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Message } from '../../../packages/core/src/message/message.ts'
import { repairPairs } from '../../../packages/core/src/message/pairing.ts'
import type { ModelRequest } from '../../../packages/server/src/model/model.ts'
import { corpusConversations, sampleFiles } from '../../support/corpus.ts'
import { compactAt } from '../../support/cuts.ts'
import {
  judgeAnthropic,
  judgeChat,
  judgeGoogle,
  judgeResponses,
} from '../../support/providers/provider-judge.ts'
import { judgeByTypes, type SentRequest } from '../../support/providers/sdk-types.ts'
import { event, hear, openBench, openCanned, user, within } from '../bench.ts'

/** Requests as they go over the wire, held against the types of the providers' own packages. */
let bench: Awaited<ReturnType<typeof openBench>>
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

const PROVIDERS = [
  ['openai-chat', 'openai-chat'],
  ['openai-compatible', 'openai-chat'],
  ['openai-responses', 'openai-responses'],
  ['codex', 'openai-responses'],
  ['anthropic', 'anthropic'],
] as const

/** Of 1,000: Anthropic counts the least thinking, 1,024, among them; Codex refuses a limit. */
const LIMITS = {
  ...{ 'openai-chat': [1_000], 'openai-compatible': [1_000], 'openai-responses': [1_000] },
  ...{ codex: [], anthropic: [2_024] },
}

const rest: Omit<ModelRequest, 'messages'> = {
  tools: [
    {
      name: 'read',
      description: 'Reads a file.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ],
  outputTokensMax: 1_000,
  effort: 'low',
  cacheKey: 'session-1',
}

/** The samples that clients wrote, whole and compacted in the middle. */
/** What a renderer can stumble over, in one conversation. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const CRAFTED: readonly Message[] = [
  { role: 'system', parts: [{ type: 'text', text: 'Be brief. “Quote” \\ \u2028' }] },
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'What is on this picture?' },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: PIXEL } },
    ],
  },
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Somebody else thought this.' },
      { type: 'text', text: 'I look it up.' },
      {
        ...{ type: 'tool-call', id: 'call_1', name: 'read', input: { path: 'a.txt' } },
        inputText: '{ "path": "a.txt" }',
      },
      { type: 'tool-call', id: 'call_2', name: 'list', input: {} },
    ],
  },
  {
    role: 'tool',
    parts: [
      {
        ...{ type: 'tool-result', callId: 'call_1', name: 'read' },
        output: [{ type: 'text', text: 'four lines' }],
      },
    ],
  },
  { role: 'system', parts: [{ type: 'text', text: 'A note on the way.' }] },
  { role: 'user', parts: [{ type: 'text', text: ' ' }] },
  user('And now?'),
]
/** What must stand in its request, each once and in this order, whoever gets it. */
const SAID = [
  ...['What is on this picture?', PIXEL, 'I look it up.', '"read"', 'a.txt', '"list"'],
  ...['four lines', 'No result was recorded for this call', 'A note on the way.', 'And now?'],
]

function* realConversations(): Generator<readonly [string, readonly Message[]]> {
  for (const { name, conversation } of corpusConversations(sampleFiles())) {
    const { messages } = repairPairs(conversation.messages)
    yield [name, messages]
    const after = compactAt(messages, Math.ceil(messages.length / 2))
    if (after !== undefined) yield [`${name}, compacted`, after]
  }
}

async function sentRequests(): Promise<SentRequest[]> {
  const sent: SentRequest[] = []
  for (const [name, messages] of realConversations()) {
    for (const [provider, type] of PROVIDERS) {
      const { end } = await hear(bench.modelOf(provider).stream({ messages, ...rest }, within()))
      expect(end.outcome.kind, `${name} for ${provider}`).toBe('finished')
      const body = bench.server.journal.last?.bodyText ?? ''
      sent.push({ name: `${name} for ${provider}`, type, body })
    }
  }
  return sent
}

describe('every request', () => {
  it.each(PROVIDERS)(
    'of %s says all there is, once and in order, by the rules',
    async (provider) => {
      const model = bench.modelOf(provider)
      const { end } = await hear(model.stream({ messages: CRAFTED, ...rest }, within()))
      expect(end.outcome.kind).toBe('finished')
      const { bodyText = '' } = bench.server.journal.last ?? {}
      judgeBody(provider, bodyText)
      const body = JSON.parse(bodyText) as Record<string, unknown>
      if (provider !== 'openai-compatible' && provider !== 'anthropic') {
        expect(body['store']).toBe(false)
      }
      const names = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
      const limits = names.map((name) => body[name]).filter((value) => value !== undefined)
      expect(limits).toEqual(LIMITS[provider])
      expect(JSON.stringify(body['tools'])).toContain('"required":["path"]')
    },
  )

  it('of Google says all there is, once and in order, by the rules', async () => {
    const done = { content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }
    const google = await openCanned(() => [event({ candidates: [{ ...done, index: 0 }] })])
    const model = bench.modelOf('google', { baseUrl: `${google.url}/v1` })
    const { end } = await hear(model.stream({ messages: CRAFTED, ...rest }, within()))
    expect(end.outcome.kind).toBe('finished')
    const bodyText = google.bodies.at(-1) ?? ''
    judgeBody('google', bodyText)
    expect(JSON.parse(bodyText)).toMatchObject({
      generationConfig: { maxOutputTokens: 1_000 },
      tools: [{ functionDeclarations: [{ name: 'read', description: 'Reads a file.' }] }],
    })
    await google.close()
  })

  it("of a real conversation fits the request type of its provider's own package, and a spoiled one does not", async () => {
    const sent = await sentRequests()
    expect(sent.length).toBeGreaterThan(30)
    const spoiled = spoil(sent)
    expect(spoiled.length).toBeGreaterThan(12)
    const found = await judgeByTypes([...sent, ...spoiled])
    const said = [...found].filter(([name]) => !name.startsWith('spoiled'))
    expect(said).toEqual([])
    const overlooked = spoiled.filter(({ name }) => !found.has(name)).map(({ name }) => name)
    expect(overlooked).toEqual([])
  })
})

const JUDGES = {
  'openai-chat': judgeChat,
  'openai-compatible': judgeChat,
  'openai-responses': judgeResponses,
  codex: judgeResponses,
  anthropic: judgeAnthropic,
  google: judgeGoogle,
}

/** By rules written from the providers' documentation, and by what was said. */
function judgeBody(provider: keyof typeof JUDGES, bodyText: string): void {
  const { messages, input, system, contents, systemInstruction } = JSON.parse(
    bodyText,
    // May stand at any block, and says nothing.
    (key, value) => (key === 'cache_control' ? undefined : value),
  ) as Record<string, unknown>
  const wire = { messages, input, system, contents, systemInstruction }
  const sent = Object.entries(wire).filter(([, value]) => value !== undefined)
  JUDGES[provider](Object.fromEntries(sent))
  // Tools name themselves, and the first system text stands elsewhere for some.
  const text = JSON.stringify(messages ?? input ?? contents)
  const places = SAID.map((words) => text.indexOf(words))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  const unique = SAID.filter((words) => !words.startsWith('"'))
  expect(unique.map((words) => text.split(words).length - 1)).toEqual(unique.map(() => 1))
  expect(bodyText).toContain('Be brief. “Quote”')
  expect(bodyText).not.toContain('Somebody else thought this.')
  expect(bodyText).not.toContain('throughline-')
}

/** The judge must not be blind: slips of the kind that a renderer makes. */
const SLIPS: readonly (readonly [string, string])[] = [
  ['"role":"assistant"', '"role":"model"'],
  ['"tool_call_id":', '"toolCallId":'],
  ['"tool_use_id":', '"tool_call_id":'],
  ['"call_id":', '"callId":'],
  ['"type":"tool_use"', '"type":"tool_call"'],
  ['"type":"function_call_output"', '"type":"function_result"'],
  ['"type":"image_url"', '"type":"image"'],
  ['"media_type":', '"mime_type":'],
  ['"model":"stand-in"', '"model":7'],
  ['"stream":true', '"stream":"yes"'],
]

/** Each slip once in each type. */
function spoil(sent: readonly SentRequest[]): SentRequest[] {
  const types = new Set(sent.map(({ type }) => type))
  return [...types].flatMap((type) =>
    SLIPS.flatMap(([right, wrong]) => {
      const found = sent.find((request) => request.type === type && request.body.includes(right))
      if (found === undefined) return []
      const body = found.body.replace(right, wrong)
      return [{ name: `spoiled ${right} of ${found.name}`, type, body }]
    }),
  )
}
