import { randomBytes, randomUUID } from 'node:crypto'
import { KnownError } from '#core/base/errors'
import { entryNumber, operationId, type SessionId, sessionId } from '#core/base/ids'
import type { Commits, Reads } from '#core/store/contract'
import type { ResolvedAgent } from '../agent.ts'
import type {
  Created,
  Forked,
  ForkRequest,
  Idempotent,
  NewSession,
  RouteAddress,
  StartedAfresh,
} from '../runtime.ts'

/** An attempt fails only if the route moved in the meantime. */
const AFRESH_ATTEMPTS_MAX = 20

export class RouteBusyError extends KnownError {
  override readonly name = 'RouteBusyError'
  readonly code = 'route-busy'
  readonly retryable = true

  constructor({ agent, channel, address }: RouteAddress) {
    const route = JSON.stringify([agent, channel, address])
    const times = `${AFRESH_ATTEMPTS_MAX} times in a row`
    super(`The route ${route} was moved by others ${times}; ask again later.`)
  }
}

/** The scope of another session; only sessions that the runtime itself opens join one. */
interface Joins {
  readonly scope?: string
}

/** Creates sessions: by name, for a route, or as a replacement. */
export class SessionFactory {
  readonly #store: Pick<Commits & Reads, 'createSession' | 'startAfresh' | 'findRoute'>
  readonly #agents: () => ReadonlyMap<string, ResolvedAgent>

  constructor(
    store: Pick<Commits & Reads, 'createSession' | 'startAfresh' | 'findRoute'>,
    agents: () => ReadonlyMap<string, ResolvedAgent>,
  ) {
    this.#store = store
    this.#agents = agents
  }

  async create({ agent, id, route, scope }: NewSession & Joins): Promise<Created> {
    const resolved = this.#agents().get(agent)
    if (resolved === undefined) return this.unknownAgent()
    const chosen = id === undefined ? newSessionId(agent) : sessionId(id)
    const { limits, policy = 'steer' } = resolved.wanted
    const outcome = await this.#store.createSession({
      id: chosen,
      agent,
      limits,
      policy,
      ...(route !== undefined && { route: { agent, ...route } }),
      ...(scope !== undefined && { scope }),
      operation: operationId(randomUUID()),
    })
    switch (outcome.kind) {
      case 'created':
        return { kind: 'created', sessionId: chosen }
      case 'exists':
        return { kind: 'exists', sessionId: chosen }
      case 'route-taken':
        return outcome
      case 'limits-refused':
        throw new Error('An agent was configured with limits that do not fit its window.')
    }
  }

  async startAfresh(request: RouteAddress & Idempotent): Promise<StartedAfresh> {
    const { agent, channel, address, source, key } = request
    const resolved = this.#agents().get(agent)
    if (resolved === undefined) return this.unknownAgent()
    const route = { agent, channel, address }
    const { limits, policy = 'steer' } = resolved.wanted
    for (let attempt = 1; attempt <= AFRESH_ATTEMPTS_MAX; attempt++) {
      const version = (await this.#store.findRoute(route))?.version ?? 0
      const id = newSessionId(agent)
      const operation = operationId(randomUUID())
      const outcome = await this.#store.startAfresh({
        ...{ source, key, route, version, id, limits, policy, operation },
      })
      if (outcome.kind === 'started' || outcome.kind === 'duplicate') {
        return { kind: outcome.kind, sessionId: outcome.sessionId }
      }
      if (outcome.kind !== 'route-changed' && outcome.kind !== 'exists') {
        throw new Error(`A session could not be started afresh: ${outcome.kind}.`)
      }
    }
    throw new RouteBusyError(route)
  }

  /** The session of a route, created if it is missing and the agent is known. */
  async openRoute(route: RouteAddress, scope?: string): Promise<SessionId | undefined> {
    const { agent, channel, address } = route
    const known = await this.#store.findRoute({ agent, channel, address })
    if (known !== undefined) return known.sessionId
    const joins = scope !== undefined && { scope }
    const created = await this.create({ agent, route: { channel, address }, ...joins })
    return created.kind === 'unknown-agent' ? undefined : created.sessionId
  }

  unknownAgent() {
    return { kind: 'unknown-agent', agents: [...this.#agents().keys()] } as const
  }
}

export async function forkSession(
  store: Pick<Commits & Reads, 'fork' | 'findSession'>,
  from: SessionId,
  { at, id, source, key }: ForkRequest,
): Promise<Forked> {
  const session = await store.findSession(from)
  if (session === undefined) return { kind: 'unknown' }
  if (!Number.isSafeInteger(at) || at < 1) return { kind: 'unknown-entry', entries: session.tail }
  const chosen = id === undefined ? newSessionId(session.agent) : sessionId(id)
  const operation = operationId(randomUUID())
  const outcome = await store.fork({
    ...{ id: chosen, from, at: entryNumber(at), source, key, operation },
  })
  switch (outcome.kind) {
    case 'forked':
      return { kind: 'forked', sessionId: chosen }
    case 'unknown-entry':
      return { kind: 'unknown-entry', entries: outcome.tail }
    case 'exists':
      return { kind: 'exists', sessionId: chosen }
    default:
      return outcome
  }
}

/** Readable, sortable by day and unique: `main-20261115-k3j9x2pq7d`. */
function newSessionId(agent: string): SessionId {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  const chance = BigInt(`0x${randomBytes(8).toString('hex')}`).toString(36)
  return sessionId(`${agent.slice(0, 32)}-${day}-${chance}`)
}
