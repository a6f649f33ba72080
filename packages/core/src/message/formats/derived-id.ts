import { sha256Hex } from '../../base/sha256.ts'

/**
 * Ids for new lines. Codecs use no randomness, so ids are derived from the position and the
 * preceding line: the same conversation is written as the same bytes.
 */
export function derivedId(...parts: readonly (string | number)[]): string {
  return sha256Hex(parts.join('\n'))
}

export function derivedUuid(...parts: readonly (string | number)[]): string {
  const hex = derivedId(...parts)
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return [...groups, hex.slice(20, 32)].join('-')
}

/** The timestamp of a first line whose time is unknown. */
export const NO_TIME = '1970-01-01T00:00:00.000Z'
