import { sessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { Reads, Store } from '#core/store/contract'
import type { ConversationReport, RouteReport } from '../../import-report.ts'
import type { HermesRoute, TornRoute } from '../diagnose/routes.ts'

/** Imports the routes: each points to the one session, whichever of its ids it named. */

interface RouteRequest {
  readonly agent: string
  readonly torn: readonly TornRoute[]
  readonly conversations: readonly ConversationReport[]
  readonly reads: Reads | null
  /** Null: dry run. */
  readonly store: Store | null
}

export async function importRoutes(
  routes: readonly HermesRoute[],
  request: RouteRequest,
): Promise<readonly RouteReport[]> {
  const homes = new Map<string, ConversationReport>()
  for (const conversation of request.conversations) {
    for (const id of conversation.ids) homes.set(id, conversation)
  }
  const told: RouteReport[] = []
  for (const route of routes) {
    told.push(await importRoute(route, homes.get(route.sessionId), request))
  }
  return [
    ...told,
    ...request.torn.map(({ key, from }) => ({
      ...{ key: key ?? from, sessionId: '', route: null, outcome: 'torn' as const },
    })),
  ]
}

const BROUGHT = new Set<ConversationReport['outcome']>(['new', 'continued', 'unchanged'])

async function importRoute(
  { key, sessionId: foreign, entry }: HermesRoute,
  home: ConversationReport | undefined,
  { agent, reads, store }: RouteRequest,
): Promise<RouteReport> {
  const profile = positionOf(key, entry)
  const told = { key, sessionId: home?.sessionId ?? foreign, route: profile }
  if (home === undefined) return { ...told, outcome: 'nowhere' }
  if (profile === null || !BROUGHT.has(home.outcome)) return { ...told, outcome: 'not-brought' }
  const route = { agent, ...profile }
  const present = await reads?.findRoute(route)
  if (present !== undefined) {
    return { ...told, outcome: present.sessionId === home.sessionId ? 'unchanged' : 'taken' }
  }
  const id = sessionId(home.sessionId)
  const pointed = await store?.pointRoute({ route, sessionId: id, version: 0 })
  const isLate = pointed !== undefined && pointed.kind !== 'pointed'
  return { ...told, outcome: isLate ? 'taken' : 'pointed' }
}

/** `agent:main:telegram:dm:1001`: the agent, the channel, and the rest as the address. */
function positionOf(key: string, entry: JsonObject): RouteReport['route'] {
  const [first, , ...rest] = key.split(':')
  const [named, ...address] = first === 'agent' ? rest : key.split(':')
  const platform = entry['platform']
  const channel = typeof platform === 'string' && platform !== '' ? platform : named
  return channel === undefined || channel === '' || address.length === 0
    ? null
    : { channel, address: address.join(':') }
}
