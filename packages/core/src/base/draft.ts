import { basename, dirname, join } from 'node:path'

/**
 * A name for the draft of a file, in the same folder. Open it with the flag `wx`: in a folder like
 * /tmp another user who guessed the name could create the file first and read what is written, or
 * place a link to a file that would be overwritten.
 */
export function draftBeside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}.tmp`)
}
