import { useEffect, useState } from 'preact/hooks'
import { hashOf } from '../data/address.ts'
import { followLog, newest } from '../data/event-log.ts'
import type { StoredEvent } from '../data/events.ts'
import { count, exactly, moment } from '../parts/words.ts'

/** Commits, newest first; filtered by kind, session or any detail. */
const ROWS_MAX = 100

export function EventList() {
  const [words, setWords] = useState('')
  useEffect(followLog, [])
  const wanted = words.trim().toLowerCase()
  const found = newest.value.filter((event) => wanted === '' || textOf(event).includes(wanted))
  return (
    <section class="card events" aria-label="Events">
      <div class="card-head">
        <h2>Events</h2>
        <input
          type="search"
          aria-label="Filter events"
          placeholder="Filter by kind, session or detail"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <span class="dim" role="status">
          {count(found.length)} of the last {count(newest.value.length)}
        </span>
      </div>
      {found.length === 0 && <p class="dim">No events yet.</p>}
      <ul class="plain">
        {found.slice(0, ROWS_MAX).map((event) => (
          <li key={event.cursor} class="event">
            <time dateTime={new Date(event.at).toISOString()} title={exactly(event.at)}>
              {moment(event.at)}
            </time>
            <b>{event.kind}</b>
            <a href={hashOf(event.sessionId)}>{event.sessionId}</a>
            <span class="event-facts">{factsOf(event)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function factsOf({ facts }: StoredEvent): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ')
}

function textOf(event: StoredEvent): string {
  return `${event.kind} ${event.sessionId} ${factsOf(event)}`.toLowerCase()
}
