import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'

/**
 * The error that a provider reports in an error body, a stream event or a JSON document with status
 * 200. It is only classified, never logged: such texts quote requests and keys. `message` may be shown to
 * people, masked.
 */
export interface ReportedError {
  readonly status?: number
  /** The provider's code and type of the error, lower case. */
  readonly codes: readonly string[]
  /** The error text, lower case, cut to `TEXT_MAX`. */
  readonly text: string
  /** What it says to people, cut to `TEXT_MAX`. */
  readonly message?: string
}

const TEXT_MAX = 8_192

export function reportedErrorOf(said: JsonValue | undefined, status?: number): ReportedError {
  const body = typeof said === 'string' ? (parse(said) ?? said) : said
  const error = isObject(body) ? errorOf(body) : undefined
  const words = [error?.['code'], error?.['type'], error?.['status'], error?.['reason']]
  const codes = words.flatMap((word) => (typeof word === 'string' ? [word.toLowerCase()] : []))
  const numbers = [status, error?.['code'], error?.['statusCode'], error?.['status']]
  const found = numbers.find(isErrorStatus)
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? '')
  const message = isObject(body) ? messageOf(body, error) : undefined
  return {
    ...(found !== undefined && { status: found }),
    codes,
    text: text.slice(0, TEXT_MAX).toLowerCase(),
    ...(message !== undefined && { message: message.slice(0, TEXT_MAX) }),
  }
}

/** Whether a document with status 200 is still an error. */
export function isReportedError(text: string): boolean {
  const body = parse(text)
  return isObject(body) && (body['error'] !== undefined || body['type'] === 'error')
}

/** The providers' envelopes: `{error}`, `{response: {error}}`, `{detail}`, or flat. */
function errorOf(body: JsonObject): JsonObject {
  const { error, response, data } = body
  if (isObject(error)) return error
  if (isObject(response) && isObject(response['error'])) return response['error']
  if (isObject(data)) return { ...body, ...errorOf(data) }
  return body
}

function messageOf(body: JsonObject, error: JsonObject | undefined): string | undefined {
  const said = [
    error?.['message'],
    error?.['detail'],
    body['message'],
    body['detail'],
    body['error'],
  ]
  return said.find((each) => typeof each === 'string' && each !== '') as string | undefined
}

function isErrorStatus(value: unknown): value is number {
  return typeof value === 'number' && value >= 400 && value < 600
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
