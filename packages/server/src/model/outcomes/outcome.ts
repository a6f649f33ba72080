import type { DeadlineName } from '../connections/deadlines.ts'

/**
 * The outcome of a call, as one word with its facts. Of a provider's text it contains only `said`, which is
 * for people: it is never logged, recorded or shown to a model, because a provider may quote the request.
 */
export type Outcome =
  | { readonly kind: 'finished'; readonly finish: FinishReason }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'deadline'; readonly deadline: DeadlineName }
  | {
      readonly kind: 'connection'
      readonly fault: ConnectionFault
      /**
       * The connection was bad, not the server, so an immediate retry on a new one is worthwhile.
       */
      readonly freshLoanHelps: boolean
    }
  | { readonly kind: 'overflow'; readonly limitTokens?: number; readonly askedTokens?: number }
  | {
      readonly kind: 'refused'
      readonly refusal: ProviderRefusal
      readonly status?: number
      /** The provider's error code, if it is a single word. */
      readonly code?: string
      /** The provider's own message, as `providerWords` has it; only if the failure can heal. */
      readonly said?: string
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'malformed'; readonly what: MalformedReason }

/** Why the model stopped. Only `stop` and `tool-calls` mean a complete answer. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other'

export type ConnectionFault =
  | 'dispatcher-closed'
  | 'reset'
  | 'closed'
  | 'server-down'
  | 'unreachable'
  | 'dns'
  | 'tls'
  | 'proxy'
  | 'unknown'

export type ProviderRefusal =
  | 'rate-limit'
  | 'overloaded'
  | 'server-error'
  | 'no-credit'
  | 'bad-key'
  | 'no-credential'
  | 'not-found'
  | 'content'
  | 'bad-request'

export type MalformedReason =
  | 'no-stream'
  | 'unparsable'
  | 'no-end'
  | 'mixed-answers'
  | 'other-request'
  | 'too-large'
  | 'compressed'
  | 'redirect'
  | 'not-sent'

/** Whether another attempt can succeed. */
export type Prospect =
  /** The call was answered, or the answer is no longer needed. */
  | 'done'
  /** The context has to shrink first. */
  | 'needs-compaction'
  /** Temporary: retry, use another route, or wait. */
  | 'heals'
  /** Permanent until a person changes something. */
  | 'hopeless'

export function prospectOf(outcome: Outcome): Prospect {
  switch (outcome.kind) {
    case 'finished':
    case 'interrupted':
      return 'done'
    case 'overflow':
      return 'needs-compaction'
    case 'deadline':
      return 'heals'
    case 'connection':
      return outcome.fault === 'tls' ? 'hopeless' : 'heals'
    case 'malformed':
      return FIXED.includes(outcome.what) ? 'hopeless' : 'heals'
    case 'refused':
      return HEALING.includes(outcome.refusal) ? 'heals' : 'hopeless'
  }
}

// The request, or the redirect, would be the same every time.
const FIXED: readonly MalformedReason[] = ['not-sent', 'redirect']

// A used-up quota returns with the next payment or the next billing period.
export const HEALING: readonly ProviderRefusal[] = [
  'rate-limit',
  'overloaded',
  'server-error',
  'no-credit',
]

/** The destination of a call, for people. */
export interface CalledRoute {
  readonly model: string
  readonly host: string
  /** The environment variable that holds the key; null: it comes from elsewhere, or none is needed. */
  readonly variable: string | null
}

/** For people: what happened, at which provider, and what they can do about it. */
export function explainOutcome(outcome: Outcome, route?: CalledRoute): string {
  switch (outcome.kind) {
    case 'finished':
      return outcome.finish === 'length' ? 'The answer reached its limit.' : 'The model answered.'
    case 'interrupted':
      return 'The call was interrupted.'
    case 'deadline':
      return `The model did not answer in time (${DEADLINES[outcome.deadline]}).`
    case 'connection':
      return FAULT_TEXTS[outcome.fault]
    case 'overflow':
      return 'The context is larger than the model takes; it has to be compacted.'
    case 'refused': {
      const { status, code } = outcome
      const facts = [status === undefined ? '' : `status ${status}`, code ?? ''].filter(Boolean)
      const found = facts.length === 0 ? '' : ` (${facts.join(', ')})`
      const [said, advice = ''] = REFUSALS[outcome.refusal](
        route === undefined ? 'The provider' : route.host,
        route?.variable ?? null,
      )
      return `${said}${found}.${advice}${askedFor(outcome.refusal, route)}`
    }
    case 'malformed':
      return MALFORMATIONS[outcome.what]
  }
}

/** The same with the provider's own message, quoted. For notices: not for logs and transcripts. */
export function quoteOutcome(outcome: Outcome, route?: CalledRoute): string {
  const text = explainOutcome(outcome, route)
  const said = outcome.kind === 'refused' ? outcome.said : undefined
  if (said === undefined) return text
  return `${text} ${route?.host ?? 'The provider'} says: “${said}”`
}

function askedFor(refusal: ProviderRefusal, route: CalledRoute | undefined): string {
  return refusal === 'not-found' && route !== undefined ? ` Asked for: ${route.model}.` : ''
}

const DEADLINES: { readonly [name in DeadlineName]: string } = {
  connect: 'no connection came about',
  'first-byte': 'no answer began',
  idle: 'the answer stopped coming',
  total: 'the answer took too long as a whole',
}

const FAULT_TEXTS: { readonly [fault in ConnectionFault]: string } = {
  'dispatcher-closed': 'The connection was closed on our side.',
  reset: 'The connection was reset.',
  closed: 'The server closed the connection before the answer was complete.',
  'server-down': 'No server listens at the base URL; check the URL, and that the server runs.',
  unreachable: 'The host of the base URL cannot be reached; check the network.',
  dns: "The provider's host has no address; check the network, and the base URL if you set one.",
  tls: 'The base URL has no certificate that is trusted here, or speaks no TLS; check the URL. NODE_EXTRA_CA_CERTS names more certificates to trust.',
  proxy:
    'The proxy that HTTPS_PROXY or HTTP_PROXY names cannot be used; check it, or name the host in NO_PROXY.',
  unknown: 'The connection failed.',
}

type Explanation = (who: string, variable: string | null) => readonly [string, string?]

const REFUSALS: { readonly [refusal in ProviderRefusal]: Explanation } = {
  'rate-limit': (who) => [`${who} is limiting the requests of this account`],
  overloaded: (who) => [`${who} is overloaded`],
  'server-error': (who) => [`${who} failed; the fault is on its side`],
  'no-credit': (who) => [
    `${who} says that the account has no credit or allowance left`,
    ' Check its billing.',
  ],
  'bad-key': (who, variable) =>
    variable === null
      ? [`${who} refuses the credential`, ' Log in again or replace the key.']
      : [
          `${who} refuses the key in ${variable}`,
          ` Set ${variable} to a valid key (or log in again) and restart.`,
        ],
  'no-credential': (_, variable) =>
    variable === null
      ? ['The credential of the model route could not be read', ' Check its source.']
      : [
          `The environment variable ${variable} is not set`,
          ' Set it to a key and start Throughline again.',
        ],
  'not-found': (who) => [`${who} has no such model or address`, ' Check model and base URL.'],
  content: (who) => [`The content filter of ${who} refuses the request`],
  'bad-request': (who) => [
    `${who} refuses the request as it is`,
    ' Check the settings of the model route.',
  ],
}

const MALFORMATIONS: { readonly [what in MalformedReason]: string } = {
  'no-stream': 'This address belongs to no model server; check the base URL.',
  unparsable: 'The answer was damaged on the way.',
  'no-end': 'The answer stopped without its end.',
  'mixed-answers': 'The answer was mixed with another one.',
  'other-request': 'The answer belongs to another request.',
  'too-large': 'The answer is larger than any model writes.',
  compressed:
    'The answer came compressed, which was not asked for; something in between does that.',
  redirect: 'The base URL leads elsewhere, which is not followed; put the final address there.',
  'not-sent': 'The request could not be built for this provider; check the route and the tools.',
}
