import { afterEach, describe, expect, it } from 'vitest'
import type { BusyPolicy } from '../../packages/core/src/store/tables/rows.ts'
import type { Tool } from '../../packages/server/src/tools/tool.ts'
import { Journey } from './journey.ts'

const opened: Journey[] = []
afterEach(async () => {
  for (const journey of opened.splice(0)) await journey.close()
})

/** A model that speaks for about a second, so that something can arrive meanwhile. */
async function open(policy: BusyPolicy, debounceMs = 200): Promise<Journey> {
  const journey = await Journey.open({
    model: {
      speed: { outputTokensPerSecond: 30 },
      script: ({ messages }) => {
        const last = messages.at(-1)
        const said = last?.role === 'user' ? JSON.stringify(last.parts) : ''
        if (said.includes('long')) return { text: 'word '.repeat(30) }
        return { text: 'short' }
      },
    },
    agent: { policy },
    runtime: { settings: { debounceMs, collectMsMax: 30_000 } },
  })
  opened.push(journey)
  return journey
}

/** What became of the session, entry by entry: `input 1`, `assistant`, `turn answered`. */
async function story(journey: Journey, id: string): Promise<readonly string[]> {
  const { json } = await journey.call(`/v1/sessions/${id}/transcript?from=1&limit=100`)
  return json.entries.flatMap(({ kind, meta }: { kind: string; meta: Record<string, string> }) =>
    kind === 'input'
      ? [`input ${meta['mail']}`]
      : kind === 'turn'
        ? [`turn ${meta['ended']}`]
        : kind === 'assistant'
          ? [kind]
          : [],
  )
}

/** The long story breaks off in the middle and never goes on: only a stop ends its turn. */
function stallStory({ model }: Journey): void {
  model.faults.next('stall-mid-stream; after=0.5', {
    when: ({ bodyText }) => bodyText.includes('A long story'),
  })
}

/** One message; a second while the first is being answered. */
async function interjection(policy: BusyPolicy, turns: number) {
  const journey = await open(policy)
  if (policy === 'interrupt') stallStory(journey)
  const id = await journey.make()
  const follower = await journey.follow(id)
  await journey.say(id, 'A long story, please.')
  await follower.until((event) => event.type === 'live' && event.kind === 'delta')
  await journey.say(id, 'And now?')
  await follower.turnEnd(turns)
  return { journey, id, follower, told: await story(journey, id) }
}

describe('a message that arrives while another is being answered', () => {
  it('waits for the next turn under `queue`', async () => {
    const { told } = await interjection('queue', 2)
    expect(told).toEqual([
      ...['input 1', 'assistant', 'turn answered'],
      ...['input 2', 'assistant', 'turn answered'],
    ])
  })

  it('is answered after the running step under `steer`, which is not cut short', async () => {
    const { journey, id, told } = await interjection('steer', 2)
    expect(told.filter((line) => line.startsWith('turn'))).toEqual([
      'turn answered',
      'turn answered',
    ])
    const { json } = await journey.call(`/v1/sessions/${id}/transcript?from=1&limit=100`)
    const [first] = json.entries.filter(({ kind }: { kind: string }) => kind === 'assistant')
    expect(first.message.parts[0].text.trim().split(' ')).toHaveLength(30)
  })

  it.each([
    ['steer', 'enters the turn', ['input 1', 'assistant', 'input 2', 'assistant', 'turn answered']],
    [
      'queue',
      'waits for the next turn',
      [
        'input 1',
        'assistant',
        'assistant',
        'turn answered',
        'input 2',
        'assistant',
        'turn answered',
      ],
    ],
  ] as const)('under `%s`, between two steps, %s', async (policy, _, expected) => {
    const started = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const dig: Tool = {
      name: 'dig',
      description: 'Digs.',
      inputSchema: { type: 'object' },
      isRepeatable: false,
      async run() {
        started.resolve()
        await ended.promise
        return { outcome: 'ok', output: 'a hole' }
      },
    }
    const journey = await Journey.open({ agent: { tools: [dig], policy } })
    opened.push(journey)
    const id = await journey.make()
    const follower = await journey.follow(id)
    await journey.say(id, 'use dig {}')
    await started.promise
    await journey.say(id, 'say Two answers in one.')
    ended.resolve()
    await follower.turnEnd(expected.filter((line) => line === 'turn answered').length)
    expect(await story(journey, id)).toEqual(expected)
  })

  it('ends the step early under `interrupt`, keeps the partial reply, and answers the message', async () => {
    const { journey, id, told } = await interjection('interrupt', 2)
    expect(told).toEqual([
      ...['input 1', 'assistant', 'turn stopped'],
      ...['input 2', 'assistant', 'turn answered'],
    ])
    const { json } = await journey.call(`/v1/sessions/${id}/transcript?from=1&limit=100`)
    const [first] = json.entries.filter(({ kind }: { kind: string }) => kind === 'assistant')
    expect(first.message.parts[0].text).toMatch(/^word/)
    expect(first.message.parts[0].text.trim().split(' ').length).toBeLessThan(30)
  })

  it('is delivered together with those around it under `collect`', async () => {
    // Longer than any of them is on its way, on a machine that stalls too.
    const journey = await open('collect', 5_000)
    const id = await journey.make()
    const follower = await journey.follow(id)
    for (const text of ['One.', 'Two.', 'Three.']) await journey.say(id, text)
    await follower.turnEnd()
    expect(await story(journey, id)).toEqual([
      ...['input 1', 'input 2', 'input 3', 'assistant', 'turn answered'],
    ])
  })
})

describe('a stop', () => {
  it('ends the running turn at once, keeps the partial reply, and answers the next message', async () => {
    const journey = await open('steer')
    stallStory(journey)
    const id = await journey.make()
    const follower = await journey.follow(id)
    await journey.say(id, 'A long story, please.')
    await follower.until((event) => event.type === 'live' && event.kind === 'delta')
    const stoppedAt = performance.now()
    await journey.stop(id)
    const end = await follower.turnEnd()
    expect(end).toMatchObject({ facts: { ended: 'stopped' } })
    // The rest of the story never comes, and its silence would be borne for a minute.
    expect(end.seenAt - stoppedAt).toBeLessThan(45_000)
    expect((await journey.ask(id, 'And now?')).reply).toMatchObject({ text: 'short', turn: 2 })
    expect(await story(journey, id)).toEqual([
      ...['input 1', 'assistant', 'turn stopped'],
      ...['input 3', 'assistant', 'turn answered'],
    ])
  })

  it('gives a caller who waits for the reply of a stopped turn the text so far', async () => {
    const journey = await open('steer')
    stallStory(journey)
    const id = await journey.make()
    const follower = await journey.follow(id)
    const waiting = journey.ask(id, 'A long story, please.')
    await follower.until((event) => event.type === 'live' && event.kind === 'delta')
    await journey.stop(id)
    expect((await waiting).reply).toMatchObject({
      ended: 'stopped',
      text: expect.stringMatching(/^word/),
    })
  })
})
