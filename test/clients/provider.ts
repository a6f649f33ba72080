import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Script } from '../../packages/server/src/stand-in/answer.ts'
import type { Speed } from '../../packages/server/src/stand-in/sending/play.ts'
import { standIn } from '../../packages/server/src/stand-in/server.ts'

/** A provider that notes what reaches it, and how much of it a prompt cache would have known. */
export interface Provider {
  readonly url: string
  readonly seen: readonly SeenRequest[]
  /** Over all requests with tools: the share of bytes that the request before began with. */
  cachedShare(): number
  close(): Promise<void>
}

export interface SeenRequest {
  readonly path: string
  readonly body: string
  readonly status: number
  readonly hasTools: boolean
  /** Bytes that it begins with as an earlier one did, cache marks apart. */
  readonly cached: number
  readonly startedAtMs: number
}

const MARK = /,?"cache_control":\{[^}]*\}/g

export async function startProvider(options: {
  readonly script: Script
  readonly windowTokens?: number
  readonly keepBodies?: boolean
  readonly speed?: Speed
}): Promise<Provider> {
  const { script, windowTokens, speed } = options
  const model = standIn({
    ...{ script, journalEntriesMax: 1 },
    ...(windowTokens !== undefined && { windowTokens }),
    ...(speed !== undefined && { speed }),
  })
  const inner = await model.start()
  const seen: SeenRequest[] = []
  const before = new Map<string, string>()
  const server = createServer(async (asked, response) => {
    const startedAtMs = performance.now()
    const chunks: Buffer[] = []
    for await (const chunk of asked) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    const { method = 'GET', url = '/' } = asked
    const { host: _, ...headers } = asked.headers
    const onward = ask(`${inner.url}${url}`, { method, headers }, (answer) => {
      note(url, bytes.toString(), answer.statusCode ?? 0, startedAtMs)
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.once('close', () => onward.destroy())
    onward.end(bytes)
  })
  const note = (url: string, body: string, status: number, startedAtMs: number) => {
    const [path = ''] = url.split('?')
    const hasTools = /"tools":\[\{/.test(body)
    const plain = ordered(body.replaceAll(MARK, ''))
    const last = hasTools ? (before.get(path) ?? '') : ''
    const cached = commonLength(plain, last)
    if (hasTools) before.set(path, plain)
    const kept = options.keepBodies === false ? '' : body
    seen.push({ path, body: kept, status, hasTools, cached: cached / plain.length, startedAtMs })
    sizes.push(plain.length)
  }
  const sizes: number[] = []
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    cachedShare() {
      let all = 0
      let known = 0
      for (const [index, { cached, hasTools }] of seen.entries()) {
        if (!hasTools) continue
        all += sizes[index] ?? 0
        known += (sizes[index] ?? 0) * cached
      }
      return all === 0 ? 0 : known / all
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await inner.close()
    },
  }
}

/** Tools and system text come first in a provider's cache, wherever they stand in the body. */
function ordered(body: string): string {
  try {
    const { messages, input, metadata: _, client_metadata: __, ...rest } = JSON.parse(body)
    return JSON.stringify(rest) + JSON.stringify(messages ?? input ?? [])
  } catch {
    return body
  }
}

function commonLength(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at + 4_096 <= length && one.slice(at, at + 4_096) === other.slice(at, at + 4_096)) {
    at += 4_096
  }
  while (at < length && one[at] === other[at]) at += 1
  return at
}
