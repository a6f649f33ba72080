import { closeSync, writeFileSync } from 'node:fs'
import { KnownError } from '#core/base/errors'
import { FileDraft, openPipe } from '#core/base/files/write'
import { UsageError } from '../../host/errors.ts'
import { printable } from './printable.ts'
import { forTerminal } from './stderr.ts'

/**
 * Writes to standard output for `-`, otherwise atomically to a file, which keeps its mode. A new
 * file is private: most output contains conversations.
 */
export async function writeOutput(path: string, text: string): Promise<void> {
  if (path !== '-') return await writeNamed(path, [text], true)
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) =>
      error ? reject(cannotWrite('Standard output', error)) : resolve(),
    )
  })
}

/** A report without colours of ours: what it quotes from foreign files must not reach a terminal. */
export async function writeReport(text: string): Promise<void> {
  await writeOutput('-', printable(text))
}

/** Like `writeOutput`, for text that does not fit in memory; a file that it replaces becomes private. */
export async function writeStream(path: string, pieces: AsyncIterable<string>): Promise<void> {
  if (path !== '-') return await writeNamed(path, pieces, false)
  for await (const piece of pieces) await writeOutput('-', forTerminal(piece))
}

async function writeNamed(
  path: string,
  pieces: Iterable<string> | AsyncIterable<string>,
  keepsMode: boolean,
): Promise<void> {
  try {
    // Pipes and devices are written into; replacing them by a file would break other programs.
    const pipe = openPipe(path)
    const draft = pipe === null ? new FileDraft(path, { keepsMode }) : null
    try {
      for await (const piece of pieces) {
        if (pipe === null) draft?.write(piece)
        else writeFileSync(pipe, piece)
      }
      draft?.publish()
    } finally {
      draft?.close()
      if (pipe !== null) closeSync(pipe)
    }
  } catch (error) {
    throw error instanceof KnownError ? error : cannotWrite(path, error)
  }
}

export function cannotWrite(name: string, cause: unknown): UsageError {
  return new UsageError(`${name} cannot be written: ${(cause as Error).message}.`, { cause })
}
