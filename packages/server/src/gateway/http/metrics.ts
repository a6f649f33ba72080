import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import type { Runtime } from '../../runtime/runtime.ts'
import { dayStart } from '../../runtime/usage.ts'
import { collectProcessMetrics } from './loop-lag.ts'

/**
 * Metrics for Prometheus. Session figures are counted from the stored events, so they cover the
 * whole store since this process started: with several processes on one store, take the maximum,
 * not the sum. Labels are fixed words, never a session's id.
 */
const TRIGGERS_MAX = 10_000
const AGENTS_MAX = 200
const STATES = ['closed', 'open', 'half-open', 'failing'] as const
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const COMPACTION_DURATIONS = [1, 2.5, 5, 10, 30, 60, 120, 300, 600]

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = this.#counter('http_requests', 'HTTP requests', [
    'method',
    'route',
    'status',
  ])
  readonly #durations = new Histogram({
    name: 'throughline_http_request_duration_seconds',
    help: 'Time until the answer, streams left out',
    labelNames: ['route'],
    buckets: DURATIONS,
    registers: [this.#registry],
  })
  readonly #admissions = this.#counter('admissions', 'Mail admitted', ['lane'])
  readonly #admittedTokens = this.#counter('admitted_tokens', 'Tokens of admitted mail', ['lane'])
  readonly #turns = this.#counter('turns', 'Turns that ended', ['ended'])
  readonly #steps = this.#counter('steps', 'Steps committed', [])
  readonly #compactions = this.#counter('compactions', 'Compactions that ended', [
    'trigger',
    'outcome',
  ])
  readonly #compactionDurations = new Histogram({
    name: 'throughline_compaction_duration_seconds',
    help: 'From the claim to the end',
    labelNames: ['outcome'],
    buckets: COMPACTION_DURATIONS,
    registers: [this.#registry],
  })
  readonly #compactedTokens = this.#counter('compacted_tokens', 'Tokens of contexts', ['when'])
  readonly #replies = this.#counter('replies', 'Replies settled in the outbox', ['state'])
  /** Running compactions; the end event does not say what triggered them. */
  readonly #started = new Map<string, { trigger: string; at: number }>()

  constructor(runtime: Runtime, streams: () => number) {
    collectProcessMetrics(this.#registry)
    this.#gauge('event_streams', 'Event streams open', [], (gauge) => gauge.set(streams()))
    this.#gauge(
      'model_route_state',
      '1 for the state of its breaker',
      ['route', 'task', 'state'],
      (gauge) =>
        this.#readHealth(runtime, ({ routes }) => {
          for (const { route, task, state } of routes) {
            for (const each of STATES) {
              gauge.set({ route, task, state: each }, each === state ? 1 : 0)
            }
          }
        }),
    )
    this.#gauge('outbox_replies', 'Replies not sent', ['edge', 'state'], (gauge) =>
      this.#readHealth(runtime, ({ edges }) => {
        for (const { name, waiting, dead } of edges) {
          gauge.set({ edge: name, state: 'waiting' }, waiting)
          gauge.set({ edge: name, state: 'dead' }, dead)
        }
      }),
    )
    this.#gauge('sessions_held', 'Sessions this process runs now', [], (gauge) =>
      this.#readHealth(runtime, ({ runner }) => gauge.set(runner.sessions)),
    )
    this.#addUsage(runtime)
  }

  /** Read from the store: covers all its processes and resets every day. */
  #addUsage(runtime: Runtime): void {
    const today = () =>
      runtime.usage({ by: 'agent', since: dayStart(Date.now()), limit: AGENTS_MAX }).catch(() => [])
    const since = 'since midnight UTC'
    this.#gauge('model_tokens_today', `Tokens ${since}`, ['agent', 'kind'], async (gauge) => {
      gauge.reset()
      for (const { key: agent, inputTokens, outputTokens, cachedTokens } of await today()) {
        gauge.set({ agent, kind: 'input' }, inputTokens)
        gauge.set({ agent, kind: 'output' }, outputTokens)
        gauge.set({ agent, kind: 'cached' }, cachedTokens)
      }
    })
    this.#gauge('model_calls_today', `Model calls ${since}`, ['agent', 'price'], async (gauge) => {
      gauge.reset()
      for (const { key: agent, calls, unpricedCalls } of await today()) {
        gauge.set({ agent, price: 'known' }, calls - unpricedCalls)
        gauge.set({ agent, price: 'unknown' }, unpricedCalls)
      }
    })
    this.#gauge('model_cost_today', `Cost of model calls ${since}`, ['agent'], async (gauge) => {
      gauge.reset()
      for (const { key: agent, cost } of await today()) gauge.set({ agent }, cost / 1_000_000)
    })
  }

  countRequest(request: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly durationMs: number
    readonly isStream: boolean
  }): void {
    const { method, route, status } = request
    this.#requests.inc({ method, route, status })
    if (!request.isStream) this.#durations.observe({ route }, request.durationMs / 1_000)
  }

  /** Counts until the signal aborts; the runtime retries while the store cannot be read. */
  async follow(runtime: Runtime, signal: AbortSignal): Promise<void> {
    for await (const event of runtime.events({}, signal)) {
      if (event.type === 'stored') this.#count(event)
    }
  }

  async read(): Promise<{ readonly text: string; readonly type: string }> {
    return { text: await this.#registry.metrics(), type: this.#registry.contentType }
  }

  #count(event: RuntimeEvent & { readonly type: 'stored' }): void {
    const { kind, facts } = event
    switch (kind) {
      case 'message admitted': {
        const lane = word(facts['lane'])
        this.#admissions.inc({ lane })
        this.#admittedTokens.inc({ lane }, amount(facts['tokens']))
        break
      }
      case 'turn ended':
        this.#turns.inc({ ended: word(facts['ended']) })
        break
      case 'step committed':
        this.#steps.inc()
        break
      case 'reply settled':
        this.#replies.inc({ state: word(facts['state']) })
        break
      case 'compaction started':
        if (event.operationId !== null && this.#started.size < TRIGGERS_MAX) {
          this.#started.set(event.operationId, { trigger: word(facts['trigger']), at: event.at })
        }
        break
      case 'compaction committed':
      case 'compaction failed':
      case 'compaction superseded':
      case 'compaction abandoned':
        this.#countCompaction(event, kind.slice('compaction '.length))
        break
      default:
        break
    }
  }

  #countCompaction(event: RuntimeEvent & { readonly type: 'stored' }, outcome: string): void {
    const started = this.#started.get(event.operationId ?? '')
    this.#started.delete(event.operationId ?? '')
    this.#compactions.inc({ trigger: started?.trigger ?? 'unknown', outcome })
    if (started !== undefined) {
      this.#compactionDurations.observe({ outcome }, Math.max(0, event.at - started.at) / 1_000)
    }
    this.#compactedTokens.inc({ when: 'before' }, amount(event.facts['tokensBefore']))
    this.#compactedTokens.inc({ when: 'after' }, amount(event.facts['tokensAfter']))
  }

  /** One reading of the runtime for all gauges of a scrape. */
  #health: Promise<Awaited<ReturnType<Runtime['health']>>> | null = null

  async #readHealth(
    runtime: Runtime,
    use: (health: Awaited<ReturnType<Runtime['health']>>) => void,
  ): Promise<void> {
    this.#health ??= runtime.health().finally(() => {
      this.#health = null
    })
    // A scrape reports what it can; /readyz reports a store that does not answer.
    await this.#health.then(use, () => undefined)
  }

  #counter(name: string, help: string, labelNames: readonly string[]): Counter<string> {
    const registers = [this.#registry]
    return new Counter({ name: `throughline_${name}_total`, help, labelNames, registers })
  }

  #gauge(
    name: string,
    help: string,
    labelNames: readonly string[],
    collect: (gauge: Gauge<string>) => void | Promise<void>,
  ): void {
    const gauge: Gauge<string> = new Gauge({
      name: `throughline_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () => collect(gauge),
    })
  }
}

function word(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 64) : 'unknown'
}

function amount(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0
}
