import type { JsonObject } from '#core/base/json'
import type { Rejection } from './protocol.ts'

/** The envelope around OpenAI's errors, the same for chat and Responses. */
export function openaiError({ status, message, param, code }: Rejection): JsonObject {
  return { error: { message, type: typeOf(status), param, code: code ?? codeOf(status) } }
}

function typeOf(status: number): string {
  if (status === 429) return 'requests'
  if (status >= 500) return 'server_error'
  return 'invalid_request_error'
}

export function codeOf(status: number): string | null {
  if (status === 401) return 'invalid_api_key'
  if (status === 429) return 'rate_limit_exceeded'
  if (status >= 500) return 'server_error'
  return null
}
