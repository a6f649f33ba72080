import { randomUUID } from 'node:crypto'
import { type SessionId, sessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type {
  AgentSummary,
  Created,
  Idempotent,
  NewSession,
  RouteAddress,
  SessionSummary,
  StartedAfresh,
} from '../../runtime/runtime.ts'
import type { ChatRuntime } from '../conversation.ts'
import type { ServerAnswer, ServerRequests } from './requests.ts'
import { bodyOf, ServerSession } from './server-session.ts'

/** What a chat needs of a runtime, from the process that serves the store. */
export async function openServerRuntime(requests: ServerRequests): Promise<ChatRuntime> {
  const answer = await requests.send({ method: 'GET', path: '/v1/agents' })
  const { agents } = bodyOf<{ agents: readonly AgentSummary[] }>(answer)
  return new ServerRuntime(requests, agents)
}

class ServerRuntime implements ChatRuntime {
  readonly agents: readonly AgentSummary[]
  readonly #requests: ServerRequests

  constructor(requests: ServerRequests, agents: readonly AgentSummary[]) {
    this.#requests = requests
    this.agents = agents
  }

  session(id: SessionId): ServerSession {
    return new ServerSession(id, this.#requests)
  }

  async createSession({ agent, id, route }: NewSession): Promise<Created> {
    const body = {
      agent,
      ...(id !== undefined && { id }),
      ...(route !== undefined && { route }),
    }
    return createdOf(await this.#post(body))
  }

  async startAfresh({
    agent,
    channel,
    address,
    key,
  }: RouteAddress & Idempotent): Promise<StartedAfresh> {
    const route = { channel, address }
    const created = createdOf(await this.#post({ agent, route, afresh: true }, key))
    if (created.kind === 'unknown-agent') return created
    return { kind: 'started', sessionId: created.sessionId }
  }

  async listSessions(query: {
    readonly after?: SessionId
    readonly limit: number
  }): Promise<readonly SessionSummary[]> {
    const words = new URLSearchParams({
      limit: `${query.limit}`,
      ...(query.after !== undefined && { after: query.after }),
    })
    const answer = await this.#requests.send({ method: 'GET', path: `/v1/sessions?${words}` })
    return bodyOf<{ sessions: readonly SessionSummary[] }>(answer).sessions
  }

  async #post(body: JsonObject, key?: string): Promise<ServerAnswer> {
    const path = '/v1/sessions'
    return await this.#requests.send({ method: 'POST', path, key: key ?? randomUUID(), body })
  }
}

function createdOf(answer: ServerAnswer): Created {
  const { body } = answer
  const id = () => sessionId(String(body['sessionId']))
  switch (body['code']) {
    case 'session-exists':
      return { kind: 'exists', sessionId: id() }
    case 'route-taken':
      return { kind: 'route-taken', sessionId: id() }
    case 'unknown-agent':
      return { kind: 'unknown-agent', agents: body['agents'] as readonly string[] }
    default:
      bodyOf(answer)
      return { kind: 'created', sessionId: id() }
  }
}
