import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Between a client and the proxy: keeps what the client itself sent. */
export interface Tee {
  readonly url: string
  readonly sent: readonly { readonly path: string; readonly body: string }[]
  close(): Promise<void>
}

export async function startTee(to: () => string): Promise<Tee> {
  const sent: { path: string; body: string }[] = []
  const server = createServer(async (asked, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of asked) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const { method = 'GET', url = '/' } = asked
    const [path = ''] = url.split('?')
    sent.push({ path, body: body.toString() })
    const { host: _, ...headers } = asked.headers
    const onward = ask(`${to()}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
      answer.once('close', () => {
        if (!answer.complete) response.destroy()
      })
    })
    // As if the proxy itself were not there.
    onward.on('error', () => response.destroy())
    response.once('close', () => onward.destroy())
    onward.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
