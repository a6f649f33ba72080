import type { Readable, Writable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { buildMcpServer, type McpServerParts } from './server.ts'
import { StdioTransport } from './stdio-transport.ts'

/**
 * Serves one client over a pair of streams; resolves when the client has disconnected and has its
 * answers, or `signal` aborts.
 */
export async function serveMcp(
  parts: McpServerParts,
  {
    input,
    output,
    signal,
    onError,
  }: {
    readonly input: Readable
    readonly output: Writable
    readonly signal: AbortSignal
    readonly onError: (error: Error) => void
  },
): Promise<void> {
  const gone = Promise.withResolvers<void>()
  // A client that was killed no longer reads.
  output.on('error', () => gone.resolve())
  signal.addEventListener('abort', () => gone.resolve(), { once: true })
  const transport = new StdioTransport(input, output)
  void transport.answered.then(gone.resolve)
  const handle = serveStdio(() => buildMcpServer(parts), { transport, onerror: onError })
  await gone.promise
  await handle.close()
  // A client that keeps writing must not keep the process alive.
  input.destroy()
}
