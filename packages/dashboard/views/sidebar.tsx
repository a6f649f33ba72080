import { computed, signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Found, FoundEntries, SessionSummary } from '../../server/src/runtime/runtime.ts'
import { hashOf, screen } from '../data/address.ts'
import { call, errorText } from '../data/api.ts'
import { listen } from '../data/events.ts'
import {
  agents,
  deletedSessions,
  isListRead,
  listProblem,
  sessions,
  titleFor,
} from '../data/session-list.ts'
import { Fill } from '../parts/fill.tsx'
import { Hits } from '../parts/hits.tsx'
import { StateChip } from '../parts/state-chip.tsx'
import { activityOf, ago, count, isBusy, percent } from '../parts/words.ts'
import { SearchFilters, searchPath } from './search-filters.tsx'

/** The sessions. Typing filters them by name; Enter searches the conversations. */
const ROW = 78
const OVERSCAN = 6
const ERASURES: readonly string[] = ['session deleted', 'entries erased']
/** Selects the sessions without a channel. */
const NO_CHANNEL = '-'

const filter = signal('')
const state = signal('')
const agent = signal('')
const channel = signal('')

const STATES: readonly (readonly [string, string])[] = [
  ['', 'State'],
  ['busy', 'Running'],
  ['turn', 'In a turn'],
  ['preparing', 'Compacting'],
  ['waiting', 'Waiting for a model or compaction'],
  ['paused', 'Paused at a limit'],
  ['failed', 'Last turn failed'],
  ['mail', 'With queued messages'],
  ['idle', 'Idle'],
  ['left', 'Left'],
  ['gone', 'Deleted'],
]

function isInState(session: SessionSummary, wanted: string): boolean {
  const activity = activityOf(session)
  switch (wanted) {
    case '':
      return true
    case 'busy':
      return isBusy(session)
    case 'preparing':
      return session.isCompacting
    case 'mail':
      return session.waiting > 0
    default:
      return activity === wanted
  }
}

const channels = computed(() =>
  [...new Set(sessions.value.flatMap((each) => each.channels))].sort(),
)

const filtered = computed(() => {
  const words = filter.value.trim().toLowerCase()
  const wanted = state.value === 'gone' ? deletedSessions : sessions
  return wanted.value.filter((session) => {
    if (!isInState(session, state.value)) return false
    if (agent.value !== '' && session.agent !== agent.value) return false
    if (channel.value === NO_CHANNEL && session.channels.length > 0) return false
    if (channel.value !== '' && channel.value !== NO_CHANNEL) {
      if (!session.channels.includes(channel.value)) return false
    }
    if (words === '') return true
    const { id, channels: channelNames } = session
    return `${id} ${titleFor(session)} ${session.agent} ${channelNames}`
      .toLowerCase()
      .includes(words)
  })
})

export function Sidebar() {
  const [found, setFound] = useState<readonly Found[] | string | null>(null)
  const [note, setNote] = useState('')
  // What was found repeats text that may be erased while it is on the screen.
  useEffect(
    () =>
      listen((event) => {
        if (event.type !== 'stored' || !ERASURES.includes(event.kind)) return
        setFound((old) =>
          Array.isArray(old) ? old.filter(({ sessionId }) => sessionId !== event.sessionId) : old,
        )
      }),
    [],
  )
  const search = async (event: Event) => {
    event.preventDefault()
    const words = filter.value.trim()
    if (words === '') return setFound(null)
    setFound('Searching…')
    try {
      const answer = await call<FoundEntries>(searchPath(words, agent.value))
      setFound(answer.found)
      setNote(answer.note ?? '')
    } catch (error) {
      setFound(errorText(error))
    }
  }
  const agentNames = agents.value.map(({ name }) => [name, name] as const)
  const channelNames = channels.value.map((name) => [name, name] as const)
  return (
    <nav class="sidebar" aria-label="Sessions">
      {/* biome-ignore lint/a11y/useSemanticElements: <search> is not known to all screen readers yet */}
      <form role="search" onSubmit={search}>
        <input
          id="search"
          type="search"
          placeholder="Filter, or Enter to search"
          title="Filters the list; Enter searches all conversations"
          aria-label="Filter sessions; Enter searches all conversations"
          value={filter}
          onInput={(event) => {
            filter.value = event.currentTarget.value
            if (filter.value === '') setFound(null)
          }}
        />
        <div class="filters">
          <Choice label="State" value={state} options={STATES} />
          <Choice label="Agent" value={agent} options={[['', 'Agent'], ...agentNames]} />
          <Choice
            label="Channel"
            value={channel}
            options={[['', 'Channel'], ...channelNames, [NO_CHANNEL, 'No channel']]}
          />
        </div>
        <SearchFilters />
      </form>
      {found === null ? (
        <List />
      ) : (
        <>
          <p class="dim list-note" role="status">
            {typeof found === 'string' ? found : `${found.length} found`}
            <button type="button" class="quiet" onClick={() => setFound(null)}>
              Back to the list
            </button>
          </p>
          {typeof found !== 'string' && note !== '' && <p class="dim list-note">{note}</p>}
          <Hits found={typeof found === 'string' ? [] : found} />
        </>
      )}
    </nav>
  )
}

function Choice(props: {
  readonly label: string
  readonly value: typeof state
  readonly options: readonly (readonly [string, string])[]
}) {
  const { label, value, options } = props
  return (
    <select
      aria-label={label}
      class={value.value === '' ? '' : 'set'}
      value={value}
      onChange={(event) => {
        value.value = event.currentTarget.value
      }}
    >
      {options.map(([name, words]) => (
        <option value={name}>{words}</option>
      ))}
    </select>
  )
}

function List() {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(800)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setHeight(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const rows = filtered.value
  const isFiltered = state.value === 'gone' || rows.length < sessions.value.length
  const first = Math.max(0, Math.floor(top / ROW) - OVERSCAN)
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + OVERSCAN)
  const known = `${count(rows.length)} ${rows.length === 1 ? 'session' : 'sessions'}`
  return (
    <>
      <p class="dim list-note" role="status">
        {listProblem.value ?? `${known}${isListRead.value ? '' : ' so far'}`}
        {isFiltered && (
          <button type="button" class="quiet" onClick={showAll}>
            Show all
          </button>
        )}
      </p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the rows inside are links; this moves between them */}
      <div
        class="list"
        ref={box}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={moveFocus}
      >
        {rows.length === 0 && isListRead.value && (
          <p class="dim empty">{isFiltered ? 'No session matches.' : 'No sessions yet.'}</p>
        )}
        <div class="list-inner" style={{ height: `${rows.length * ROW}px` }}>
          {rows.slice(first, last).map((session, index) => (
            <Row key={session.id} session={session} top={(first + index) * ROW} />
          ))}
        </div>
      </div>
    </>
  )
}

function showAll() {
  for (const each of [filter, state, agent, channel]) each.value = ''
}

/** Arrow keys move from row to row. */
function moveFocus(event: KeyboardEvent) {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  const rows = [...document.querySelectorAll<HTMLElement>('.list .row')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = rows[at + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

function Row({ session, top }: { readonly session: SessionSummary; readonly top: number }) {
  const { id, waiting, contextTokens, windowTokens, compactedAt } = session
  const here = screen.value
  const isCurrent = here.kind === 'session' && here.id === id
  return (
    <a
      class="row"
      href={hashOf(id)}
      aria-current={isCurrent ? 'page' : undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span class="row-title">{titleFor(session)}</span>
      <StateChip summary={session} />
      <span class="row-facts dim">{[session.agent, ...session.channels].join(' · ')}</span>
      <span class="row-fill">
        <Fill used={contextTokens} window={windowTokens} />
        <span class="dim">{percent(contextTokens, windowTokens)}%</span>
      </span>
      <span class="row-facts dim">
        {waiting > 0 && <b>{waiting} queued · </b>}
        {ago(session.activeAt)}
        {compactedAt !== null && ` · compacted ${ago(compactedAt)}`}
      </span>
    </a>
  )
}
