import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { BODY_BYTES_MAX, RequestTooLargeError, readRequestBody } from './request-body.ts'

/** A request in so many equal pieces, which does not say how long it is. */
function sentInPieces(count: number): IncomingMessage {
  const piece = Buffer.alloc(BODY_BYTES_MAX / 64)
  const pieces = Array.from({ length: count }, () => piece)
  return Object.assign(Readable.from(pieces), { headers: {} }) as unknown as IncomingMessage
}

describe('a body of unknown length', () => {
  it('is read up to the limit', async () => {
    expect((await readRequestBody(sentInPieces(64))).length).toBe(BODY_BYTES_MAX)
  })

  it('is refused as soon as it exceeds the limit', async () => {
    const request = sentInPieces(66)
    const bytes = readRequestBody(request).then((body) => body.length)
    await expect(bytes).rejects.toBeInstanceOf(RequestTooLargeError)
    expect(request.readableDidRead && request.destroyed).toBe(true)
  })
})
