import { join } from 'node:path'
import { findDoubt, trustOf } from '#core/base/files/trust'
import { sessionId } from '#core/base/ids'
import { takePassedSockets } from '../gateway/http/access/passed-socket.ts'
import { type HttpServer, serveHttp } from '../gateway/http/serve.ts'
import type { HookOptions } from '../gateway/http/webhook.ts'
import { ListenError } from '../gateway/listening.ts'
import { UsageError } from './errors.ts'
import { makeFirstToken } from './first-token.ts'
import { configuredAgent } from './open-gateways.ts'
import type { Host } from './open-host.ts'
import { readSecret } from './read-secret.ts'
import { rehearsalFile } from './rehearsal-file.ts'
import {
  findServers,
  prepareAnnouncement,
  removeDeadServers,
  type ServerAddress,
} from './served-store.ts'
import { auditFolder } from './store-selection.ts'

/** Where the build puts the web page, relative to both `src/host` and `dist/host`. */
const PAGE = join(import.meta.dirname, '../../page')

/** The HTTP edge as configured; null: switched off. */
export async function openServed(host: Host): Promise<HttpServer | null> {
  const { loaded, runtime, store, logger } = host
  const { enabled, hooks, requireToken, socket, ...http } = loaded.config.http
  if (!enabled) return null
  const { store: kept } = loaded.config
  if (socket !== undefined) checkSocket(socket)
  if (requireToken) await makeFirstToken(store, kept.url)
  await removeDeadServers(kept.url)
  const announcement = prepareAnnouncement(kept.url)
  const servers = await findServers(kept.url)
  const served = await serveHttp({
    ...http,
    passed: takePassedSockets(process.env),
    ...{ runtime, logger },
    sockets: [socket, announcement.socket].filter((path) => path != null),
    clearingPath: announcement.clearing,
    hooks: await readHooks(host, hooks),
    tokens: store,
    dashboardFolder: PAGE,
    diagnostics: {
      storeBytes: () => store.readSize(),
      auditFolder: auditFolder(kept.url),
      rehearsalFile: rehearsalFile(kept.url),
    },
  }).catch((error: unknown) => {
    throw error instanceof ListenError ? alreadyServed(error, servers) : error
  })
  const close = async () => {
    announcement.withdraw()
    await served.close()
  }
  try {
    announcement.publish(served.url)
  } catch (error) {
    // On a full disk. A server that still listened would keep the process alive without its store.
    await close()
    throw error
  }
  return { ...served, close }
}

/** Others who can write to a folder above it could exchange that folder, and so the socket. */
function checkSocket(path: string): void {
  const doubt = findDoubt(path, trustOf(process.env))
  if (doubt === null) return
  throw new ListenError(path, new Error(`other users can exchange it, because ${doubt}`))
}

/** A second `serve` is most often started by mistake. */
function alreadyServed(error: ListenError, servers: readonly ServerAddress[]): Error {
  if (!error.isTaken || servers.length === 0) return error
  const urls = servers.map(({ url }) => url).join(', ')
  return new UsageError(
    `This store is already served at ${urls}: \`throughline chat\` uses that server, and the page is ` +
      'there. For a second server on the same store choose another port (--port).',
    { cause: error },
  )
}

type HookConfigs = Host['loaded']['config']['http']['hooks']

async function readHooks(host: Host, hooks: HookConfigs): Promise<readonly HookOptions[]> {
  return await Promise.all(
    Object.entries(hooks).map(async ([name, { secret, previousSecret, agent, session }]) => {
      const sources = [secret, ...(previousSecret === undefined ? [] : [previousSecret])]
      const secrets = await Promise.all(sources.map((each) => readSecret(each, process.env)))
      if (session !== undefined) return { name, secrets, to: { sessionId: sessionId(session) } }
      const to = configuredAgent(host, `http.hooks.${name}.agent`, agent)
      return { name, secrets, to: { agent: to, channel: 'hook', address: name } }
    }),
  )
}
