import {
  type FetchLike,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { ServerTrouble } from './trouble.ts'

/**
 * A server behind an address. Requests go to the origin that the operator named and nowhere else:
 * a redirect is refused, so that no answer can make us carry a key to another place or fetch what
 * only we can reach.
 */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024
/** Requests that wait for an answer: a server may ask us for ever and never take what we say. */
export const UNANSWERED_MAX = 100

export function httpTransport(url: string, headers: Readonly<Record<string, string>>): Transport {
  const address = new URL(url)
  return new StreamableHTTPClientTransport(address, {
    requestInit: { headers: { ...headers } },
    fetch: guardedFetch(address.origin),
    redirectPolicy: 'same-origin',
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 5,
    },
  })
}

function guardedFetch(origin: string): FetchLike {
  let unanswered = 0
  return async (target, init) => {
    const address = new URL(target)
    if (address.origin !== origin) throw new ServerTrouble(`only ${origin} may be called`)
    if (unanswered >= UNANSWERED_MAX) {
      throw new ServerTrouble(`it leaves ${UNANSWERED_MAX} requests unanswered`)
    }
    unanswered += 1
    const response = await fetch(address, { ...init, redirect: 'manual' }).finally(() => {
      unanswered -= 1
    })
    if (response.status >= 300 && response.status < 400 && response.status !== 304) {
      await response.body?.cancel()
      throw new ServerTrouble('it answered with a redirect, which is never followed')
    }
    return bounded(response)
  }
}

/** What is longer breaks off: a stream of events is opened again, an answer becomes an error. */
function bounded(response: Response): Response {
  if (response.body === null) return response
  let bytes = 0
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length
        if (bytes > RESPONSE_BYTES_MAX) {
          controller.error(
            new ServerTrouble(`it answered with more than ${RESPONSE_BYTES_MAX} bytes`),
          )
        } else controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
