import { randomUUID } from 'node:crypto'
import type { SessionId } from '#core/base/ids'
import type { CommandedSession } from '../gateway/chat/commands.ts'
import { UsageError } from '../host/errors.ts'
import type { RouteAddress, Runtime, Session } from '../runtime/runtime.ts'
import { COMMAND_SOURCE } from './admission.ts'

/** What a chat needs of a session: one that this process runs, or one of a server. */
export type ChatSession = CommandedSession &
  Pick<Session, 'id' | 'admit' | 'reply' | 'transcript' | 'events'>

export interface ChatRuntime
  extends Pick<Runtime, 'agents' | 'createSession' | 'startAfresh' | 'listSessions'> {
  session(id: SessionId): ChatSession
}

/** The session of a terminal: the one that its route points to, or a named one. */
export interface TerminalConversation {
  readonly agent: string
  readonly session: ChatSession
  /** `/new`: moves to another session; the old one keeps its mail and answers it. */
  startAfresh(): Promise<TerminalConversation>
}

const ROUTE = { channel: 'terminal', address: 'main' }

export async function openConversation(
  runtime: ChatRuntime,
  wanted: { readonly agent?: string; readonly sessionId?: SessionId },
): Promise<TerminalConversation> {
  if (wanted.sessionId !== undefined) return await openNamed(runtime, wanted.sessionId, wanted)
  const agent = wanted.agent ?? runtime.agents[0]?.name ?? ''
  const address = { agent, ...ROUTE }
  const created = await runtime.createSession({ agent, route: ROUTE })
  if (created.kind === 'unknown-agent') throw unknownAgent(agent, created.agents)
  const summary = await runtime.session(created.sessionId).summary()
  if (summary === undefined || summary.state === 'gone') return await afresh(runtime, address)
  return routed(runtime, address, summary.id)
}

async function openNamed(
  runtime: ChatRuntime,
  id: SessionId,
  { agent }: { readonly agent?: string },
): Promise<TerminalConversation> {
  const summary = await runtime.session(id).summary()
  if (summary === undefined) {
    if (agent === undefined) {
      throw new UsageError(`There is no session ${id}; --agent NAME creates it.`)
    }
    const created = await runtime.createSession({ agent, id })
    if (created.kind === 'unknown-agent') throw unknownAgent(agent, created.agents)
    return await openNamed(runtime, id, {})
  }
  if (summary.state === 'gone') {
    throw new UsageError(`Session ${id} was purged; its id is never used again.`)
  }
  const isServed = runtime.agents.some(({ name }) => name === summary.agent)
  if (!isServed) {
    throw unknownAgent(
      summary.agent,
      runtime.agents.map(({ name }) => name),
    )
  }
  return routed(runtime, { agent: summary.agent, ...ROUTE }, id)
}

function routed(runtime: ChatRuntime, address: RouteAddress, id: SessionId): TerminalConversation {
  return {
    agent: address.agent,
    session: runtime.session(id),
    startAfresh: () => afresh(runtime, address),
  }
}

async function afresh(runtime: ChatRuntime, address: RouteAddress): Promise<TerminalConversation> {
  const once = { source: COMMAND_SOURCE, key: randomUUID() }
  const started = await runtime.startAfresh({ ...address, ...once })
  if (started.kind === 'unknown-agent') throw unknownAgent(address.agent, started.agents)
  return routed(runtime, address, started.sessionId)
}

function unknownAgent(agent: string, known: readonly string[]): UsageError {
  return new UsageError(`There is no agent ${agent}. Configured: ${known.join(', ') || 'none'}.`)
}
