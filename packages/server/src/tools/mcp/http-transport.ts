import { type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Clock } from '#core/base/clock'
import { FloodGauge } from './flood.ts'
import { type McpServerFailure, ServerFailureError } from './server-failure.ts'

/**
 * A server at a URL. Requests go only to the origin that the operator named: redirects are refused,
 * so that no response can make us send a key elsewhere or fetch internal resources.
 */
/** One answer, or one event of a stream; a stream of many events has no time limit. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024
/** The most unanswered requests: a server may send requests forever and never read our answers. */
export const UNANSWERED_MAX = 100

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
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 5,
      },
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
    return bounded(response, guard)
  }
}

function bounded(response: Response, { gauge, offend }: Guard): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
  const size = isStream ? eventSize() : wholeSize()
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const isLarge = size(chunk) > MESSAGE_BYTES_MAX
        const offence = isLarge
          ? `it sent one message of more than ${MESSAGE_BYTES_MAX} bytes`
          : gauge.add({ bytes: chunk.length })
        if (offence === null) return controller.enqueue(chunk)
        controller.error(new ServerFailureError(offence))
        offend(offence)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}

function wholeSize(): (chunk: Uint8Array) => number {
  let bytes = 0
  return (chunk) => {
    bytes += chunk.length
    return bytes
  }
}

const LINE_FEED = 10
const RETURN = 13

/** The bytes of the largest event that this chunk is part of; an empty line ends an event. */
function eventSize(): (chunk: Uint8Array) => number {
  let bytes = 0
  let lineBytes = 0
  return (chunk) => {
    let largest = 0
    for (const byte of chunk) {
      bytes += 1
      if (byte === LINE_FEED) {
        largest = Math.max(largest, bytes)
        if (lineBytes === 0) bytes = 0
        lineBytes = 0
      } else if (byte !== RETURN) lineBytes += 1
    }
    return Math.max(largest, bytes)
  }
}
