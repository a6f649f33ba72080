import { printable } from './printable.ts'

/** Prints a message for people on standard error; standard output is for data only. */
export function printNotice(sentence: string): void {
  process.stderr.write(`${printable(sentence)}\n`)
}

/** Prints data unchanged for programs, without escape sequences on a terminal. */
export function forTerminal(text: string): string {
  return process.stdout.isTTY ? printable(text) : text
}

/**
 * One line of JSON, or indented lines. JSON leaves some characters as they are that a terminal obeys or
 * that change the writing direction; they are escaped, which means the same.
 */
export function jsonLine(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent)
  return `${text.replace(OBEYED, escaped)}\n`
}

const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
