import { type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Clock } from '#core/base/clock'
import { FloodGauge } from './flood.ts'
import { MessageMeter } from './message-meter.ts'
import { type McpServerFailure, ServerFailureError } from './server-failure.ts'

/**
 * A server at a URL. Requests go only to the origin that the operator named: redirects are refused,
 * so that no response can make us send a key elsewhere or fetch internal resources.
 */
/** The most unanswered requests: a server may send requests forever and never read our answers. */
export const UNANSWERED_MAX = 100
/** Between two connections for a stream that ends. */
const PAUSE_MS = 1_000
const PAUSE_MS_MAX = 30_000

export class HttpTransport extends StreamableHTTPClientTransport {
  /** Why we ended the connection. */
  failure: McpServerFailure | null = null

  constructor(
    url: string,
    {
      headers,
      clock,
    }: { readonly headers: Readonly<Record<string, string>>; readonly clock: Clock },
  ) {
    const address = new URL(url)
    const gauge = new FloodGauge(clock)
    const offend = (reason: string) => {
      this.failure ??= { reason, words: '' }
      // Pending requests fail now instead of at their deadline.
      void this.close().catch(() => {})
    }
    super(address, {
      requestInit: { headers: { ...headers } },
      fetch: guardedFetch(address.origin, { gauge, offend }),
      redirectPolicy: 'same-origin',
      reconnectionOptions: {
        initialReconnectionDelay: PAUSE_MS,
        maxReconnectionDelay: PAUSE_MS_MAX,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 5,
      },
      // A server may ask for any pause: with none, we would call it as fast as it answers.
      reconnectionScheduler: (reconnect, pauseMs) =>
        clock.after(Math.min(Math.max(pauseMs, PAUSE_MS), PAUSE_MS_MAX), reconnect),
    })
  }
}

interface Guard {
  readonly gauge: FloodGauge
  readonly offend: (reason: string) => void
}

function guardedFetch(origin: string, guard: Guard): FetchLike {
  let unanswered = 0
  return async (target, init) => {
    const address = new URL(target)
    if (address.origin !== origin) throw new ServerFailureError(`only ${origin} may be called`)
    if (unanswered >= UNANSWERED_MAX) {
      throw new ServerFailureError(`it leaves ${UNANSWERED_MAX} requests unanswered`)
    }
    unanswered += 1
    const response = await fetch(address, { ...init, redirect: 'manual' }).finally(() => {
      unanswered -= 1
    })
    if (response.status >= 300 && response.status < 400 && response.status !== 304) {
      await response.body?.cancel()
      throw new ServerFailureError('it answered with a redirect, which is never followed')
    }
    return bounded(response, { ...guard, isGet: init?.method === 'GET' })
  }
}

/**
 * Taken out of every answer: JSON does not need it, and line feeds end the lines of events. A second mark for
 * the end of a line would slow down the parser of events and make lines that the meter does not count.
 */
const RETURN = 0x0d

function bounded(
  response: Response,
  { gauge, offend, isGet }: Guard & { readonly isGet: boolean },
): Response {
  if (response.body === null) return response
  // The answer to a GET is read as a stream, whatever its type says.
  const isStream =
    isGet || response.headers.get('content-type')?.includes('text/event-stream') === true
  const meter = new MessageMeter(gauge, isStream ? 'empty-line' : 'never')
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(sent, controller) {
        const chunk = sent.filter((byte) => byte !== RETURN)
        const offence = meter.add(chunk)
        if (offence === null) return controller.enqueue(chunk)
        controller.error(new ServerFailureError(offence))
        offend(offence)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
