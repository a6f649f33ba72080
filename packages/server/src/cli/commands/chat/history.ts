import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '#core/base/files/write'
import { stateFolder } from '../../../host/operating-system.ts'

const HISTORY_MAX = 500

/** The messages sent in this chat and in earlier ones, for the up and down keys. */
export class SentHistory {
  /** The newest first. */
  #sent: readonly string[]
  /** Position in the history; 0: the draft. */
  #at = 0
  #draft = ''

  constructor() {
    this.#sent = readHistory()
  }

  add(text: string): void {
    this.#at = 0
    if (text.trim() === '') return
    this.#sent = [text, ...this.#sent.filter((known) => known !== text)].slice(0, HISTORY_MAX)
    writeHistory(this.#sent)
  }

  /** Null if there is no more in that direction. */
  go(step: -1 | 1, draft: string): string | null {
    const at = this.#at - step
    if (at < 0 || at > this.#sent.length) return null
    if (this.#at === 0) this.#draft = draft
    this.#at = at
    return at === 0 ? this.#draft : (this.#sent[at - 1] ?? '')
  }
}

/** One JSON string per line; earlier versions wrote the bare line. */
function readHistory(): readonly string[] {
  try {
    const lines = readFileSync(historyFile(), 'utf8').split('\n')
    return lines
      .filter((line) => line !== '')
      .map(readLine)
      .slice(0, HISTORY_MAX)
  } catch {
    return [] // The first chat, or a file or folder that may not be used: the chat works without a history.
  }
}

function readLine(line: string): string {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? value : line
  } catch {
    return line
  }
}

/** A private file; if the folder may not be used, only the history is lost. */
function writeHistory(sent: readonly string[]): void {
  try {
    const text = sent.map((line) => `${JSON.stringify(line)}\n`).join('')
    replaceFile(historyFile(), text)
  } catch {
    // Only the history is lost.
  }
}

function historyFile(): string {
  return join(stateFolder(), 'chat-history')
}
