import type { DeadlineName } from '../connections/deadlines.ts'

/** How a call went, in one word with its facts. No text of a provider's stands in it. */
export type Outcome =
  | { readonly kind: 'finished'; readonly finish: FinishReason }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'deadline'; readonly deadline: DeadlineName }
  | {
      readonly kind: 'connection'
      readonly fault: ConnectionFault
      /** The connection was bad, not the server: a new one is worth a try at once. */
      readonly freshLoanHelps: boolean
    }
  | { readonly kind: 'overflow'; readonly limitTokens?: number; readonly askedTokens?: number }
  | {
      readonly kind: 'refused'
      readonly refusal: ProviderRefusal
      readonly status?: number
      /** The provider's name for the error, if it is a mere word. */
      readonly code?: string
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'malformed'; readonly what: Malformation }

/** Why the model stopped. Only `stop` and `tool-calls` are a whole answer. */
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

export type Malformation =
  | 'no-stream'
  | 'unparsable'
  | 'no-end'
  | 'mixed-answers'
  | 'other-request'
  | 'too-large'
  | 'compressed'
  | 'redirect'
  | 'not-sent'

/** What may be hoped of another try. */
export type Prospect =
  /** Answered, or nobody wants the answer any more. */
  | 'done'
  /** The context has to shrink first. */
  | 'needs-compaction'
  /** May heal by itself: try again, try another route, or wait. */
  | 'heals'
  /** The same on every try until somebody changes something. */
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

// The request is built, and the address redirected, in the same way every time.
const FIXED: readonly Malformation[] = ['not-sent', 'redirect']

// A used-up allowance comes back with the next month, the next payment or the next window.
const HEALING: readonly ProviderRefusal[] = [
  'rate-limit',
  'overloaded',
  'server-error',
  'no-credit',
]

/** For people: what happened and, where they can do something, what. */
export function explainOutcome(outcome: Outcome): string {
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
      return `${REFUSALS[outcome.refusal]}${found}`
    }
    case 'malformed':
      return MALFORMATIONS[outcome.what]
  }
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
  'server-down': 'Nobody listens at the base URL; check it, and that the server runs.',
  unreachable: 'The host of the base URL cannot be reached; check the network.',
  dns: 'The host of the base URL has no address; check its spelling and the network.',
  tls: 'The base URL has no certificate that is trusted here, or speaks no TLS; check the URL. NODE_EXTRA_CA_CERTS names more certificates to trust.',
  proxy:
    'The proxy that HTTPS_PROXY or HTTP_PROXY names cannot be used; check it, or name the host in NO_PROXY.',
  unknown: 'The connection failed.',
}

const REFUSALS: { readonly [refusal in ProviderRefusal]: string } = {
  'rate-limit': 'The provider takes no more requests for now.',
  overloaded: 'The provider is overloaded.',
  'server-error': 'The provider failed.',
  'no-credit': 'The account has no credit or allowance left; check its billing.',
  'bad-key': 'The provider refuses the credential; log in again or replace the key.',
  'no-credential': 'The credential of the model route could not be read; check its source.',
  'not-found': 'The provider has no such model or address; check model and base URL.',
  content: "The provider's content filter refuses the request.",
  'bad-request': 'The provider refuses the request as it is; check the settings of the route.',
}

const MALFORMATIONS: { readonly [what in Malformation]: string } = {
  'no-stream': 'What answered is no model server; check the base URL.',
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
