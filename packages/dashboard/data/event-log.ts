import { signal } from '@preact/signals'
import type { Health } from '../../server/src/runtime/runtime.ts'
import { call } from './api.ts'
import { listen, readStored, type StoredEvent } from './events.ts'

/** The newest stored events, newest first; followed once the list was opened. */
export const newest = signal<readonly StoredEvent[]>([])

const KEPT_MAX = 500
const PAST = 200
let isFollowed = false

export function followLog(): void {
  if (isFollowed) return
  isFollowed = true
  listen((event) => {
    if (event.type === 'stored') add([event])
  })
  void readPast().catch(() => {
    // New events are still shown.
  })
}

async function readPast(): Promise<void> {
  const { store } = await call<Pick<Health, 'store'>>('/v1/health')
  add(await readStored(Math.max(0, store.commits - PAST)))
}

function add(events: readonly StoredEvent[]): void {
  const known = new Map(newest.value.map((event) => [event.cursor, event]))
  for (const event of events) known.set(event.cursor, event)
  newest.value = [...known.values()].sort((a, b) => b.cursor - a.cursor).slice(0, KEPT_MAX)
}
