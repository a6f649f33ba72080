import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Clock, systemClock } from '../../packages/core/src/base/clock.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { DEADLINES, type Deadlines } from '../../packages/server/src/model/connections/deadlines.ts'
import {
  type ModelConnection,
  type OpenDispatcher,
  openDispatcher,
  Pool,
} from '../../packages/server/src/model/connections/pool.ts'
import type {
  EndPiece,
  Model,
  ModelRequest,
  ModelStream,
  StreamPiece,
} from '../../packages/server/src/model/model.ts'
import { openModel } from '../../packages/server/src/model/provider-model.ts'
import type { ProviderName } from '../../packages/server/src/model/providers/names.ts'
import { Credentials, type Environment } from '../../packages/server/src/model/routes/credential.ts'
import type { ModelRoute } from '../../packages/server/src/model/routes/route.ts'
import { type StandInOptions, standIn } from '../../packages/server/src/stand-in/server.ts'
import { until } from '../support/until.ts'

/** Whatever ends late on a busy machine does end. */

/** The providers' packages that the stand-in can be asked through, all three protocols. */
export const WIRES = ['openai-chat', 'openai-responses', 'anthropic', 'openai-compatible'] as const

/** Counts what is still to fire, so that a test can see that nothing is. */
class CountingClock implements Clock {
  timers = 0

  now(): number {
    return systemClock.now()
  }

  monotonic(): number {
    return systemClock.monotonic()
  }

  after(delayMs: number, callback: () => void): () => void {
    let isSet = true
    this.timers++
    const unset = () => {
      if (isSet) this.timers--
      isSet = false
    }
    const callOff = systemClock.after(delayMs, () => {
      unset()
      callback()
    })
    return () => {
      unset()
      callOff()
    }
  }
}

/** A stand-in, a pool and all that belongs to them. `close` checks that nothing is left over. */
export async function openBench(
  options: StandInOptions & {
    readonly open?: OpenDispatcher
    readonly environment?: Environment
  } = {},
) {
  const { open, environment = {}, ...standing } = options
  const server = standIn(standing)
  const running = await server.start()
  const rejections: unknown[] = []
  const onRejection = (reason: unknown) => rejections.push(reason)
  process.on('unhandledRejection', onRejection)
  const clock = new CountingClock()
  const lines: ModelConnection[] = []
  const folder = mkdtempSync(join(tmpdir(), 'throughline-model-'))
  const keyFile = join(folder, 'key')
  const pool = new Pool({
    environment,
    open: (origin, proxy) => {
      const line = (open ?? openDispatcher)(origin, proxy)
      lines.push(line)
      return line
    },
  })
  const deps = { pool, clock, credentials: new Credentials({ KEY: 'sk-test' }) }

  const modelOf = (provider: ProviderName, route: Partial<ModelRoute> = {}): Model =>
    openModel(
      {
        name: provider,
        provider,
        baseUrl: `${running.url}/v1`,
        credential: { kind: 'variable', name: 'KEY' },
        model: 'stand-in',
        ...route,
      },
      deps,
    )

  /** After every test: no timer of ours, no request under way, and no socket once the pool closes. */
  const settle = async () => {
    await until(() => clock.timers === 0 && server.journal.openRequests === 0)
    expect(rejections).toEqual([])
    server.faults.clear()
  }

  return {
    server,
    url: running.url,
    pool,
    clock,
    deps,
    modelOf,
    settle,
    keyFile,
    writeKey: (key: string) => writeFileSync(keyFile, key),
    /** What nobody but the pool should do. */
    destroyLines: async () => {
      await Promise.all(lines.map((line) => line.destroy()))
    },
    close: async () => {
      await settle()
      await pool.close()
      await until(() => server.journal.openSockets === 0)
      expect(pool.lines).toBe(0)
      process.off('unhandledRejection', onRejection)
      await running.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export interface Heard {
  readonly pieces: readonly StreamPiece[]
  readonly end: EndPiece
  /** The words as they came, piece by piece. */
  readonly text: string
  readonly tookMs: number
}

/** Reads a stream to its end, with so much time between two pieces. */
export async function hear(
  stream: ModelStream,
  pauseMs = 0,
  onText: (text: string) => void = () => {},
): Promise<Heard> {
  const startedAt = performance.now()
  const pieces: StreamPiece[] = []
  let text = ''
  for await (const piece of stream) {
    pieces.push(piece)
    if (piece.kind === 'text') text += piece.text
    onText(text)
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  const end = pieces.at(-1)
  if (end?.kind !== 'end') throw new Error('a stream ended without an end')
  return { pieces, end, text, tookMs: performance.now() - startedAt }
}

export function asking(text: string, rest: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: [user(text)], ...rest }
}

export function user(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

/** Words for a stream of so many tokens of the stand-in. */
export function words(tokens: number): string {
  return `say ${'word'.repeat(tokens)}`
}

export function within(deadlines: Partial<Deadlines> = {}, signal?: AbortSignal) {
  return {
    purpose: 'test',
    signal: signal ?? new AbortController().signal,
    deadlines: { ...DEADLINES, totalMs: 30_000, ...deadlines },
  }
}

export function textOfReply({ reply }: EndPiece): string {
  return (reply?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** A server that answers every request with the same events and remembers the bodies. */
export async function openCanned(answer: (request: IncomingMessage) => readonly string[]) {
  const bodies: string[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(answer(request).join(''))
    })
  })
  return { ...(await listen(server)), bodies }
}

export async function listen(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A server that says more and more, as fast as it is read. */
export async function openFlood() {
  let bytes = 0
  let open = 0
  const chunk = event({ id: 'c', choices: [{ index: 0, delta: { content: 'word '.repeat(200) } }] })
  const server = createServer((request, response) => {
    request.resume()
    open++
    let isOpen = true
    response.on('close', () => {
      open--
      isOpen = false
    })
    const pour = () => {
      while (isOpen && response.write(chunk)) bytes += chunk.length
    }
    response.on('drain', pour)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    pour()
  })
  return { ...(await listen(server)), bytes: () => bytes, open: () => open }
}

export function event(data: object, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}
