import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A way to the page that nothing in the browser can intercept. What another program left for the address of the
 * page, in the cache or as a service worker, answers for that address alone. This one has a port of
 * its own: from here the browser asks the server to remove it, and then goes to the page.
 */
export interface PageEntry {
  readonly url: string
  /** Resolves once a browser was led to the page. */
  readonly used: Promise<void>
  close(): Promise<void>
}

interface EntryTarget {
  readonly url: string
  readonly clearing: string
}

export async function openEntry({ url, clearing }: EntryTarget): Promise<PageEntry> {
  const path = `/${randomBytes(16).toString('base64url')}`
  const html = entryHtml(`${url}${clearing}`)
  const { promise: used, resolve } = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    response.setHeader('cache-control', 'no-store').setHeader('referrer-policy', 'no-referrer')
    if (request.url !== path) response.writeHead(404).end()
    else if (request.method === 'POST') response.writeHead(204).end(resolve)
    else response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
  })
  // The same host: browsers keep the data of an address apart for pages of other sites.
  const { hostname } = new URL(url)
  await once(server.listen(0, hostname.replace(/^\[|\]$/g, '')), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${hostname}:${port}${path}`,
    used,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** The second visit leads on to the page. */
function entryHtml(clearing: string): string {
  const address = JSON.stringify(clearing).replaceAll('<', '\\u003c')
  return `<!doctype html><html lang="en"><title>Throughline</title><body><script>
const address = ${address}
fetch(address, { mode: 'no-cors', credentials: 'include', cache: 'no-store' })
  .then(() => fetch('', { method: 'POST' }))
  .then(() => location.replace(address), () => document.body.append('The server does not answer.'))
</script>`
}
