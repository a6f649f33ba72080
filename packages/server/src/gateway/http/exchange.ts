import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonValue } from '#core/base/json'
import type { HttpLimits } from './access/limits.ts'
import { parseJson } from './json-body.ts'
import { HttpProblem } from './problems.ts'
import type { Signed } from './webhook.ts'

/** Reads and writes Node's own streams: a web Request and Response cost 45 of 100 µs per message. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

export function writeAnswer(
  outgoing: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string | Buffer | null,
): void {
  const length = text === null ? {} : { 'content-length': Buffer.byteLength(text) }
  outgoing.writeHead(status, { ...HEADERS, ...headers, ...length })
  if (text === null || outgoing.req.method === 'HEAD') outgoing.end()
  else outgoing.end(text)
}

export function openStream(outgoing: ServerResponse, headers: Readonly<Record<string, string>>) {
  outgoing.writeHead(200, {
    ...HEADERS,
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies that buffer responses would delay events.
    'x-accel-buffering': 'no',
  })
  outgoing.flushHeaders()
}

/** The raw bytes of a signed request, and its signature headers. */
export async function readSigned(incoming: IncomingMessage, limits: HttpLimits): Promise<Signed> {
  const header = (name: string) => incoming.headers[name]?.toString() ?? ''
  const bytes = await readBytes(incoming, limits.bodyBytesMax)
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
  return { id, timestamp, signature: header('webhook-signature'), bytes }
}

/** Undefined: there is no body. */
export async function readJsonBody(
  incoming: IncomingMessage,
  limits: HttpLimits,
): Promise<JsonValue | undefined> {
  const { headers } = incoming
  const isEmpty = headers['transfer-encoding'] === undefined && !Number(headers['content-length'])
  if (isEmpty) return undefined
  if (!/^application\/json *(?:; *charset=utf-8 *)?$/i.test(headers['content-type'] ?? '')) {
    throw new HttpProblem('media-type')
  }
  if (headers['content-encoding'] !== undefined) {
    throw new HttpProblem('media-type', { detail: 'Compressed bodies are not accepted.' })
  }
  const bytes = await readBytes(incoming, limits.bodyBytesMax)
  return parseJson(decode(bytes), limits)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new HttpProblem('bad-json', { detail: 'The text is not UTF-8.' })
  }
}

/** A longer body is refused by its Content-Length, or at the first byte beyond the limit. */
function readBytes(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const tooLarge = () => new HttpProblem('too-large', { facts: { limit: bytesMax } })
  if (Number(incoming.headers['content-length']) > bytesMax) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bytesMax) chunks.push(chunk)
      else reject(tooLarge())
    })
    incoming.on('end', () => resolve(Buffer.concat(chunks)))
    // Every request emits `close`, which matters only before its end. Creating a Problem costs a
    // stack trace.
    const cut = () => {
      if (!incoming.readableEnded) reject(new HttpProblem('bad-request'))
    }
    incoming.on('error', cut)
    incoming.on('close', cut)
  })
}
