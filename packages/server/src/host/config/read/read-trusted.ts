import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { findDoubtOnWay, type Trust, whyUntrusted } from '#core/base/files/trust'

/** Why a file was not read. */
export interface Unread {
  readonly problem: string
  /** Other users could have written it. */
  readonly isForeign?: true
  /** The system's error code. */
  readonly code?: string | undefined
}

/**
 * The content of a file. The check applies to the opened file, so it cannot be swapped in between.
 * Undefined trust: the user named the file.
 */
export function readTrusted(
  path: string,
  bytesMax: number,
  trust: Trust | undefined,
): string | Unread {
  try {
    const doubt = trust === undefined ? null : findDoubtOnWay(path, trust)
    if (doubt !== null) return foreign(doubt)
    // A pipe in its place must not block the process.
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const facts = fstatSync(file)
      if (!facts.isFile()) return { problem: 'is not a file' }
      const found = trust === undefined ? null : whyUntrusted(facts, trust)
      if (found !== null) return foreign(`it ${found}`)
      if (facts.size > bytesMax) return { problem: `is larger than ${bytesMax / 1024} kB` }
      return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return unreadFile(error)
  }
}

export function foreign(doubt: string): Unread {
  return { problem: `is not used: ${doubt}`, isForeign: true }
}

export function unreadFile(error: unknown): Unread {
  const { code } = error as NodeJS.ErrnoException
  return { problem: code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`, code }
}
