import { LEDGER_KINDS, type LedgerEntry, type LedgerKind } from './handoff.ts'

/**
 * The ledger as people and models read it, in rank order. Every later request pays for each
 * character, so single words of a kind share a line after its name, and only an entry that contains
 * a space takes an indented line of its own.
 *
 *     path: /srv/app/main.ts /srv/app/plan.ts
 *     error:
 *      connection refused by 10.0.0.7
 */
export function writeLedger(entries: readonly LedgerEntry[]): string {
  const lines: string[][] = []
  let open: LedgerKind | undefined
  // The words of the current line, joined at the end so that a long line is not copied per word.
  let words: string[] | undefined
  const begin = (line: string[]) => {
    lines.push(line)
    return line
  }
  for (const { kind, text } of entries) {
    if (kind !== open) words = begin([`${kind}:`])
    open = kind
    if (isWord(text)) {
      words ??= begin([`${kind}:`])
      words.push(text)
    } else {
      begin([` ${text}`])
      words = undefined
    }
  }
  return lines.map((line) => line.join(' ')).join('\n')
}

/** Counts and numbers are not written, so entries read back get neutral ones. */
export function readLedger(text: string): LedgerEntry[] {
  const entries: LedgerEntry[] = []
  let kind: LedgerKind | undefined
  const add = (found: string) => {
    if (kind !== undefined) entries.push({ kind, text: found, count: 1, number: 0 })
  }
  for (const line of text.split('\n')) {
    if (line.startsWith(' ')) add(line.slice(1))
    else {
      const [name, ...words] = line.split(' ')
      kind = LEDGER_KINDS.find((known) => name === `${known}:`)
      for (const word of words) add(word)
    }
  }
  return entries
}

function isWord(text: string): boolean {
  return text !== '' && !text.includes(' ')
}
