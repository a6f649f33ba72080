import { call, ServerRefusal } from './api.ts'
import { agents, readAgents } from './session-list.ts'

const RETRY_MS = 1_000

/**
 * Creates a session, as soon as the server answers. The page chooses its id, so that a request whose
 * answer was lost can be repeated without making a second session.
 */
export async function createSession(chosen: string, onAway: () => void): Promise<string> {
  let id: string | undefined
  for (;;) {
    try {
      // Enter can come before the list of agents.
      if (chosen === '' && agents.value.length === 0) await readAgents()
      const agent = chosen || (agents.value[0]?.name ?? '')
      id ??= newId(agent)
      await call('/v1/sessions', { method: 'POST', body: { agent, id } })
      return id
    } catch (error) {
      if (id !== undefined && error instanceof ServerRefusal && error.code === 'session-exists')
        return id
      if (error instanceof ServerRefusal) throw error
      onAway()
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Like those that the server chooses. */
function newId(agent: string): string {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  return `${agent.slice(0, 32)}-${day}-${crypto.randomUUID().slice(-12)}`
}
