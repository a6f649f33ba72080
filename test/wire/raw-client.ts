import { type Agent, request } from 'node:http'
import type { JsonObject, JsonValue } from '../../packages/core/src/base/json.ts'
import { isObject } from '../../packages/core/src/base/json.ts'
import type { ProtocolName } from '../../packages/server/src/stand-in/protocols/protocol.ts'
import {
  type Running,
  type StandIn,
  type StandInOptions,
  standIn,
} from '../../packages/server/src/stand-in/server.ts'

/** A client that hides nothing: what came over the socket, and how it ended. */
export const PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic'] as const

const PATHS: { readonly [name in ProtocolName]: string } = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  anthropic: '/v1/messages',
}

export interface Sending {
  readonly protocol: ProtocolName
  readonly text?: string
  readonly stream?: boolean
  /** Joins or replaces fields of the body. */
  readonly body?: JsonObject
  readonly path?: string
  readonly headers?: { readonly [name: string]: string }
  /** Absent: a connection of its own. */
  readonly agent?: Agent
  /** Leaves after this time, whatever has come. */
  readonly leaveMs?: number
  /** What has come when that time begins; absent: it begins with the request. */
  readonly leaveFrom?: (seen: Pick<Seen, 'status' | 'bytes'>) => boolean
}

export interface Seen {
  readonly status: number | undefined
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly bytes: Buffer
  /** `end`: complete as HTTP has it; `left`: this client's patience; else the error's code. */
  readonly ending: string
  readonly durationMs: number
}

export function bodyOf({ protocol, text = 'Hello.', stream = false, body }: Sending): JsonObject {
  const messages = [{ role: 'user', content: text }]
  const conversation =
    protocol === 'openai-responses'
      ? { input: messages }
      : { messages, ...(protocol === 'anthropic' && { max_tokens: 4_000 }) }
  return { model: 'stand-in', stream, ...conversation, ...body }
}

export function send(url: string, sending: Sending): Promise<Seen> {
  const { protocol, path = PATHS[protocol], headers, agent = false, leaveMs, leaveFrom } = sending
  const { promise, resolve } = Promise.withResolvers<Seen>()
  const startedAt = performance.now()
  const chunks: Buffer[] = []
  let status: number | undefined
  let received: Seen['headers'] = {}
  const settle = (ending: string) => {
    clearTimeout(timer)
    const bytes = Buffer.concat(chunks)
    const durationMs = performance.now() - startedAt
    resolve({ status, headers: received, bytes, ending, durationMs })
  }
  const outgoing = request(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    agent,
  })
  let timer: NodeJS.Timeout | undefined
  const leaveInTime = () => {
    if (leaveMs === undefined || timer !== undefined) return
    if (leaveFrom?.({ status, bytes: Buffer.concat(chunks) }) === false) return
    timer = setTimeout(() => {
      settle('left')
      outgoing.destroy()
    }, leaveMs)
  }
  leaveInTime()
  const fail = (error: NodeJS.ErrnoException) => settle(error.code ?? error.message)
  outgoing.on('error', fail)
  outgoing.on('response', (response) => {
    status = response.statusCode
    received = response.headers
    leaveInTime()
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      leaveInTime()
    })
    response.on('end', () => settle('end'))
    response.on('error', fail)
  })
  outgoing.end(JSON.stringify(bodyOf(sending)))
  return promise
}

/** The JSON documents of an event stream, `[DONE]` left out; throws for a torn or broken one. */
export function eventsIn({ bytes }: Pick<Seen, 'bytes'>): readonly JsonObject[] {
  return bytes
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject)
}

export function documentIn({ bytes }: Seen): JsonObject {
  return JSON.parse(bytes.toString()) as JsonObject
}

/** What the model said, gathered from the pieces of a stream; refusals count as said. */
export function textIn(protocol: ProtocolName, seen: Pick<Seen, 'bytes'>): string {
  return eventsIn(seen)
    .map((event): JsonValue | undefined => {
      if (protocol === 'openai-chat') {
        const delta = at(event, 'choices', 0, 'delta')
        return at(delta, 'content') ?? at(delta, 'refusal')
      }
      if (protocol === 'anthropic') return at(event, 'delta', 'text')
      const isText = /\.(output_text|refusal)\.delta$/.test(String(event['type']))
      return isText ? event['delta'] : undefined
    })
    .filter((piece) => typeof piece === 'string')
    .join('')
}

/** The provider's word for why the stream ended; absent where it never said. */
export function finishIn(protocol: ProtocolName, seen: Seen): JsonValue | undefined {
  const reasons = eventsIn(seen).map((event) => {
    if (protocol === 'openai-chat') return at(event, 'choices', 0, 'finish_reason') ?? undefined
    if (protocol === 'anthropic') {
      return event['type'] === 'message_delta' ? at(event, 'delta', 'stop_reason') : undefined
    }
    const status = at(event, 'response', 'status')
    if (status === 'incomplete') return at(event, 'response', 'incomplete_details', 'reason')
    return status === 'completed' ? status : undefined
  })
  return reasons.findLast((reason) => reason !== undefined)
}

/** The value at a path into a document; absent where the path leads nowhere. */
export function at(
  value: JsonValue | undefined,
  ...path: readonly (string | number)[]
): JsonValue | undefined {
  let here = value
  for (const key of path) {
    if (Array.isArray(here)) here = (here as readonly JsonValue[])[Number(key)]
    else here = isObject(here) ? here[key] : undefined
  }
  return here
}

/** A running stand-in with everything that belongs to it. */
export async function startStandIn(
  options: StandInOptions = {},
): Promise<Running & { readonly server: StandIn }> {
  const server = standIn(options)
  return { server, ...(await server.start({ port: 0 })) }
}
