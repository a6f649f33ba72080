import { KnownError } from '#core/base/errors'

const LENGTH_MAX = 80

/**
 * The kind of an error, for logs and operators. The message is left out: platform errors quote the
 * failed request, which may contain people's messages.
 */
export function errorKind(error: unknown): string {
  if (error instanceof KnownError) return error.code
  if (!(error instanceof Error)) return 'unknown'
  const facts = [error.name, ...['code', 'status'].map((key) => Reflect.get(error, key))]
  const known = facts.filter((fact) => typeof fact === 'string' || typeof fact === 'number')
  return [...new Set(known)].join(' ').slice(0, LENGTH_MAX)
}
