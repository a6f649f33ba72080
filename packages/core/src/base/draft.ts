import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'

/**
 * A name for the draft of a file, beside it. Open it with the flag `wx`: in a folder like /tmp another
 * user who knew the name could create the file first, and read what is written to it, or put a link
 * there to a file that would be overwritten.
 */
export function draftBeside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
}
