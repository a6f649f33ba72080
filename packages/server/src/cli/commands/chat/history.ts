import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PRIVATE_FOLDER_MODE, PRIVATE_MODE, stateFolder } from '../../../host/platform.ts'

/** What was typed in earlier chats, the newest first, as readline wants it. */
export const HISTORY_MAX = 500

export function readHistory(folder = stateFolder()): readonly string[] {
  try {
    const lines = readFileSync(fileIn(folder), 'utf8').split('\n')
    return lines.filter((line) => line !== '').slice(0, HISTORY_MAX)
  } catch {
    return [] // The first chat, or an unreadable file: the chat works without a history.
  }
}

/** Private; a folder that cannot be written costs the history and nothing else. */
export function writeHistory(lines: readonly string[], folder = stateFolder()): void {
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE })
    const text = lines.slice(0, HISTORY_MAX).map((line) => `${line}\n`)
    writeFileSync(fileIn(folder), text.join(''), { mode: PRIVATE_MODE })
  } catch {
    // As above.
  }
}

function fileIn(folder: string): string {
  return join(folder, 'chat-history')
}
