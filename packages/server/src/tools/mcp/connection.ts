import { Client, type Transport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { Clock } from '#core/base/clock'
import { isObject, type JsonObject } from '#core/base/json'
import { ChildTransport, type GroupWatch } from './child-transport.ts'
import { shortText } from './clean-text.ts'
import { FloodGauge } from './flood.ts'
import { HttpTransport } from './http-transport.ts'
import { safeSchema } from './schema.ts'
import type { McpAddress, McpServerConfig, SecretSource } from './server-config.ts'
import { type McpServerFailure, ServerFailureError } from './server-failure.ts'

/**
 * One connection to one server, from handshake to end. The official client implements the protocol.
 * Everything beyond that is switched off, because the server is not trusted: it compiles no
 * schemas, keeps no cache, and offers no sampling, roots or elicitation.
 */
export interface ConnectionParts {
  readonly clock: Clock
  readonly groups: GroupWatch
  readonly environment: { readonly [name: string]: string | undefined }
  readonly readSecret: (source: SecretSource) => Promise<string>
}

/**
 * A tool as its server describes it. Its texts are clipped and its schema is rewritten as soon as
 * they are read, so that a server cannot fill our memory.
 */
export interface Described {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
}

export interface McpConnection {
  readonly tools: readonly Described[]
  readonly hasResources: boolean
  request(method: string, params: JsonObject, terms: RequestTerms): Promise<JsonObject>
  listTools(): Promise<readonly Described[]>
  close(): Promise<void>
  /** Ends it at once, without waiting, because the process is exiting. */
  kill(): void
}

export interface RequestTerms {
  readonly signal?: AbortSignal
  readonly silenceMs: number
  readonly totalMs?: number
  readonly onProgress?: (progress: string) => void
}

export interface ConnectionEnds {
  /** Aborts the handshake; `close` closes what is open. */
  readonly signal: AbortSignal
  readonly onEnd: (failure: McpServerFailure) => void
  readonly onListChanged: () => void
}

export const TOOLS_MAX = 128
const PAGES_MAX = 32
const NAME_MAX = 1_000
const DESCRIPTION_MAX = 2_000
const CLIENT = { name: 'throughline', version: '1' }
const ANYTHING = z.looseObject({})
const LIST_DEBOUNCE_MS = 300

export async function openConnection(
  terms: McpServerConfig,
  parts: ConnectionParts,
  { signal: opening, onEnd, onListChanged }: ConnectionEnds,
): Promise<McpConnection> {
  const { startMs } = terms
  const transport = await transportOf(terms, parts)
  const client = new Client(CLIENT, {
    capabilities: {},
    // A program may exit on an unknown request; over HTTP the request is harmless.
    versionNegotiation: { mode: terms.kind === 'program' ? 'legacy' : 'auto' },
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: {
      getValidator: () => (input) => ({
        valid: true,
        data: input as never,
        errorMessage: undefined,
      }),
    },
    listChanged: {
      tools: { autoRefresh: false, debounceMs: LIST_DEBOUNCE_MS, onChanged: onListChanged },
    },
  })
  const endOf = () => transport.failure
  const kill = () => {
    if (transport instanceof ChildTransport) transport.kill()
    else void transport.close().catch(() => {})
  }
  let isOpen = false
  client.onclose = () => {
    if (isOpen) onEnd(endOf() ?? { reason: 'the connection was closed', words: '' })
  }
  // The SDK reports single lines and streams here; anything that matters also fails a request.
  client.onerror = () => {}
  const request: McpConnection['request'] = async (method, params, asked) => {
    const { signal, silenceMs, totalMs = silenceMs, onProgress } = asked
    return (await client.request({ method, params: { ...params } }, ANYTHING, {
      timeout: silenceMs,
      maxTotalTimeout: totalMs,
      resetTimeoutOnProgress: true,
      ...(signal !== undefined && { signal }),
      ...(onProgress !== undefined && {
        onprogress: (progress) => onProgress(progressText(progress)),
      }),
    })) as JsonObject
  }
  const listTools = async () => {
    if (client.getServerCapabilities()?.tools === undefined) return []
    const until = parts.clock.monotonic() + startMs
    const left = () => Math.max(1, until - parts.clock.monotonic())
    return await readTools((cursor) => {
      const params = cursor === undefined ? {} : { cursor }
      return request('tools/list', params, { silenceMs: left(), signal: opening })
    })
  }
  try {
    await client.connect(transport, { timeout: startMs, maxTotalTimeout: startMs, signal: opening })
    if (!(transport instanceof ChildTransport)) gauge(transport, parts.clock)
    const tools = await listTools()
    isOpen = true
    const failure = endOf()
    if (failure !== null) throw new ServerFailureError(failure.reason, failure.words)
    const hasResources = client.getServerCapabilities()?.resources !== undefined
    const close = async () => {
      isOpen = false
      await client.close().catch(kill)
    }
    return { tools, hasResources, request, listTools, close, kill }
  } catch (error) {
    isOpen = false
    const failure = endOf()
    kill()
    await client.close().catch(() => {})
    if (failure === null) throw error
    throw new ServerFailureError(failure.reason, failure.words, { cause: error })
  }
}

async function transportOf(
  terms: McpServerConfig,
  parts: ConnectionParts,
): Promise<ChildTransport | HttpTransport> {
  if (terms.kind === 'address') {
    return new HttpTransport(terms.url, { headers: await headersOf(terms, parts), ...parts })
  }
  const { command, args, folder, env, variables } = terms
  const named = variables.flatMap((name) => {
    const value = parts.environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const child = { command, args, folder, env: { ...env, ...Object.fromEntries(named) } }
  return new ChildTransport(child, parts)
}

async function headersOf(
  { headers, credential }: McpAddress,
  { readSecret }: ConnectionParts,
): Promise<Readonly<Record<string, string>>> {
  const values = await Promise.all(
    Object.entries(headers).map(async ([name, value]) => [
      name,
      typeof value === 'string' ? value : await readSecret(value),
    ]),
  )
  const bearer = credential === undefined ? '' : await readSecret(credential)
  return {
    ...Object.fromEntries(values),
    ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
  }
}

/** For programs, bytes are counted as they arrive; for HTTP servers, messages are counted here. */
function gauge(transport: Transport, clock: Clock): void {
  const flood = new FloodGauge(clock)
  const deliver = transport.onmessage
  transport.onmessage = (message, extra) => {
    if (flood.add({ messages: 1 }) === null) deliver?.(message, extra)
    else void transport.close().catch(() => {})
  }
}

async function readTools(
  readPage: (cursor: string | undefined) => Promise<JsonObject>,
): Promise<readonly Described[]> {
  const found: Described[] = []
  let cursor: string | undefined
  for (let page = 1; page <= PAGES_MAX && found.length < TOOLS_MAX; page++) {
    const { tools, nextCursor } = await readPage(cursor)
    for (const tool of Array.isArray(tools) ? tools.slice(0, TOOLS_MAX) : []) {
      if (!isObject(tool)) continue
      const { name, description, inputSchema } = tool
      if (typeof name !== 'string' || name === '' || name.length > NAME_MAX) continue
      const text = typeof description === 'string' ? shortText(description, DESCRIPTION_MAX) : ''
      found.push({ name, description: text, inputSchema: safeSchema(inputSchema) })
    }
    if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor === cursor) break
    cursor = nextCursor
  }
  return found.slice(0, TOOLS_MAX)
}

function progressText(progress: {
  progress: number
  total?: number | undefined
  message?: string | undefined
}): string {
  const of = progress.total === undefined ? '' : ` of ${progress.total}`
  const words = progress.message === undefined ? '' : `: ${progress.message}`
  return `${progress.progress}${of}${words}`
}
