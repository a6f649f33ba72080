import { findServers } from '../../../host/served-store.ts'
import type { Session } from '../../../runtime/runtime.ts'
import { ServerRequests } from '../../server-client/requests.ts'
import { ServerSession } from '../../server-client/server-session.ts'

/** Only the process that runs a turn knows when its next try is, so a server is asked if there is one. */
export function watchedSession(
  session: Session,
  storeUrl: string,
  signal: AbortSignal,
): Pick<Session, 'reply' | 'summary'> {
  const requests = new ServerRequests(storeUrl)
  const atServer = new ServerSession(session.id, requests)
  // Otherwise a request to a server that has ended would wait for the next one.
  signal.addEventListener('abort', () => requests.giveUp(), { once: true })
  return {
    reply: (mail, until) => session.reply(mail, until),
    summary: async () => {
      const [server] = await findServers(storeUrl)
      return server === undefined ? await session.summary() : await atServer.summary()
    },
  }
}
