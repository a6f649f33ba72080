import { createHash } from 'node:crypto'

/**
 * Names of foreign tools as models see them: `server__tool`. The part before the first `__` is the
 * server as the operator named it, and cannot be forged, because such names contain no underscore.
 * A tool name that does not fit is shortened with a hash of the whole, so that names stay distinct.
 */
export const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,22}[A-Za-z0-9])?$/
const NAME_MAX = 64
const MARK_LENGTH = 8
const ILLEGAL = /[^A-Za-z0-9_-]/gu

export function toolName(server: string, tool: string): string {
  const prefix = `${server}__`
  const lengthMax = NAME_MAX - prefix.length
  const safe = tool.slice(0, NAME_MAX).replaceAll(ILLEGAL, '_')
  if (safe === tool && safe.length <= lengthMax && safe !== '') return prefix + safe
  const mark = createHash('sha256').update(tool).digest('hex').slice(0, MARK_LENGTH)
  return `${prefix}${safe.slice(0, lengthMax - MARK_LENGTH - 1)}_${mark}`
}

/** Exact names, or a beginning followed by `*`. `deny` wins over `allow`. */
export function isAllowedTool(
  tool: string,
  { allow, deny = [] }: { readonly allow?: readonly string[]; readonly deny?: readonly string[] },
): boolean {
  const fits = (pattern: string) =>
    pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern
  return (allow === undefined || allow.some(fits)) && !deny.some(fits)
}
