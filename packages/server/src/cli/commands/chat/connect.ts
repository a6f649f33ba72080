import type { StoreFlags } from '../../../host/flags.ts'
import { findServers } from '../../../host/served-store.ts'
import { storeOf } from '../../../host/store-selection.ts'
import type { ChatRuntime } from '../../conversation.ts'
import type { SessionIds } from '../../named-session.ts'
import { ServerRequests } from '../../server-client/requests.ts'
import { openServerRuntime } from '../../server-client/server-runtime.ts'

/** Who runs the sessions of a chat: a server of the store, or this process. */
export interface ChatConnection {
  readonly runtime: ChatRuntime
  readonly sessions: SessionIds
  /** The page of the server; null: this process runs the sessions. */
  readonly url: string | null
  /** Reports when the server goes away and when one is back. */
  onPresence(report: (presence: 'away' | 'back') => void): void
  /** Requests that wait for a server fail from now on. */
  giveUp(): void
  close(): Promise<void>
}

/**
 * If a server runs the sessions of the store, the chat needs no keys and no agents of its own.
 * `isLocal` runs them here in any case.
 */
export async function connectChat(
  flags: StoreFlags,
  { isLocal }: { readonly isLocal: boolean },
): Promise<ChatConnection> {
  if (isLocal) return await openHere(flags)
  const { url: storeUrl } = await storeOf(flags, { mayMake: true })
  const [server] = await findServers(storeUrl)
  if (server === undefined) return await openHere(flags)
  const requests = new ServerRequests(storeUrl)
  const runtime = await openServerRuntime(requests)
  return {
    runtime,
    url: server.url,
    sessions: {
      findSession: async (id) => await runtime.session(id).summary(),
      listSessions: async (query) => await runtime.listSessions(query),
    },
    onPresence(report) {
      requests.onPresence = report
    },
    giveUp: () => requests.giveUp(),
    close: async () => requests.giveUp(),
  }
}

async function openHere(flags: StoreFlags): Promise<ChatConnection> {
  const { openHost } = await import('../../../host/open-host.ts')
  const { runtime, store, close } = await openHost(flags, {
    ...{ runs: true, mayMake: true, isTalk: true },
  })
  return { runtime, sessions: store, url: null, onPresence() {}, giveUp() {}, close }
}
