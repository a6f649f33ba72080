import { KnownError } from '#core/base/errors'

const LENGTH_MAX = 80

/**
 * What kind of error it is, for logs and for whoever operates this. Its message stays here: errors of
 * platforms quote the request that failed, and with it what somebody said.
 */
export function errorKind(error: unknown): string {
  if (error instanceof KnownError) return error.code
  if (!(error instanceof Error)) return 'unknown'
  const facts = [error.name, ...['code', 'status'].map((key) => Reflect.get(error, key))]
  const known = facts.filter((fact) => typeof fact === 'string' || typeof fact === 'number')
  return [...new Set(known)].join(' ').slice(0, LENGTH_MAX)
}
