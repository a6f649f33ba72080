import { afterEach, describe, expect, it } from 'vitest'
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../packages/core/src/base/json.ts'
import { render } from '../../../packages/core/src/message/dialects/render.ts'
import { openaiResponsesFormat } from '../../../packages/core/src/message/formats/openai-responses/openai-responses.ts'
import type { Message } from '../../../packages/core/src/message/message.ts'
import { assistant, system, toolCall, toolResult, user } from '../../support/builders.ts'
import { type AuxiliaryOptions, handoffOf, openAuxiliary } from '../auxiliary-bench.ts'
import { hear, within } from '../bench.ts'
import { canaries } from '../canaries.ts'

/** Compaction by the provider, and summaries that ride the conversation's cached prefix. */
type Bench = Awaited<ReturnType<typeof openAuxiliary>>
let bench: Bench
afterEach(() => bench.close())
const opened = async (options: AuxiliaryOptions = {}) => {
  bench = await openAuxiliary(options)
  return bench
}
const never = new AbortController().signal

const conversation = (more: readonly Message[] = []): readonly Message[] => [
  system('You are careful.'),
  ...Array.from({ length: 14 }, (_, at) => [
    user(`Check lamp ${at}. The code word of the tower is heliotrope.`),
    toolCall(`c${at}`, { lamp: at }),
    toolResult(`c${at}`, `lamp ${at}: ${'burning steadily all night '.repeat(20)}`),
    assistant(`Lamp ${at} burns.`),
  ]).flat(),
  ...more,
  user('Go on.'),
]

describe('Anthropic’s compaction as the writer of a summary', () => {
  it('is requested if configured, and its text is the summary', async () => {
    const { handoffs, server, outcomes } = await opened({
      task: { provider: 'anthropic' },
      auxiliary: { summaries: { atProvider: true } },
    })
    const reply = await handoffs.write(handoffOf(conversation()), never)
    expect(reply).toMatchObject({ kind: 'written', handoff: { by: 'model' } })
    expect(JSON.stringify(reply)).toContain('extracts, not understanding')
    const [entry] = server.journal.entries
    expect(entry?.headers['anthropic-beta']).toContain('compact-2026-09-04')
    expect(entry?.body).toMatchObject({ compaction: { type: 'summarize' } })
    expect(outcomes()).toEqual(['aux-model answered'])
  })

  it.each([
    [
      'one that goes on talking',
      'I notice your message appears to be incomplete. What would you like me to do next?',
    ],
    ['one that cannot be read, because it is sealed', ''],
  ])('is judged like any other summary: %s gives way to the next rung', async (_, compaction) => {
    const own = await opened({
      task: { provider: 'anthropic' },
      auxiliary: { summaries: { atProvider: true } },
      script: ({ wantsCompaction }) => (wantsCompaction === undefined ? undefined : { compaction }),
    })
    const reply = await own.handoffs.write(handoffOf(conversation()), never)
    expect(reply).toMatchObject({
      kind: 'written',
      handoff: { by: 'model' },
      provenance: { rung: 'auxiliary' },
    })
    expect(JSON.stringify(reply)).not.toContain('appears to be incomplete')
    expect(own.server.journal.entries[0]?.body).toHaveProperty('compaction')
    expect(own.server.journal.last?.body).not.toHaveProperty('compaction')
  })

  it('is not used if the range contains a secret, which a quoted request masks', async () => {
    const { handoffs, server } = await opened({
      task: { provider: 'anthropic' },
      auxiliary: { summaries: { atProvider: true } },
    })
    const [first] = canaries(3)
    const messages = conversation([user(`The key is ${first?.text}.`), assistant('Noted.')])
    expect((await handoffs.write(handoffOf(messages), never)).kind).toBe('written')
    expect(server.journal.requests).toBe(1)
    expect(server.journal.last?.body).not.toHaveProperty('compaction')
    expect(server.journal.last?.bodyText).not.toContain(first?.secret)
  })

  it('a provider without it receives a prompt instead', async () => {
    const { handoffs, server, outcomes } = await opened({
      task: { provider: 'anthropic' },
      auxiliary: { summaries: { atProvider: true } },
    })
    server.faults.always('status; code=400', {
      when: ({ bodyText }) => bodyText.includes('"compaction":{'),
    })
    expect((await handoffs.write(handoffOf(conversation()), never)).kind).toBe('written')
    expect(outcomes()).toEqual(['aux-model refused:bad-request:400', 'aux-model answered'])
  })
})

describe('an item of OpenAI’s compaction in a conversation', () => {
  /** A conversation that the provider has compacted, as other programs bring one along. */
  const compacted = async ({ url }: Bench): Promise<readonly Message[]> => {
    const answer = await fetch(`${url}/v1/responses/compact`, {
      method: 'POST',
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'main-model', ...render(conversation(), 'openai-responses') }),
    })
    const { output } = (await answer.json()) as { output: JsonValue }
    return openaiResponsesFormat.parse(output).messages
  }

  it('is a sealed item that is sent back byte for byte', async () => {
    const own = await opened()
    const messages = await compacted(own)
    const model = own.modelOf('openai-responses')
    const question = user('What is the code word?')
    const { end, pieces } = await hear(
      model.stream({ messages: [...messages, question] }, within()),
    )
    // The stand-in refuses an item of its own that was changed by a character.
    expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    const sent = itemsOf(own.server.journal.last?.body)
    expect(sent.filter(({ type }) => type === 'compaction')).toHaveLength(1)
    expect(pieces.some(({ kind }) => kind === 'note')).toBe(false)
  })

  it('is dropped with a note if the conversation moves to another provider', async () => {
    const own = await opened()
    const messages = await compacted(own)
    for (const wire of ['anthropic', 'openai-chat'] as const) {
      const stream = own.modelOf(wire).stream({ messages: [...messages, user('Hello?')] }, within())
      const { end, pieces } = await hear(stream)
      expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
      expect(pieces).toContainEqual({ kind: 'note', code: 'foreign-items-dropped' })
      expect(own.server.journal.last?.bodyText).not.toContain('encrypted_content')
    }
  })
})

describe('a summary on the conversation’s own route', () => {
  const tools = [{ name: 'bash', inputSchema: { type: 'object' } }]
  const ride = { conversationOf: () => ({ tools, cacheKey: 'session-1' }) }

  it.each(['openai-responses', 'anthropic', 'openai-chat'] as const)(
    'rides the cached prefix over %s: the same bytes, and one message more',
    async (provider) => {
      const own = await opened({
        separate: false,
        main: { provider },
        auxiliary: { summaries: ride },
      })
      const messages = conversation()
      const cached = { messages: messages.slice(0, -1), tools, cacheKey: 'session-1' }
      await hear(own.modelOf(provider, { model: 'main-model' }).stream(cached, within()))
      const step = wireOf(own.server.journal.last?.body)
      const reply = await own.handoffs.write(handoffOf(messages), never)
      expect(reply).toMatchObject({ kind: 'written', handoff: { by: 'model' } })
      expect(own.server.journal.requests).toBe(2)
      const summary = wireOf(own.server.journal.last?.body)
      expect(summary.head).toBe(step.head)
      // The last of a step asks to go on; everything before is what the provider has in its cache.
      const shared = step.items.slice(0, -1)
      expect(summary.items.slice(0, shared.length)).toEqual(shared)
      expect(summary.items.length - shared.length).toBeLessThanOrEqual(1)
      expect(summary.items.at(-1)).toContain('another model takes over')
    },
  )

  it('that comes out too long is shortened from its own text, without the conversation', async () => {
    const lines = Array.from({ length: 400 }, (_, at) => `- part ${at} of the survey\n`)
    const long = `## Progress\n${lines.join('')}`
    const own = await opened({
      separate: false,
      auxiliary: { summaries: ride },
      script: () => ({ text: own.server.journal.requests < 3 ? long : long.slice(0, 1_200) }),
    })
    const asked = handoffOf(conversation(), { limits: { handoffTokens: 1_200 } })
    expect(await own.handoffs.write(asked, never)).toMatchObject({
      kind: 'written',
      handoff: { summary: long.slice(0, 1_200).trim() },
    })
    // The first reached its limit of output, the second had more of it.
    expect(own.server.journal.requests).toBe(3)
    const { bodyText } = own.server.journal.last ?? {}
    expect(bodyText).toContain('came out too long')
    expect(bodyText).not.toContain('another model takes over')
  })

  it('is not requested again in another form if the route itself fails', async () => {
    const own = await opened({ separate: false, auxiliary: { summaries: ride } })
    own.server.faults.always('reset-before-headers')
    expect(await own.handoffs.write(handoffOf(conversation()), never)).toMatchObject({
      kind: 'failed',
      reason: 'connection:reset',
    })
    expect(own.outcomes()).toEqual(['main-model connection:reset'])
  })

  it('is not used if the conversation contains a secret, or the model wants to call a tool', async () => {
    const own = await opened({ separate: false, auxiliary: { summaries: ride } })
    const [, second] = canaries(4)
    const secret = conversation([user(`Use ${second?.text}.`), assistant('I will.')])
    await own.handoffs.write(handoffOf(secret), never)
    expect(own.server.journal.last?.bodyText).not.toContain(second?.secret)
    await own.close()
    const calling = await opened({
      separate: false,
      auxiliary: { summaries: ride },
      script: ({ tools: offered }) =>
        offered.length > 0
          ? { calls: [{ name: 'bash', input: '{}' }], finish: 'tool-calls' }
          : undefined,
    })
    expect((await calling.handoffs.write(handoffOf(conversation()), never)).kind).toBe('written')
    expect(calling.outcomes()).toEqual(['main-model unusable:tool-calls', 'main-model answered'])
  })
})

function itemsOf(body: JsonValue | undefined): readonly JsonObject[] {
  const list = isObject(body) ? (body['input'] ?? body['messages']) : undefined
  return isArray(list) ? list.filter(isObject) : []
}

/** What stands before the messages in a provider's cache, and the messages, without their marks. */
function wireOf(body: JsonValue | undefined) {
  const strip = (value: JsonValue) =>
    JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
  const {
    tools = null,
    system: beside = null,
    prompt_cache_key: key = null,
  } = isObject(body) ? body : {}
  return { head: strip([tools, beside, key]), items: itemsOf(body).map(strip) }
}
