import { stripVTControlCharacters } from 'node:util'

/**
 * Conversations hold anything and terminals obey escape sequences, so they are removed, as are
 * marks that turn the direction of writing. Line breaks stay.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(UNSEEN, ' ')
}

const UNSEEN = /(?:(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu
