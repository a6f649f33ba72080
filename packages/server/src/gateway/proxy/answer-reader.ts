import type { IncomingMessage } from 'node:http'
import { isObject } from '#core/base/json'
import { EventLines } from '../../proxy/event-lines.ts'
import type { RecordedPassage } from '../../runtime/client-sessions/passage.ts'
import { BODY_BYTES_MAX } from './request-body.ts'

/** What is read of an answer; the longest of any provider are a hundred times shorter. */
const ANSWER_BYTES_MAX = BODY_BYTES_MAX

/** The events of an answer, or its document, for the recorder. */
export class AnswerReader {
  readonly #passage: Pick<RecordedPassage, 'take'>
  readonly #lines: EventLines | null
  readonly #isDocument: boolean
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor({ headers, statusCode }: IncomingMessage, passage: Pick<RecordedPassage, 'take'>) {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
    const isRead = statusCode === 200 && encoding === 'identity'
    this.#passage = passage
    this.#lines = isRead && type.startsWith('text/event-stream') ? new EventLines() : null
    this.#isDocument = isRead && type.startsWith('application/json')
  }

  take(chunk: Buffer): void {
    this.#bytes += chunk.length
    // An answer without end is forwarded without end, but not kept.
    if (this.#bytes > ANSWER_BYTES_MAX) this.#chunks.length = 0
    else if (this.#isDocument) this.#chunks.push(chunk)
    else for (const event of this.#lines?.take(chunk) ?? []) this.#passage.take(event)
  }

  end(): void {
    const document = this.#isDocument ? parseJsonBytes(Buffer.concat(this.#chunks)) : undefined
    if (isObject(document)) this.#passage.take(document)
  }
}

/** Undefined: it is not JSON. */
export function parseJsonBytes(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
