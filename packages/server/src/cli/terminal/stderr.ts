import { printable } from './printable.ts'

/** Prints a message for people on standard error; standard output is for data only. */
export function printNotice(sentence: string): void {
  process.stderr.write(`${printable(sentence)}\n`)
}

/** Prints data unchanged for programs, without escape sequences on a terminal. */
export function forTerminal(text: string): string {
  return process.stdout.isTTY ? printable(text) : text
}

/** One line of JSON, harmless on a terminal. */
export function jsonLine(value: unknown): string {
  return `${harmless(JSON.stringify(value))}\n`
}

/** JSON in indented lines, harmless on a terminal. */
export function indentedJson(value: unknown): string {
  return `${harmless(JSON.stringify(value, undefined, 2))}\n`
}

/**
 * JSON leaves some characters as they are that a terminal obeys or that change the writing
 * direction; they are escaped, which means the same.
 */
function harmless(json: string): string {
  return json.replace(OBEYED, escaped)
}

const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
