import { signal } from '@preact/signals'
import { noteDate } from './clock.ts'
import { keep, kept } from './keep.ts'

/**
 * The server's HTTP interface. If the server requires a token, this tab alone keeps it and sends it in
 * a header: no cookie that another page could use, and nothing in the address.
 */
const TOKEN = 'throughline-token'
const SAVE_MS = 60_000

/** The server requires a token, or refused the one it got. */
export const isLocked = signal(false)

export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal'
  readonly status: number
  readonly code: string
  /** The whole answer. */
  readonly facts: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    code: string,
    { message, facts = {} }: { message: string; facts?: Readonly<Record<string, unknown>> },
  ) {
    super(message)
    this.status = status
    this.code = code
    this.facts = facts
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

/** Throws ServerRefusal when the server refuses, and the error of fetch when it is unreachable. */
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

/** Saves a file that the server sends. A plain link could not carry the token. */
export async function download(path: string): Promise<void> {
  const response = await fetch(path, { headers: headersWith() })
  if (!response.ok) throw await refusalOf(response)
  const [, name = 'export'] =
    /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), SAVE_MS)
}

export async function refusalOf(response: Response): Promise<ServerRefusal> {
  if (response.status === 401) {
    isLocked.value = true
    keep(TOKEN, null)
  }
  const problem = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const text = (name: string) => (typeof problem[name] === 'string' ? problem[name] : undefined)
  const title = text('title') ?? `The server answered ${response.status}`
  const [wrong] = (problem['errors'] ?? []) as readonly { readonly problem: string }[]
  const more = text('detail') ?? text('reason') ?? wrong?.problem
  const message = more === undefined ? title : `${title}: ${more}`
  return new ServerRefusal(response.status, text('code') ?? 'unknown', { message, facts: problem })
}

/** The message for the user. */
export function errorText(error: unknown): string {
  if (error instanceof ServerRefusal) return error.message.replace(/\.?$/, '.')
  return 'Cannot reach the server right now.'
}

export function sessionPath(id: string, rest = ''): string {
  return `/v1/sessions/${encodeURIComponent(id)}${rest}`
}
