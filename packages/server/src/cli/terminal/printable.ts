import { stripVTControlCharacters } from 'node:util'

/**
 * Removes escape sequences, which a terminal would obey, and characters that change the writing
 * direction. Line breaks stay, and a tab is as wide as in most editors.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(withoutOpenTitles(text))
    .replaceAll('\t', '    ')
    .replace(UNSEEN, ' ')
}

/**
 * Node looks for the end of each title (`ESC ]`) to the end of the text: minutes for a megabyte of titles
 * that never end. Behind the last end there is nothing to find.
 */
function withoutOpenTitles(text: string): string {
  const end = Math.max(...TITLE_ENDS.map((each) => text.lastIndexOf(each)))
  return text.slice(0, end + 1) + text.slice(end + 1).replaceAll('\x1b]', ' ')
}

const TITLE_ENDS = ['\x07', '\x1b\\', '\x9c']

const UNSEEN = /(?:(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu
