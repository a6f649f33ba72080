/** `@throughline/core/adapters/fetch`: a chat endpoint for everything that takes a Fetch handler. */
import type { DurableAgent, RefusedMessage, SessionEvent } from '../agent/agent-types.ts'
import type { AnyFormat } from '../agent/typed-formats/format.ts'
import { isObject, type JsonValue } from '../base/json.ts'
import { isThroughlineError } from '../base/throughline-error.ts'

export interface ChatHandlerOptions {
  /**
   * The session that a request belongs to, from something you trust: a cookie, a token. Null
   * answers 401. Never take it from the body or the address alone.
   */
  sessionOf(request: Request): string | null | Promise<string | null>
  /** How often a comment keeps an idle stream open. 15 seconds if not given. */
  readonly keepAliveMs?: number
  /** Larger bodies are answered with 413. 1 MB if not given. */
  readonly bodyBytesMax?: number
}

const KEEP_ALIVE_MS = 15_000
const BODY_BYTES_MAX = 1_000_000

/**
 * `POST { "text": "…", "key": "…" }` answers 202 when the message is durable. `GET` is a stream of
 * events; a browser's `EventSource` resumes after the last durable one automatically.
 *
 * ```ts
 * const chat = chatHandler(agent, { sessionOf: (request) => userOf(request) })
 * app.all('/chat', (c) => chat(c.req.raw)) // Hono; in Next: export const GET = chat, POST = chat
 * ```
 */
export function chatHandler<F extends AnyFormat>(
  agent: DurableAgent<F>,
  options: ChatHandlerOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const id = await options.sessionOf(request)
    if (id === null) return problem(401, 'unauthorised', 'Sign in first.')
    try {
      const session = agent.session(id)
      if (request.method === 'GET') return stream(request, session, options)
      if (request.method !== 'POST') {
        return problem(405, 'method-not-allowed', 'Use GET or POST.', { allow: 'GET, POST' })
      }
      return await post(request, session, options)
    } catch (error) {
      if (!isThroughlineError(error)) throw error
      const status = error.code === 'closed' ? 503 : 400
      return problem(status, error.code, error.message)
    }
  }
}

type Session = ReturnType<DurableAgent<AnyFormat>['session']>

async function post(
  request: Request,
  session: Pick<Session, 'send'>,
  { bodyBytesMax = BODY_BYTES_MAX }: ChatHandlerOptions,
): Promise<Response> {
  // A form of another site cannot send this type without asking first.
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    return problem(415, 'unsupported-type', 'Send JSON, with "content-type: application/json".')
  }
  const body = await readBody(request, bodyBytesMax)
  if (body === 'too-large') return problem(413, 'too-large', `Send at most ${bodyBytesMax} bytes.`)
  const { text, key } = isObject(body) ? body : {}
  if (typeof text !== 'string' || text.trim() === '') {
    return problem(400, 'invalid-body', 'Send JSON with a "text".')
  }
  if (key !== undefined && typeof key !== 'string') {
    return problem(400, 'invalid-body', '"key" is a text that names this message.')
  }
  const sent = await session.send(text, key === undefined ? {} : { key })
  if (sent.kind === 'sent') return Response.json(sent, { status: 202 })
  return problem(REFUSALS[sent.why], sent.why, 'The message was not taken.')
}

const REFUSALS: { readonly [why in RefusedMessage['why']]: number } = {
  'key-reused': 409,
  'mailbox-full': 429,
  'too-large': 413,
  'session-deleted': 410,
  'belongs-to-another-agent': 403,
}

/** Undefined: it is not JSON. */
async function readBody(
  request: Request,
  bytesMax: number,
): Promise<JsonValue | 'too-large' | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) return 'too-large'
    text += decoder.decode(chunk, { stream: true })
  }
  try {
    return JSON.parse(text + decoder.decode()) as JsonValue
  } catch {
    return undefined
  }
}

function stream(
  request: Request,
  session: Pick<Session, 'events'>,
  { keepAliveMs = KEEP_ALIVE_MS }: ChatHandlerOptions,
): Response {
  const { searchParams } = new URL(request.url)
  const last = request.headers.get('last-event-id') ?? searchParams.get('after') ?? ''
  const gone = new AbortController()
  const signal = AbortSignal.any([request.signal, gone.signal])
  const after = /^\d{1,15}$/.test(last) ? { after: Number(last) } : {}
  const events = session.events({ signal, ...after })[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  const end = () => {
    clearInterval(timer)
    gone.abort()
  }
  const body = new ReadableStream<Uint8Array>({
    start(out) {
      timer = setInterval(() => out.enqueue(encoder.encode(': alive\n\n')), keepAliveMs)
    },
    async pull(out) {
      const next = await events.next().catch((error: unknown) => {
        // A stream that has failed takes no comment: the timer would throw, and end the process.
        end()
        throw error
      })
      if (next.done !== true) return out.enqueue(encoder.encode(writeEvent(next.value)))
      end()
      out.close()
    },
    cancel: end,
  })
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  })
}

/** Only durable events have an id, so a browser resumes after the last of them. */
function writeEvent(event: SessionEvent): string {
  const id = 'cursor' in event ? `id: ${event.cursor}\n` : ''
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

function problem(status: number, code: string, message: string, headers = {}): Response {
  return Response.json({ error: { code, message } }, { status, headers })
}
