import { createServer } from 'node:net'

/**
 * A port that nobody listens on, for who cannot be given 0: it is named before it is taken, or taken
 * again by who comes back. It lies below those that a system gives away by itself, or another
 * process would be given it in between.
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
