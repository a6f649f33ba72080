import { createServer } from 'node:net'

/**
 * A free port, for servers that cannot use 0 because their port is announced before they listen, or
 * is used again after a restart. It lies below the ephemeral range, so that the system does not
 * give it to another process in between.
 */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES_MAX = 100

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from))
    if (await isFree(port)) return port
  }
  throw new Error(`No port from ${PORTS.from} to ${PORTS.to} is free, in ${TRIES_MAX} tries.`)
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
