import { useState } from 'preact/hooks'
import { hashOf } from '../data/address.ts'
import { call, wordsOf } from '../data/api.ts'
import { agents, isListRead, sessions } from '../data/session-list.ts'
import { activityOf, count } from '../parts/words.ts'

/** The first thing a newcomer sees: what there is, and a way to begin. */
export function Home() {
  const [agent, setAgent] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const chosen = agent || (agents.value[0]?.name ?? '')
  const start = async (event: Event) => {
    event.preventDefault()
    try {
      const body = { agent: chosen }
      const made = await call<{ sessionId: string }>('/v1/sessions', { method: 'POST', body })
      location.hash = hashOf(made.sessionId)
    } catch (error) {
      setProblem(wordsOf(error))
    }
  }
  const all = sessions.value
  const busy = all.filter((each) => !['idle', 'gone'].includes(activityOf(each))).length
  const waiting = all.reduce((sum, each) => sum + each.waiting, 0)
  return (
    <section class="home">
      <h1>{all.length === 0 && isListRead.value ? 'Talk to your agent' : 'Sessions'}</h1>
      <p class="figures">
        <span>
          <b>{count(all.length)}</b> sessions
        </span>
        <span>
          <b>{count(busy)}</b> at work
        </span>
        <span>
          <b>{count(waiting)}</b> messages waiting
        </span>
      </p>
      <form onSubmit={start} class="start">
        <label for="agent">Agent</label>
        <select id="agent" value={chosen} onChange={(event) => setAgent(event.currentTarget.value)}>
          {agents.value.map(({ name, model }) => (
            <option value={name}>
              {name} ({model})
            </option>
          ))}
        </select>
        <button type="submit" class="primary" disabled={chosen === ''}>
          New session
        </button>
      </form>
      {problem !== null && <p role="alert">{problem}</p>}
      <p class="dim">
        Choose a session to see what was said, what its model sees now, and what was compacted.
        Press <kbd>/</kbd> to search everything that was ever said; arrow keys move through the
        list.
      </p>
    </section>
  )
}
