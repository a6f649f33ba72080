import { computed, signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Found, TranscriptEntry } from '../../src/runtime/runtime.ts'
import { hashOf, place } from '../data/address.ts'
import { call, wordsOf } from '../data/api.ts'
import { agents, isListRead, type Listed, listProblem, sessions } from '../data/session-list.ts'
import { Fill } from '../parts/fill.tsx'
import { StateChip } from '../parts/state-chip.tsx'
import { activityOf, ago, count, percent } from '../parts/words.ts'

/** All sessions: filtered by their names as one types, searched by what was said on Enter. */
const ROW = 66
const OVERSCAN = 6
const SEARCH_LIMIT = 50

const filter = signal('')
const state = signal<'all' | 'busy' | 'waiting'>('all')
const agent = signal('')

const shown = computed(() => {
  const words = filter.value.trim().toLowerCase()
  return sessions.value.filter((session) => {
    const activity = activityOf(session)
    if (state.value === 'busy' && (activity === 'idle' || activity === 'gone')) return false
    if (state.value === 'waiting' && session.waiting === 0 && activity !== 'waiting') return false
    if (agent.value !== '' && session.agent !== agent.value) return false
    if (words === '') return true
    return `${session.id} ${session.title ?? ''} ${session.agent}`.toLowerCase().includes(words)
  })
})

export function Sidebar() {
  const [found, setFound] = useState<readonly Found[] | string | null>(null)
  const search = async (event: Event) => {
    event.preventDefault()
    const words = filter.value.trim()
    if (words === '') return setFound(null)
    const query = `q=${encodeURIComponent(words)}&limit=${SEARCH_LIMIT}`
    try {
      setFound((await call<{ found: Found[] }>(`/v1/search?${query}`)).found)
    } catch (error) {
      setFound(wordsOf(error))
    }
  }
  return (
    <nav class="sidebar" aria-label="Sessions">
      {/* biome-ignore lint/a11y/useSemanticElements: <search> is not known to all screen readers yet */}
      <form role="search" onSubmit={search}>
        <input
          id="search"
          type="search"
          placeholder="Filter; Enter searches all that was said"
          aria-label="Filter sessions; Enter searches all conversations"
          value={filter}
          onInput={(event) => {
            filter.value = event.currentTarget.value
            if (filter.value === '') setFound(null)
          }}
        />
        <div class="filters">
          <select
            aria-label="State"
            value={state}
            onChange={(event) => {
              state.value = event.currentTarget.value as typeof state.value
            }}
          >
            <option value="all">All states</option>
            <option value="busy">At work</option>
            <option value="waiting">With mail waiting</option>
          </select>
          <select
            aria-label="Agent"
            value={agent}
            onChange={(event) => {
              agent.value = event.currentTarget.value
            }}
          >
            <option value="">All agents</option>
            {agents.value.map(({ name }) => (
              <option value={name}>{name}</option>
            ))}
          </select>
        </div>
      </form>
      {found === null ? <List /> : <FoundList found={found} onClose={() => setFound(null)} />}
    </nav>
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
  const rows = shown.value
  const first = Math.max(0, Math.floor(top / ROW) - OVERSCAN)
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + OVERSCAN)
  return (
    <>
      <p class="dim list-note" role="status">
        {listProblem.value ??
          `${count(rows.length)} ${rows.length === 1 ? 'session' : 'sessions'}${
            isListRead.value ? '' : ' so far'
          }`}
      </p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the rows inside are links; this moves between them */}
      <div
        class="list"
        ref={box}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={moveFocus}
      >
        <div class="list-inner" style={{ height: `${rows.length * ROW}px` }}>
          {rows.slice(first, last).map((session, index) => (
            <Row key={session.id} session={session} top={(first + index) * ROW} />
          ))}
        </div>
      </div>
    </>
  )
}

/** Arrow keys go from row to row. */
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

function Row({ session, top }: { readonly session: Listed; readonly top: number }) {
  const { id, title, waiting, contextTokens, windowTokens, compaction } = session
  const here = place.value
  const isCurrent = here.kind === 'session' && here.id === id
  return (
    <a
      class="row"
      href={hashOf(id)}
      aria-current={isCurrent ? 'page' : undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span class="row-title">{title ?? id}</span>
      <StateChip summary={session} />
      <span class="row-facts dim">
        {session.agent} · {ago(session.activeAt)}
        {waiting > 0 && <b> · {waiting} in the mailbox</b>}
        {compaction !== null && <span title="Last compaction"> · ⤓ #{compaction}</span>}
      </span>
      <span class="row-fill">
        <Fill used={contextTokens} window={windowTokens} />
        <span class="dim">{percent(contextTokens, windowTokens)}%</span>
      </span>
    </a>
  )
}

const EXCERPT = 160

function FoundList(props: {
  readonly found: readonly Found[] | string
  readonly onClose: () => void
}) {
  const { found, onClose } = props
  return (
    <>
      <p class="dim list-note" role="status">
        {typeof found === 'string' ? found : `${found.length} found`}
        <button type="button" class="quiet" onClick={onClose}>
          Back to the list
        </button>
      </p>
      <div class="list">
        {typeof found !== 'string' &&
          found.map(({ sessionId, entry }) => (
            <a class="found" href={hashOf(sessionId, 'conversation', entry.number)}>
              <b>
                {sessionId} #{entry.number}
              </b>
              <span>{excerpt(entry)}</span>
            </a>
          ))}
      </div>
    </>
  )
}

function excerpt({ message, body }: TranscriptEntry): string {
  const text = JSON.stringify(message === null ? body : 'parts' in message ? message.parts : null)
  const words = [...text.matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, said]) => said)
  return (words.join(' ') || text).slice(0, EXCERPT)
}
