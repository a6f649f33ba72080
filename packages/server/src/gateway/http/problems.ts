import { KnownError } from '#core/base/errors'
import type { JsonObject } from '#core/base/json'

/**
 * The only table of HTTP statuses. Every error is sent as problem details (RFC 9457) with a code of
 * this table; the status of a code never changes. Responses never repeat values of the request, and
 * internal errors reveal only their code.
 */
export const PROBLEMS = {
  'bad-request': [400, 'The request cannot be read'],
  'bad-json': [400, 'The body is not acceptable JSON'],
  invalid: [400, 'The request does not have the form of this route'],
  unauthorized: [401, 'A valid token is needed'],
  'bad-signature': [401, 'The signature is wrong, too old, or of no known hook'],
  forbidden: [403, 'The token does not allow this'],
  'wrong-address': [403, 'Open the page at the address that the server prints'],
  'origin-refused': [403, 'Requests from pages of another origin are refused'],
  'unknown-path': [404, 'There is no such route'],
  'unknown-session': [404, 'There is no such session'],
  'unknown-mail': [404, 'There is no such item in the mailbox'],
  'unknown-entry': [404, 'There is no such step'],
  'unknown-compaction': [404, 'There is no compaction at this entry'],
  'unknown-blob': [404, 'There is no such image or file'],
  'unknown-note': [404, 'The session shows no such note'],
  'unknown-reminder': [404, 'The session waits for no such reminder'],
  'method-not-allowed': [405, 'This route does not take that method'],
  timeout: [408, 'The request took too long to arrive'],
  'session-exists': [409, 'A session with this id exists'],
  'route-taken': [409, 'The route points to another session'],
  'has-forks': [409, 'Forks read this session'],
  'key-conflict': [409, 'This Idempotency-Key was used for another request'],
  'not-pending': [409, 'The message is no longer queued'],
  'turned-down': [409, 'The session refused the request; nothing was changed'],
  snapshot: [409, 'A snapshot is read-only: only its transcript, context and files can be read'],
  'changed-preview': [409, 'This is not a preview of this session as it was made; make a new one'],
  'not-in-effect': [409, 'This is not the newest compaction in effect'],
  gone: [410, 'The session was deleted'],
  'too-large': [413, 'The body is too large'],
  'media-type': [415, 'The body must be application/json'],
  'host-refused': [421, 'This host name is not served here'],
  'unknown-agent': [422, 'There is no such agent'],
  'no-preview': [422, 'A preview could not be made'],
  'rate-limited': [429, 'Too many requests'],
  'mailbox-full': [429, 'The mailbox is full; the message was not accepted'],
  'too-many-streams': [429, 'Too many event streams are open'],
  'headers-too-large': [431, 'The headers are too large'],
  internal: [500, 'Something went wrong here'],
  'store-damaged': [500, 'The stored data is damaged; nothing was accepted or changed'],
  'too-many-connections': [503, 'Too many connections are open'],
  unavailable: [503, 'This cannot be done right now; try again'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof PROBLEMS

/** Default `Retry-After` of 429 and 503 problems. */
const RETRY_LATER = { 'retry-after': '5' }
const LATER: readonly number[] = [429, 503]

export class HttpProblem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  /** Details for people beyond the title; never a value that the client sent. */
  readonly detail: string | undefined
  readonly facts: JsonObject
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ProblemCode,
    more: { detail?: string; facts?: JsonObject; headers?: Record<string, string> } = {},
  ) {
    super(PROBLEMS[code][1])
    this.code = code
    this.detail = more.detail
    this.facts = more.facts ?? {}
    this.headers = { ...(LATER.includes(this.status) && RETRY_LATER), ...more.headers }
  }

  get status(): number {
    return PROBLEMS[this.code][0]
  }

  get body(): JsonObject {
    const [status, title] = PROBLEMS[this.code]
    return {
      ...this.facts,
      type: `urn:throughline:problem:${this.code}`,
      code: this.code,
      status,
      title,
      ...(this.detail !== undefined && { detail: this.detail }),
    }
  }
}

/** Operating errors caused by the request itself. All others mean "try again later". */
const OF_THE_REQUEST: Readonly<Record<string, ProblemCode>> = {
  'invalid-id': 'invalid',
  'invalid-body': 'invalid',
  'invalid-request': 'invalid',
  'unknown-session': 'unknown-session',
  'changed-preview': 'changed-preview',
}

/** Without `Retry-After`: a retry fails until the store is repaired. */
const DAMAGE: ReadonlySet<string> = new Set(['damaged-row', 'store-damaged'])

export function toHttpProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (!(error instanceof KnownError)) return new HttpProblem('internal')
  if (DAMAGE.has(error.code))
    return new HttpProblem('store-damaged', { facts: { cause: error.code } })
  const code = OF_THE_REQUEST[error.code]
  if (code !== undefined) return new HttpProblem(code, { facts: { cause: error.code } })
  return new HttpProblem('unavailable', {
    facts: { cause: error.code },
    headers: { 'retry-after': '1' },
  })
}
