import { constants, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * The text of a file; null: it is no plain file, larger than `bytesMax`, or not accepted. Other
 * programs can put anything under its name: opening a pipe would wait for its other end and keep one of
 * the four threads that all file calls share; a device might never end.
 */
export async function readPlainFile(
  path: string,
  bytesMax: number,
  accepts: (facts: Stats) => boolean = () => true,
): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const facts = await file.stat()
    if (!facts.isFile() || facts.size > bytesMax || !accepts(facts)) return null
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
