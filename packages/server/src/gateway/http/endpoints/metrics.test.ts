import { describe, expect, it } from 'vitest'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { Metrics } from '../metrics.ts'

type Source = ConstructorParameters<typeof Metrics>[0]
type Facts = Readonly<Record<string, unknown>>

const HEALTH = {
  routes: [{ route: 'anthropic/a', task: 'turn', state: 'half-open' }],
  edges: [{ name: 'telegram', waiting: 3, dead: 1 }],
  runner: { sessions: 4 },
}
const USAGE = [
  {
    ...{ key: 'main', calls: 10, inputTokens: 500, outputTokens: 60, cachedTokens: 7 },
    ...{ cost: 2_500_000, unpricedCalls: 3 },
  },
]

/** What metrics are read from: events, health and usage of one process. */
function source(events: readonly object[] = [], changed: object = {}): Source {
  return {
    health: async () => HEALTH,
    usage: async () => USAGE,
    async *events() {
      yield* events as readonly RuntimeEvent[]
    },
    ...changed,
  } as unknown as Source
}
const stored = (kind: string, facts: Facts = {}, more: object = {}) => ({
  ...{ type: 'stored', kind, facts, operationId: null, at: 0, ...more },
})

/** The samples of the metrics with this name, such as `turns_total{ended="done"} 1`. */
async function samples(metrics: Metrics, name: string): Promise<readonly string[]> {
  const { text } = await metrics.read()
  const lines = text.split('\n').filter((line) => line.startsWith(`throughline_${name}`))
  return lines.map((line) => line.slice('throughline_'.length))
}

async function counted(events: readonly object[], name: string): Promise<readonly string[]> {
  const runtime = source(events)
  const metrics = new Metrics(runtime, () => 0)
  await metrics.follow(runtime, new AbortController().signal)
  return await samples(metrics, name)
}

describe('Metrics over stored events', () => {
  it('counts mail and its tokens by lane', async () => {
    const events = [
      stored('message admitted', { lane: 'user', tokens: 30 }),
      stored('message admitted', { lane: 'user', tokens: 12 }),
      stored('message admitted', { lane: 'notification', tokens: -5 }),
      stored('message admitted', { tokens: 'many' }),
      { ...stored('message admitted', { lane: 'user', tokens: 1 }), type: 'live' },
    ]
    expect(await counted(events, 'admissions_total{')).toEqual([
      ...['admissions_total{lane="user"} 2', 'admissions_total{lane="notification"} 1'],
      'admissions_total{lane="unknown"} 1',
    ])
    expect(await counted(events, 'admitted_tokens_total{')).toEqual([
      ...['admitted_tokens_total{lane="user"} 42', 'admitted_tokens_total{lane="notification"} 0'],
      'admitted_tokens_total{lane="unknown"} 0',
    ])
  })

  it('counts turns, steps and replies', async () => {
    const events = [
      ...[stored('turn ended', { ended: 'answered' }), stored('step committed')],
      ...[stored('step committed'), stored('reply settled', { state: 'sent' })],
      stored('session created'),
    ]
    expect(await counted(events, 'turns_total{')).toEqual(['turns_total{ended="answered"} 1'])
    expect(await counted(events, 'steps_total')).toEqual(['steps_total 2'])
    expect(await counted(events, 'replies_total{')).toEqual(['replies_total{state="sent"} 1'])
  })

  it('cuts a foreign word that is a label at 64 characters', async () => {
    const [line] = await counted([stored('turn ended', { ended: 'x'.repeat(100) })], 'turns_total{')
    expect(line).toBe(`turns_total{ended="${'x'.repeat(64)}"} 1`)
  })

  const start = (operationId: string, trigger: string, at: number) =>
    stored('compaction started', { trigger }, { operationId, at })

  it.each(['committed', 'failed', 'superseded', 'abandoned'])(
    'counts a compaction that was %s by what triggered it',
    async (outcome) => {
      const events = [
        start('o1', 'soft', 1_000),
        stored(`compaction ${outcome}`, {}, { operationId: 'o1', at: 4_000 }),
        stored(`compaction ${outcome}`, {}, { operationId: 'o2', at: 5_000 }),
      ]
      expect(await counted(events, 'compactions_total{')).toEqual([
        `compactions_total{trigger="soft",outcome="${outcome}"} 1`,
        `compactions_total{trigger="unknown",outcome="${outcome}"} 1`,
      ])
      expect(await counted(events, 'compaction_duration_seconds_sum')).toEqual([
        `compaction_duration_seconds_sum{outcome="${outcome}"} 3`,
      ])
    },
  )

  it('forgets the start of a compaction with its end, and takes no time below zero', async () => {
    const end = stored('compaction failed', {}, { operationId: 'o1', at: 500 })
    const events = [start('o1', 'soft', 1_000), end, end]
    expect(await counted(events, 'compactions_total{')).toEqual([
      'compactions_total{trigger="soft",outcome="failed"} 1',
      'compactions_total{trigger="unknown",outcome="failed"} 1',
    ])
    expect(await counted(events, 'compaction_duration_seconds_sum')).toEqual([
      'compaction_duration_seconds_sum{outcome="failed"} 0',
    ])
  })

  it('adds up the tokens of contexts before and after', async () => {
    const facts = { tokensBefore: 900, tokensAfter: 300 }
    const events = [stored('compaction committed', facts), stored('compaction committed', facts)]
    expect(await counted(events, 'compacted_tokens_total{')).toEqual([
      'compacted_tokens_total{when="before"} 1800',
      'compacted_tokens_total{when="after"} 600',
    ])
  })
})

describe('Metrics of requests', () => {
  it('counts every request, and takes the time of those that are no stream', async () => {
    const metrics = new Metrics(source(), () => 0)
    const request = { method: 'GET', route: '/v1/a', status: 200, durationMs: 1_500 }
    metrics.countRequest({ ...request, isStream: false })
    metrics.countRequest({ ...request, isStream: true })
    metrics.countRequest({ ...request, status: 404, isStream: false })
    expect(await samples(metrics, 'http_requests_total{')).toEqual([
      'http_requests_total{method="GET",route="/v1/a",status="200"} 2',
      'http_requests_total{method="GET",route="/v1/a",status="404"} 1',
    ])
    expect(await samples(metrics, 'http_request_duration_seconds_sum')).toEqual([
      'http_request_duration_seconds_sum{route="/v1/a"} 3',
    ])
  })
})

describe('Metrics of a scrape', () => {
  it('reads streams, routes, the outbox and sessions', async () => {
    const metrics = new Metrics(source(), () => 5)
    expect(await samples(metrics, 'event_streams')).toEqual(['event_streams 5'])
    expect(await samples(metrics, 'sessions_held')).toEqual(['sessions_held 4'])
    expect(await samples(metrics, 'outbox_replies')).toEqual([
      'outbox_replies{edge="telegram",state="waiting"} 3',
      'outbox_replies{edge="telegram",state="dead"} 1',
    ])
    const state = (name: string, value: number) =>
      `model_route_state{route="anthropic/a",task="turn",state="${name}"} ${value}`
    expect(await samples(metrics, 'model_route_state')).toEqual([
      ...[state('closed', 0), state('open', 0), state('half-open', 1), state('failing', 0)],
    ])
  })

  it('reads what each agent used today, with priced and unpriced calls apart', async () => {
    let asked: unknown
    const usage = async (query: unknown) => {
      asked = query
      return USAGE
    }
    const metrics = new Metrics(source([], { usage }), () => 0)
    expect(await samples(metrics, 'model_')).toEqual(
      expect.arrayContaining([
        'model_tokens_today{agent="main",kind="input"} 500',
        'model_tokens_today{agent="main",kind="output"} 60',
        'model_tokens_today{agent="main",kind="cached"} 7',
        'model_calls_today{agent="main",price="known"} 7',
        'model_calls_today{agent="main",price="unknown"} 3',
        'model_cost_today{agent="main"} 2.5',
      ]),
    )
    expect(asked).toEqual({ by: 'agent', since: expect.any(Number), limit: 200 })
  })

  it('forgets the figures of an agent that used nothing since midnight', async () => {
    let rows: readonly object[] = USAGE
    const metrics = new Metrics(source([], { usage: async () => rows }), () => 0)
    expect((await samples(metrics, 'model_')).some((line) => line.includes('"main"'))).toBe(true)
    rows = []
    expect((await samples(metrics, 'model_')).some((line) => line.includes('"main"'))).toBe(false)
  })

  it('asks for the health once per scrape, and again at the next', async () => {
    let reads = 0
    const health = async () => {
      reads += 1
      return HEALTH
    }
    const metrics = new Metrics(source([], { health }), () => 0)
    await metrics.read()
    await metrics.read()
    expect(reads).toBe(2)
  })

  it('reports the rest while the store does not answer', async () => {
    const refuse = async () => {
      throw new Error('the store does not answer')
    }
    const metrics = new Metrics(source([], { health: refuse, usage: refuse }), () => 5)
    expect(await samples(metrics, 'event_streams')).toEqual(['event_streams 5'])
  })
})
