import { signal } from '@preact/signals'
import { noteDate } from './clock.ts'
import { keep, kept } from './keep.ts'

/**
 * The server's HTTP interface. A token, where the server wants one, is kept for this tab only and
 * travels in a header: there is no cookie that another page could make use of, and nothing in the
 * address.
 */
const TOKEN = 'throughline-token'

/** The server wants a token, or another one. */
export const isLocked = signal(false)

export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export function keepToken(text: string): void {
  keep(TOKEN, text)
}

export function headersWith(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const token = kept(TOKEN)
  return { ...more, ...(token !== null && { authorization: `Bearer ${token}` }) }
}

interface Request {
  readonly method?: 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
  readonly key?: string
  readonly signal?: AbortSignal
}

/** Throws ServerRefusal for what the server refuses, and whatever fetch throws where there is none. */
export async function call<Answer>(path: string, request: Request = {}): Promise<Answer> {
  const { method, body, key, signal } = request
  const response = await fetch(path, {
    ...(method !== undefined && { method }),
    ...(signal !== undefined && { signal }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: headersWith({
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }),
  })
  noteDate(response.headers.get('date'))
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as Answer
  throw await refusalOf(response)
}

export async function refusalOf(response: Response): Promise<ServerRefusal> {
  if (response.status === 401) isLocked.value = true
  const said = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const text = (name: string) => (typeof said[name] === 'string' ? said[name] : undefined)
  const title = text('title') ?? `The server answered ${response.status}`
  const more = text('detail') ?? text('reason')
  const message = more === undefined ? title : `${title}: ${more}`
  return new ServerRefusal(response.status, text('code') ?? 'unknown', message)
}

/** What to tell a person. */
export function wordsOf(error: unknown): string {
  if (error instanceof ServerRefusal) return `${error.message}.`
  return 'The server cannot be reached right now.'
}

export function sessionPath(id: string, rest = ''): string {
  return `/v1/sessions/${encodeURIComponent(id)}${rest}`
}
