import type { SessionId } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import type { Route, RouteRow } from '#core/store/tables/rows'

/**
 * Chats to which the platform gave a new id, as Telegram does when a group becomes a supergroup.
 * The route of the new id points to the session of the old one, whose own route stays. The shared
 * session shows that the allow-list still names this chat by its old id.
 */
export type ChatRoutes = Pick<Store, 'findRoute' | 'listRoutes' | 'pointRoute'>

/** Idempotent: a route that exists is left alone. */
export async function followMove(routes: ChatRoutes, from: Route, to: string): Promise<void> {
  const known = await routes.findRoute(from)
  const route = { ...from, address: to }
  if (known === undefined || (await routes.findRoute(route)) !== undefined) return
  await routes.pointRoute({ route, sessionId: known.sessionId, version: 0 })
}

/** The other routes of the same chat: its earlier ids. */
export async function earlierRoutes(
  routes: ChatRoutes,
  route: Route,
): Promise<readonly RouteRow[]> {
  const known = await routes.findRoute(route)
  if (known === undefined) return []
  const all = await routes.listRoutes({ sessionId: known.sessionId })
  return all.filter(
    ({ channel, address }) => channel === route.channel && address !== route.address,
  )
}

/** Earlier ids move with the chat. */
export async function moveRoutes(
  routes: ChatRoutes,
  earlier: readonly RouteRow[],
  sessionId: SessionId,
): Promise<void> {
  for (const { agent, channel, address, version } of earlier) {
    await routes.pointRoute({ route: { agent, channel, address }, sessionId, version })
  }
}
