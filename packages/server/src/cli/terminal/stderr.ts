import { printable } from './printable.ts'

/** A sentence for the person, on standard error: standard output holds data only. */
export function printNotice(sentence: string): void {
  process.stderr.write(`${printable(sentence)}\n`)
}

/** Data as it is for a program; without escape sequences where a person looks at it. */
export function forTerminal(text: string): string {
  return process.stdout.isTTY ? printable(text) : text
}

export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
