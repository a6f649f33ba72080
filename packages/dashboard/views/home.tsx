import { useState } from 'preact/hooks'
import type { SessionSummary } from '../../server/src/runtime/runtime.ts'
import { hashOf } from '../data/address.ts'
import { call, wordsOf } from '../data/api.ts'
import { leaveFor } from '../data/outbox.ts'
import { agents, isListRead, readAgents, sessions } from '../data/session-list.ts'
import { Fill } from '../parts/fill.tsx'
import { activityOf, activityWords, ago, count, percent } from '../parts/words.ts'

/** The first thing one sees: a way to begin, and what is worth a look now. */
const SHOWN = 5

export function Home() {
  const all = sessions.value
  const busy = all.filter((each) => !['idle', 'gone'].includes(activityOf(each)))
  const waiting = all.reduce((sum, each) => sum + each.waiting, 0)
  const share = ({ contextTokens, windowTokens }: SessionSummary) =>
    percent(contextTokens, windowTokens)
  const fullest = topOf(all, share)
  const compacted = topOf(all, ({ compactedAt }) => compactedAt ?? 0)
  return (
    <section class="home">
      <h1>Talk to your agent</h1>
      <Start />
      {all.length > 0 && (
        <>
          <p class="figures">
            <Figure value={all.length} words="sessions" />
            <Figure value={busy.length} words="at work" />
            <Figure value={waiting} words="messages waiting" />
          </p>
          <div class="cards">
            <Card title="At work now" none="Nobody is at work." sessions={busy.slice(0, SHOWN)}>
              {(session) => <span class="dim">{activityWords(session)}</span>}
            </Card>
            <Card title="Fullest contexts" none="" sessions={fullest}>
              {(session) => (
                <span class="row-fill">
                  <Fill used={session.contextTokens} window={session.windowTokens} />
                  <span class="dim">{share(session)}%</span>
                </span>
              )}
            </Card>
            <Card title="Compacted last" none="Nothing was compacted yet." sessions={compacted}>
              {({ compactedAt }) => <span class="dim">{ago(compactedAt ?? 0)}</span>}
            </Card>
          </div>
        </>
      )}
      {all.length === 0 && isListRead.value && (
        <p class="dim">
          There is no session yet. What you write here begins one; it is kept for good, and you see
          its context fill beside it.
        </p>
      )}
      <p class="dim keys">
        <kbd>/</kbd> searches everything that was ever said, <kbd>↑</kbd> <kbd>↓</kbd> move through
        the list.
      </p>
    </section>
  )
}

function topOf(
  all: readonly SessionSummary[],
  figure: (session: SessionSummary) => number,
): readonly SessionSummary[] {
  return all
    .filter((session) => figure(session) > 0)
    .sort((a, b) => figure(b) - figure(a))
    .slice(0, SHOWN)
}

function Figure({ value, words }: { readonly value: number; readonly words: string }) {
  return (
    <span>
      <b>{count(value)}</b> {words}
    </span>
  )
}

/** What is written here becomes the first message; left empty, the session just opens. */
function Start() {
  const [agent, setAgent] = useState('')
  const [text, setText] = useState('')
  // What is written or pressed meanwhile would be lost, or begin a second session.
  const [isStarting, setStarting] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const chosen = agent || (agents.value[0]?.name ?? '')
  const start = async (event: Event) => {
    event.preventDefault()
    if (isStarting) return
    setStarting(true)
    try {
      // Enter can come before the list of agents.
      if (chosen === '') await readAgents()
      const body = { agent: chosen || (agents.value[0]?.name ?? '') }
      const made = await call<{ sessionId: string }>('/v1/sessions', { method: 'POST', body })
      if (text.trim() !== '') leaveFor(made.sessionId, text)
      location.hash = hashOf(made.sessionId)
    } catch (error) {
      setProblem(wordsOf(error))
      setStarting(false)
    }
  }
  return (
    <form onSubmit={start} class="start">
      <textarea
        aria-label="First message"
        disabled={isStarting}
        placeholder="What is it about?"
        rows={3}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void start(event)
        }}
      />
      <div class="start-with">
        <label for="agent">Agent</label>
        <select id="agent" value={chosen} onChange={(event) => setAgent(event.currentTarget.value)}>
          {agents.value.map(({ name, model }) => (
            <option value={name}>
              {name} ({model})
            </option>
          ))}
        </select>
        <button type="submit" class="primary" disabled={chosen === '' || isStarting}>
          New session
        </button>
      </div>
      {problem !== null && <p role="alert">{problem}</p>}
    </form>
  )
}

function Card(props: {
  readonly title: string
  readonly none: string
  readonly sessions: readonly SessionSummary[]
  readonly children: (session: SessionSummary) => preact.JSX.Element
}) {
  const { title, none, sessions: listed, children } = props
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {listed.length === 0 && <p class="dim">{none}</p>}
      <ul class="plain">
        {listed.map((session) => (
          <li class="item">
            <a class="item-name" href={hashOf(session.id)}>
              {session.title ?? session.id}
            </a>
            {children(session)}
          </li>
        ))}
      </ul>
    </section>
  )
}
