import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { answerCompaction, readCompactionRequest } from './compaction-answer.ts'

const CONTENT = 'throughline.s1.7.secret'

/** The body of the answer; ids and times, which change, are checked and left out. */
async function answerTo(path: string, body: string): Promise<string> {
  const pipe = new PassThrough()
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.shouldKeepAlive = false
  response.useChunkedEncodingByDefault = false
  response.assignSocket(pipe as unknown as Socket)
  response.on('finish', () => pipe.end())
  const address = { session: 's1', entry: 7, token: 'secret' }
  answerCompaction(response, address, readCompactionRequest(path, Buffer.from(body)))
  const whole = await text(pipe)
  const [head = '', ...rest] = whole.split('\r\n\r\n')
  const type = /content-type: (.*)/.exec(head)?.[1]
  return `${type}\n${rest.join('')}`
    .replaceAll(/"(cmp|resp)_[0-9a-f]{32}"/g, '"$1"')
    .replaceAll(/"created_at":\d{10}\b/g, '"created_at":0')
}

const item = { id: 'cmp', type: 'compaction', encrypted_content: CONTENT }
const usage: JsonObject = {
  ...{ input_tokens: 0, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 0, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 },
}
const base = { id: 'resp', object: 'response', created_at: 0, model: 'm' }
const whole = { ...base, status: 'completed', output: [item], usage }

it('is one document of its own at `/compact`', async () => {
  const document = {
    id: 'resp',
    object: 'response.compaction',
    created_at: 0,
    output: [item],
    usage,
  }
  expect(await answerTo('/v1/responses/compact', '{"stream":true}')).toBe(
    `application/json\n${JSON.stringify(document)}`,
  )
})

it('is a response if no stream is wanted', async () => {
  expect(await answerTo('/v1/responses', '{"model":"m"}')).toBe(
    `application/json\n${JSON.stringify(whole)}`,
  )
  expect(await answerTo('/v1/responses', '[]')).toBe(
    `application/json\n${JSON.stringify({ ...whole, model: '' })}`,
  )
})

it('is the events of a response if a stream is wanted', async () => {
  const started = { ...base, status: 'in_progress', output: [], usage: null }
  const events = [
    { type: 'response.created', response: started },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]
  const written = events.map(
    (event, index) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
  )
  expect(await answerTo('/v1/responses', '{"model":"m","stream":true}')).toBe(
    `text/event-stream; charset=utf-8\n${written.join('')}`,
  )
})
