import { findOverflow, isOverflowFinish } from '#core/message/dialects/overflow'
import {
  isReportedError,
  type ReportedError,
  reportedErrorOf,
} from '#core/message/dialects/provider-error'
import { REQUEST_ID, type WireRecord } from '../calls/exchange.ts'
import { judgeConnection } from './connection-fault.ts'
import {
  type FinishReason,
  HEALING,
  type MalformedReason,
  type Outcome,
  type ProviderRefusal,
} from './outcome.ts'
import { providerWords } from './provider-words.ts'

/**
 * Reduces all facts of a call to one outcome. The order matters: our own abort comes before the
 * error that it caused, a refusal before the broken connection that followed it, a broken
 * connection before the provider package's view of the partial answer, and an overflow before
 * anything that a retry seems able to fix.
 */
export interface CallEvidence {
  readonly wire: WireRecord
  /**
   * Errors that the provider sent in the stream, or that its package made from the first events.
   */
  readonly complaint?: ReportedError
  /** A malformed part of the answer, noticed while reading it. */
  readonly fault?: MalformedReason
  readonly end?: { readonly finish: FinishReason | 'broken'; readonly raw?: string }
  /** The key that was sent, which some providers repeat. */
  readonly key?: string
  /** For the header Retry-After, which may be a date. */
  readonly nowMs: number
}

export function judgeCall(evidence: CallEvidence): Outcome {
  const { wire, complaint, fault, end } = evidence
  switch (wire.abortedBy) {
    case 'interrupt':
    case 'consumer':
      return { kind: 'interrupted' }
    case 'connect':
    case 'first-byte':
    case 'idle':
    case 'total':
      return { kind: 'deadline', deadline: wire.abortedBy }
    case 'too-large':
    case 'compressed':
      return { kind: 'malformed', what: wire.abortedBy }
    case 'enough':
    case undefined:
      break
    default:
      wire.abortedBy satisfies never
  }
  if (wire.text !== undefined) return judgeDocument(wire.text, evidence)
  if (complaint !== undefined) return judgeComplaint(complaint, evidence)
  if (wire.error !== undefined) return judgeConnection(wire.error, wire)
  if (wire.wasSent !== true) return { kind: 'malformed', what: 'not-sent' }
  if (isForAnother(wire)) return { kind: 'malformed', what: 'other-request' }
  if (fault !== undefined) return { kind: 'malformed', what: fault }
  if (isOverflowFinish(end?.raw)) return { kind: 'overflow' }
  if (end === undefined || end.finish === 'broken') return { kind: 'malformed', what: 'no-end' }
  return { kind: 'finished', finish: end.finish }
}

/** Some servers echo our request id; if one is present, it must be ours. */
function isForAnother({ headers, requestId }: WireRecord): boolean {
  const echoed = headers?.[REQUEST_ID]
  return typeof echoed === 'string' && requestId !== undefined && echoed !== requestId
}

function judgeDocument(text: string, evidence: CallEvidence): Outcome {
  const { status = 200 } = evidence.wire
  if (status >= 400) return judgeComplaint(reportedErrorOf(text, status), evidence)
  // Redirects are not followed: they would send the conversation and the credential to another
  // host.
  if (status >= 300) return { kind: 'malformed', what: 'redirect' }
  // A page, or an unstreamed answer: neither was requested.
  if (!isReportedError(text)) return { kind: 'malformed', what: 'no-stream' }
  return judgeComplaint(reportedErrorOf(text), evidence)
}

function judgeComplaint(complaint: ReportedError, { wire, key, nowMs }: CallEvidence): Outcome {
  const overflow = findOverflow(complaint)
  if (overflow !== undefined) return overflow
  const { status, codes, message = '' } = complaint
  const code = codes.find((word) => CODE.test(word))
  const retryAfterMs = retryAfter(wire.headers ?? {}, nowMs)
  const refusal = refusalOf(complaint)
  // What cannot heal ends the turn, and its reason becomes part of the conversation.
  const said = HEALING.includes(refusal) ? providerWords(message, key) : ''
  return {
    kind: 'refused',
    refusal,
    ...(status !== undefined && { status }),
    ...(code !== undefined && { code }),
    ...(said !== '' && { said }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

// A single word without runs of digits cannot be a key or a quotation.
const CODE = /^[a-z][a-z_]{0,63}$/

function refusalOf({ status = 0, codes, text }: ReportedError): ProviderRefusal {
  const says = (...words: readonly string[]) =>
    codes.some((code) => words.some((word) => code.includes(word)))
  if (status === 402 || says('insufficient_quota', 'billing', 'usage_limit_reached')) {
    return 'no-credit'
  }
  if (/credit balance is too low|exceeded your current quota/.test(text)) return 'no-credit'
  if (status === 429 || says('rate_limit', 'resource_exhausted')) return 'rate-limit'
  if (status === 401 || status === 403 || says('invalid_api_key', 'authentication', 'permission')) {
    return 'bad-key'
  }
  // Google refuses a bad key with 400.
  if (/api key not valid|api_key_invalid/.test(text)) return 'bad-key'
  if (status === 529 || status === 503 || says('overloaded', 'unavailable')) return 'overloaded'
  if (says('content_policy', 'content_filter', 'prohibited_content')) return 'content'
  // Request timeout, conflict, "too early".
  if (status >= 500 || status === 408 || status === 409 || status === 425) return 'server-error'
  if (status === 404 || says('model_not_found', 'not_found_error')) return 'not-found'
  if (status >= 400 || says('invalid_request', 'invalid_prompt')) return 'bad-request'
  return 'server-error'
}

// No real value is larger, and it is only compared with deadlines.
const RETRY_AFTER_MS_MAX = 7 * 24 * 3_600_000

/** Seconds, a date, or OpenAI's milliseconds. Any other value is ignored. */
function retryAfter(headers: NonNullable<WireRecord['headers']>, nowMs: number) {
  const inMs = Number(headers['retry-after-ms'] ?? Number.NaN)
  const value = headers['retry-after']
  const inSeconds = Number(value ?? Number.NaN) * 1_000
  const found = [inMs, inSeconds, Date.parse(String(value ?? '')) - nowMs].find(Number.isFinite)
  if (found === undefined || found < 0) return undefined
  return Math.min(found, RETRY_AFTER_MS_MAX)
}
