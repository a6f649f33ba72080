import { signal } from '@preact/signals'
import type { RuntimeEvent } from '../../core/src/session/events/runtime-event.ts'
import { ask, isLocked, refusalOf } from './api.ts'
import { Frames } from './frames.ts'
import { doubt } from './proof.ts'

/**
 * One stream of events for the whole page. It uses fetch, since a browser's EventSource cannot send a
 * token. After a break it continues after the last cursor, so no event is missed; provisional text is
 * dropped. A hidden page closes its connection after a while.
 */
export type Connection = 'opening' | 'open' | 'lost' | 'paused'
export const connection = signal<Connection>('opening')

const RETRY_MS = [250, 500, 1_000, 2_000, 4_000] as const
const HIDDEN_MS = 30_000
/** The server sends at least a keep-alive every 15 s. */
const SILENCE_MS = 45_000

export type StoredEvent = RuntimeEvent & { readonly type: 'stored' }
type Listener = (event: RuntimeEvent | { readonly type: 'broken' }) => void
const listeners = new Set<Listener>()

export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

let cursor: string | undefined
let store: string | undefined
let current: AbortController | undefined
let failures = 0
let timer: ReturnType<typeof setTimeout> | undefined

export function startEvents(): void {
  connect()
  // An old connection may look alive for long; a hidden page stays paused.
  addEventListener('online', () => {
    if (connection.value !== 'paused') connect()
  })
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (!document.hidden) {
      if (connection.value !== 'open') connect()
    } else if (connection.value === 'open') {
      timer = setTimeout(() => {
        connection.value = 'paused'
        current?.abort()
        publish({ type: 'broken' })
      }, HIDDEN_MS)
    }
  })
}

function connect(): void {
  clearTimeout(timer)
  current?.abort()
  doubt()
  const controller = new AbortController()
  current = controller
  void read(controller)
    .catch(() => {})
    .then(() => {
      if (current !== controller) return
      doubt()
      if (connection.value === 'paused') return
      connection.value = 'lost'
      publish({ type: 'broken' })
      if (isLocked.value) return
      timer = setTimeout(connect, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)])
      failures++
    })
}

async function read(controller: AbortController): Promise<void> {
  const { signal } = controller
  const more: HeadersInit = cursor === undefined ? {} : { 'last-event-id': cursor }
  const response = await ask('/v1/events', { headers: more, signal })
  await readFrames(response, controller, (event, id) => {
    if (event.type === 'caught-up') {
      const isOther = store !== undefined && store !== event.store
      // Another store, or an older copy of this one: everything on the screen is out of date.
      if (isOther || event.cursor < Number(cursor ?? 0)) return location.reload()
      store = event.store
      connection.value = 'open'
      failures = 0
    }
    if (id !== undefined) cursor = id
    publish(event)
  })
}

/** The stored events after a cursor, up to now. */
export async function readStored(after: number): Promise<readonly StoredEvent[]> {
  const controller = new AbortController()
  const { signal } = controller
  const response = await ask(`/v1/events?after=${after}`, { signal })
  const found: StoredEvent[] = []
  await readFrames(response, controller, (event) => {
    if (event.type === 'stored') found.push(event)
    else if (event.type === 'caught-up') controller.abort()
  }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  return found
}

async function readFrames(
  response: Response,
  controller: AbortController,
  take: (event: RuntimeEvent, id: string | undefined) => void,
): Promise<void> {
  if (!response.ok || response.body === null) throw await refusalOf(response)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const frames = new Frames()
  for (;;) {
    const silence = setTimeout(() => controller.abort(), SILENCE_MS)
    const { done, value } = await reader.read().finally(() => clearTimeout(silence))
    if (done) return
    for (const { event, id } of frames.take(value)) take(event, id)
  }
}

function publish(event: Parameters<Listener>[0]): void {
  for (const listener of listeners) listener(event)
}
