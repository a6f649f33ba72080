import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The least that a proxy can do: takes a request, and passes it on. */
const to = process.argv[2] ?? ''
const server = createServer(async (asked, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of asked) chunks.push(chunk as Buffer)
  const { host: _, ...headers } = asked.headers
  const onward = ask(`${to}${asked.url}`, { method: asked.method ?? 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  onward.end(Buffer.concat(chunks))
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
