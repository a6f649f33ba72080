import { isObject } from '#core/base/json'
import { reportedErrorOf } from '#core/message/dialects/provider-error'
import type { ProviderPart } from './provider.ts'

/**
 * The facts of a provider package's failure, for the judge. The error object itself stops here: it
 * and its causes contain the whole request, and with it the conversation. Undefined for failures
 * that only the wire can explain.
 */
export function readProviderFailure(error: unknown): ProviderPart | undefined {
  const name = error instanceof Error ? error.name : ''
  switch (name) {
    case 'AI_JSONParseError':
      return { kind: 'unparsable' }
    case 'AI_TypeValidationError':
      // The event was JSON of a kind that this version of the package does not know. We have the
      // raw event; the end of the stream shows whether anything is missing.
      return { kind: 'note', code: 'unknown-event' }
    case '':
    case 'AI_APICallError': {
      const { data, responseBody, statusCode } = factsOf(error)
      const facts = isObject(data) ? data : responseBody
      if (typeof facts !== 'string' && !isObject(facts)) return undefined
      const status = typeof statusCode === 'number' && statusCode >= 400 ? statusCode : undefined
      return { kind: 'complaint', complaint: reportedErrorOf(facts, status) }
    }
    default:
      return undefined
  }
}

interface FailureFacts {
  readonly data?: unknown
  readonly responseBody?: unknown
  readonly statusCode?: unknown
}

/** The provider's own error: an event of the stream, or what the package made of the first one. */
function factsOf(error: unknown): FailureFacts {
  if (error instanceof Error) return error as Error & FailureFacts
  return isObject(error) ? { data: error } : { responseBody: error }
}
