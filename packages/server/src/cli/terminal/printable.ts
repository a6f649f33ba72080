import { stripVTControlCharacters } from 'node:util'

/**
 * Removes escape sequences, which a terminal would obey, and characters that change the writing
 * direction. Line breaks stay.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(UNSEEN, ' ')
}

const UNSEEN = /(?:(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu
