import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

/** A larger body is passed on unread. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024

export class RequestTooLargeError extends Error {}

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** Some clients compress their requests: Codex does once a user has signed in. */
const ENCODINGS: ReadonlyMap<string, Unpack> = new Map([
  ['identity', async (bytes) => bytes],
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
])

/** Whether the body can be read: a known encoding, and no larger than the limit as it comes. */
export function isReadable({ headers }: IncomingMessage): boolean {
  return (
    Number(headers['content-length'] ?? 0) <= BODY_BYTES_MAX && ENCODINGS.has(encodingOf(headers))
  )
}

/** The body as the client wrote it, before it was compressed. */
export async function readRequestBody(request: IncomingMessage): Promise<Buffer> {
  const sent = await readBytes(request)
  const unpack = ENCODINGS.get(encodingOf(request.headers))
  if (unpack === undefined) return sent
  try {
    return await unpack(sent, { maxOutputLength: BODY_BYTES_MAX })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ERR_BUFFER_TOO_LARGE' ? new RequestTooLargeError() : new UnreadableBodyError()
  }
}

/** Straight into one buffer if the length is known, so that a long history is not held twice. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const length = Number(request.headers['content-length'] ?? 0)
  const whole = Buffer.allocUnsafeSlow(length)
  const more: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (bytes + chunk.length > BODY_BYTES_MAX) throw new RequestTooLargeError()
    if (bytes + chunk.length <= length) chunk.copy(whole, bytes)
    else more.push(chunk)
    bytes += chunk.length
  }
  return more.length === 0 ? whole.subarray(0, bytes) : Buffer.concat([whole, ...more])
}

/** The body is not what its `content-encoding` says. */
export class UnreadableBodyError extends Error {}

function encodingOf(headers: IncomingMessage['headers']): string {
  return (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
}
