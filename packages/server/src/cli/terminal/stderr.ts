import { printable } from './printable.ts'

/** Prints a message for people on standard error; standard output is for data only. */
export function printNotice(sentence: string): void {
  process.stderr.write(`${printable(sentence)}\n`)
}

/** Prints data unchanged for programs, without escape sequences on a terminal. */
export function forTerminal(text: string): string {
  return process.stdout.isTTY ? printable(text) : text
}

export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
