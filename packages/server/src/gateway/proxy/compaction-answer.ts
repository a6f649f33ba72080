import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { isObject, type JsonObject } from '#core/base/json'
import { type Address, writeAddress } from '../../proxy/history.ts'
import { parseJsonBytes } from './answer-reader.ts'

/**
 * The answer to a client that asks its provider for a compaction (OpenAI Responses): one item whose
 * content is a reference into the store. When the item comes back, the handoff is sent in its
 * place.
 */
export function answerCompaction(
  response: ServerResponse,
  compaction: Address,
  { isStream, isDocument, model }: CompactionRequest,
): void {
  const id = randomUUID().replaceAll('-', '')
  const item = {
    id: `cmp_${id}`,
    type: 'compaction',
    encrypted_content: writeAddress(compaction),
  }
  const usage = {
    ...{ input_tokens: 0, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: 0, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 },
  }
  const createdAt = Math.floor(Date.now() / 1_000)
  if (isDocument) {
    const object = 'response.compaction'
    const body = { id: `resp_${id}`, object, created_at: createdAt, output: [item], usage }
    sendDocument(response, body)
    return
  }
  const base = { id: `resp_${id}`, object: 'response', created_at: createdAt, model }
  const whole = { ...base, status: 'completed', output: [item], usage }
  if (!isStream) {
    sendDocument(response, whole)
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  const started = { ...base, status: 'in_progress', output: [], usage: null }
  const events: readonly JsonObject[] = [
    { type: 'response.created', response: started },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]
  for (const [index, event] of events.entries()) {
    const data = JSON.stringify({ ...event, sequence_number: index })
    response.write(`event: ${event['type']}\ndata: ${data}\n\n`)
  }
  response.end()
}

export interface CompactionRequest {
  readonly isStream: boolean
  /** `/v1/responses/compact`. */
  readonly isDocument: boolean
  readonly model: string
}

export function readCompactionRequest(pathname: string, body: Buffer): CompactionRequest {
  const parsed = parseJsonBytes(body)
  const { stream, model } = isObject(parsed) ? parsed : {}
  return {
    isStream: stream === true,
    isDocument: pathname.endsWith('/compact'),
    model: typeof model === 'string' ? model : '',
  }
}

function sendDocument(response: ServerResponse, body: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
