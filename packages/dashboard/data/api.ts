import { signal } from '@preact/signals'
import { noteDate } from './clock.ts'
import { credential, doubt, keepToken, UnknownTokenError } from './proof.ts'

/**
 * The server's HTTP interface. If the server requires a token, the page shows in a header that it has
 * it: no cookie that another page could use, and nothing in the address.
 */
const SAVE_MS = 60_000
const PROOF_MS_MAX = 10_000

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

/** As `fetch`, for a caller with the token of this tab. */
export async function ask(path: string, init: RequestInit = {}, isLast = false): Promise<Response> {
  const held = await credential(readProof).catch((error: unknown) => {
    if (error instanceof UnknownTokenError) lock()
    throw error
  })
  const authorization = held === null ? {} : { authorization: `Bearer ${held}` }
  const headers = { ...init.headers, ...authorization }
  const response = await fetch(path, { ...init, headers }).catch((error: unknown) => {
    doubt()
    throw error
  })
  if (response.status !== 401 || held === null || isLast) return response
  // Perhaps another process of the server answers by now; it proves itself first.
  doubt()
  return await ask(path, init, true)
}

async function readProof(path: string) {
  const response = await fetch(path, { signal: AbortSignal.timeout(PROOF_MS_MAX) })
  if (!response.ok) throw await refusalOf(response)
  return await response.json()
}

function lock(): void {
  isLocked.value = true
  keepToken(null)
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
  const response = await ask(path, {
    ...(method !== undefined && { method }),
    ...(signal !== undefined && { signal }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  })
  noteDate(response.headers.get('date'))
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as Answer
  throw await refusalOf(response)
}

/** Saves a file that the server sends. A plain link could not carry the token. */
export async function download(path: string): Promise<void> {
  const response = await ask(path)
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
  if (response.status === 401) lock()
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
  if (error instanceof UnknownTokenError) {
    return 'The server does not accept this token. It was not sent.'
  }
  if (error instanceof ServerRefusal) return error.message.replace(/\.?$/, '.')
  return 'Cannot reach the server right now.'
}

export function sessionPath(id: string, rest = ''): string {
  return `/v1/sessions/${encodeURIComponent(id)}${rest}`
}
