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
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new RequestTooLargeError()
    chunks.push(chunk)
  }
  const sent = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  const unpack = ENCODINGS.get(encodingOf(request.headers))
  if (unpack === undefined) return sent
  try {
    return await unpack(sent, { maxOutputLength: BODY_BYTES_MAX })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ERR_BUFFER_TOO_LARGE' ? new RequestTooLargeError() : new UnreadableBodyError()
  }
}

/** The body is not what its `content-encoding` says. */
export class UnreadableBodyError extends Error {}

function encodingOf(headers: IncomingMessage['headers']): string {
  return (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
}
