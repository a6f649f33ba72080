import { useState } from 'preact/hooks'
import type { Activity } from '../../server/src/runtime/activity.ts'
import type { Health as HealthReport, SessionSummary } from '../../server/src/runtime/runtime.ts'
import { mayWrite, seesAll } from '../data/access.ts'
import { hashOf, screen } from '../data/address.ts'
import { call, errorText } from '../data/api.ts'
import { now } from '../data/clock.ts'
import { useDraft } from '../data/keep.ts'
import { createSession } from '../data/new-session.ts'
import { outboxOf } from '../data/outbox.ts'
import { concernsIn, lastDayIn, pastTroubleIn } from '../data/overview.ts'
import { useServerData } from '../data/reading.ts'
import { agents, isListRead, sessions, titleFor, titleOf } from '../data/session-list.ts'
import { Fill } from '../parts/fill.tsx'
import { HoursChart } from '../parts/hours-chart.tsx'
import { Verdict } from '../parts/verdict.tsx'
import { activityOf, activityWords, ago, count, isBusy, percent, span } from '../parts/words.ts'

/** The first screen: a form for a new session, and the sessions that need a look. */
const ROWS_MAX = 5
const REREAD_MS = 30_000

export function Home() {
  const all = sessions.value
  const isStarter = seesAll() && mayWrite()
  const busy = all.filter((each) => isBusy(each))
  const failed = all.filter((each) => activityOf(each) === 'failed')
  const waiting = all.reduce((sum, each) => sum + each.waiting, 0)
  const share = ({ contextTokens, windowTokens }: SessionSummary) =>
    percent(contextTokens, windowTokens)
  const fullest = topOf(all, share)
  const compacted = topOf(all, ({ compactedAt }) => compactedAt ?? 0)
  return (
    <section class="home">
      {isStarter ? (
        <>
          <h1>Talk to your agent</h1>
          <Start />
        </>
      ) : (
        <h1>Sessions</h1>
      )}
      {all.length > 0 && (
        <>
          {seesAll() && <LastDay />}
          <p class="figures">
            <Figure value={all.length} words="sessions" />
            <Figure value={busy.length} words="running" />
            <Figure value={waiting} words="messages queued" />
            {failed.length > 0 && <Figure value={failed.length} words="failed" />}
          </p>
          <div class="cards">
            <Card
              title="Running now"
              none="No session is running."
              sessions={busy.slice(0, ROWS_MAX)}
            >
              {(session) => <span class="dim">{activityWords(session)}</span>}
            </Card>
            {failed.length > 0 && (
              <Card title="Last turn failed" none="" sessions={failed.slice(0, ROWS_MAX)}>
                {({ activeAt }) => <span class="refused">{ago(activeAt)}</span>}
              </Card>
            )}
            <Card title="Fullest contexts" none="" sessions={fullest}>
              {(session) => (
                <span class="row-fill">
                  <Fill used={session.contextTokens} window={session.windowTokens} />
                  <span class="dim">{share(session)}%</span>
                </span>
              )}
            </Card>
            <Card title="Recently compacted" none="No session is compacted." sessions={compacted}>
              {({ compactedAt }) => <span class="dim">{ago(compactedAt ?? 0)}</span>}
            </Card>
          </div>
        </>
      )}
      {all.length === 0 && isListRead.value && (
        <p class="dim">
          No sessions yet. {isStarter && 'Write a message to start one.'} Sessions are kept
          permanently, and the list shows how full each context is.
        </p>
      )}
      <p class="dim keys">
        <kbd>/</kbd> searches all conversations, <kbd>↑</kbd> <kbd>↓</kbd> move through the list.
      </p>
    </section>
  )
}

/** Whether all is well, what happened in the last 24 hours and what it cost. */
function LastDay() {
  const interval = Math.floor(now.value / REREAD_MS)
  const { value: health } = useServerData(
    (signal) => call<HealthReport>('/v1/health', { signal }),
    [interval],
  )
  const { value: activity } = useServerData(
    (signal) => call<Activity>('/v1/activity', { signal }),
    [interval],
  )
  return (
    <div class="last-day">
      {health !== null && (
        <Verdict
          concerns={concernsIn(health, null, sessions.value, now.value)}
          past={pastTroubleIn(health, sessions.value, now.value)}
        />
      )}
      {activity !== null && (
        <section class="card" aria-label="The last 24 hours">
          <p>{lastDayIn(activity, sessions.value).join(' ')}</p>
          <HoursChart hours={activity.hours} />
          <SlowTurns turns={activity.slowest} />
        </section>
      )}
    </div>
  )
}

function SlowTurns({ turns }: { readonly turns: Activity['slowest'] }) {
  if (turns.length === 0) return null
  return (
    <>
      <h2>Slowest turns</h2>
      <ul class="plain">
        {turns.map(({ sessionId, turn, entry, endedAt, durationMs }) => (
          <li class="item">
            <a class="item-name" href={hashOf(sessionId, 'conversation', entry)}>
              {titleOf(sessionId)}
            </a>
            <span class="dim">
              turn {turn} took {span(durationMs)}, {ago(endedAt)}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

function topOf(
  all: readonly SessionSummary[],
  figure: (session: SessionSummary) => number,
): readonly SessionSummary[] {
  return all
    .filter((session) => figure(session) > 0)
    .sort((a, b) => figure(b) - figure(a))
    .slice(0, ROWS_MAX)
}

function Figure({ value, words }: { readonly value: number; readonly words: string }) {
  return (
    <span>
      <b>{count(value)}</b> {words}
    </span>
  )
}

/**
 * The text becomes the first message; if it is empty, the session just opens. While the server is away,
 * the form waits for it.
 */
function Start() {
  const [agent, setAgent] = useState('')
  const [text, setText] = useDraft('')
  // Input in the meantime would be lost, or start a second session.
  const [isStarting, setStarting] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const chosen = agent || (agents.value[0]?.name ?? '')
  const start = async (event: Event) => {
    event.preventDefault()
    if (isStarting) return
    setStarting(true)
    try {
      const id = await createSession(chosen, () =>
        setProblem('Cannot reach the server right now. The session starts when it is back.'),
      )
      if (text.trim() !== '') outboxOf(id).add(text)
      setText('')
      if (screen.value.kind === 'home') location.hash = hashOf(id)
    } catch (error) {
      setProblem(errorText(error))
      setStarting(false)
    }
  }
  return (
    <form onSubmit={start} class="start">
      <textarea
        aria-label="First message"
        disabled={isStarting}
        placeholder="Write your first message"
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
              {titleFor(session)}
            </a>
            {children(session)}
          </li>
        ))}
      </ul>
    </section>
  )
}
