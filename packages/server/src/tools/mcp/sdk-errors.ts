import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { type McpServerFailure, ServerFailureError, serverText } from './server-failure.ts'

const CAUSES_MAX = 8
const SYSTEM_CODE = /^[A-Z][A-Z0-9_]{1,40}$/

export function failureOf(error: unknown): McpServerFailure {
  const chain = causesOf(error)
  const own = chain.find((each) => each instanceof ServerFailureError)
  if (own !== undefined) return { reason: own.message, words: own.words }
  if (isTimeoutError(error)) return { reason: 'it did not start in time', words: '' }
  return { reason: `it cannot be reached (${kindOf(chain)})`, words: serverText(error) }
}

export function isTimeoutError(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
}

/** The server answered the call, with an error. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ProtocolError
}

/** A status or a code; the innermost cause is the most specific. */
function kindOf(chain: readonly Error[]): string {
  const http = chain.find((each) => each instanceof SdkHttpError)
  if (http !== undefined) return `HTTP ${http.status}`
  const refused = chain.find((each) => each instanceof ProtocolError)
  if (refused !== undefined) return `error ${Number(refused.code)}`
  const codes = chain.flatMap((each) =>
    'code' in each && typeof each.code === 'string' && SYSTEM_CODE.test(each.code)
      ? [each.code]
      : [],
  )
  return codes.at(-1) ?? 'no answer that could be read'
}

function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = []
  for (let each = error; each instanceof Error && chain.length < CAUSES_MAX; each = each.cause) {
    chain.push(each)
  }
  return chain
}
