import { stripVTControlCharacters } from 'node:util'

/**
 * Removes escape sequences, which a terminal would obey, and characters that change the writing
 * direction. Line breaks stay, and a tab is as wide as in most editors.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\t', '    ').replace(UNSEEN, ' ')
}

const UNSEEN = /(?:(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu
