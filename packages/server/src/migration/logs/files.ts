import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { findDepthFault } from '#core/message/json-text'
import { parseLines } from '#core/message/read-lines'
import { NothingToImportError } from '../errors.ts'

/** The session logs of other programs: where they are, and the documents on each line. */
export type LogFormat = 'claude-code' | 'codex' | 'pi'

/** Where each program keeps its logs below its home. */
const FOLDERS: { readonly [format in LogFormat]: readonly string[] } = {
  'claude-code': ['projects'],
  codex: ['sessions', 'archived_sessions'],
  pi: ['agent/sessions', 'sessions'],
}
const LOG_NAME = /\.jsonl(?:\.gz)?$/
const FILE_BYTES_MAX = 512 * 1024 * 1024
const FILES_MAX = 100_000

export async function findLogs(path: string, format: LogFormat): Promise<readonly string[]> {
  const found = await stat(path).catch(() => null)
  if (found === null) throw notThere(path, 'there is no such file or folder')
  if (!found.isDirectory()) return [path]
  const files: string[] = []
  for (const folder of FOLDERS[format]) files.push(...(await logsBelow(join(path, folder))))
  if (files.length === 0) files.push(...(await logsBelow(path)))
  if (files.length === 0) throw notThere(path, 'there is no .jsonl file in it, nor below it')
  if (files.length > FILES_MAX) throw notThere(path, `it holds more than ${FILES_MAX} logs`)
  return files
}

function notThere(path: string, problem: string): NothingToImportError {
  return new NothingToImportError({ path, problem })
}

async function logsBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile() && LOG_NAME.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

export interface SessionLogLine {
  /** Counted from 1. */
  readonly number: number
  /** Usually one; several if two programs wrote at once; null: unreadable. */
  readonly documents: readonly JsonObject[] | null
}

/** Skips blank lines. Throws file system errors, and if the file is too large. */
export async function readLog(path: string): Promise<readonly SessionLogLine[]> {
  const { size } = await stat(path)
  if (size > FILE_BYTES_MAX) throw new RangeError(`it is larger than ${FILE_BYTES_MAX} bytes`)
  const bytes = await readFile(path)
  const text = path.endsWith('.gz')
    ? gunzipSync(bytes, { maxOutputLength: FILE_BYTES_MAX }).toString()
    : bytes.toString()
  const lines: SessionLogLine[] = []
  let number = 0
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    const line = text.slice(start, end < 0 ? text.length : end).replace(/^\ufeff/, '')
    start = end < 0 ? text.length : end + 1
    number += 1
    if (line.trim() !== '') lines.push({ number, documents: documentsIn(line) })
  }
  return lines
}

function documentsIn(line: string): readonly JsonObject[] | null {
  // What walks it afterwards would overflow the stack, and the logs behind it would not be read.
  if (findDepthFault(line) !== undefined) return null
  try {
    const values = parseOne(line) ?? parseLines(line).values
    return values.length > 0 && values.every(isObject) ? values.filter(isObject) : null
  } catch {
    return null
  }
}

function parseOne(line: string): readonly JsonValue[] | null {
  try {
    return [JSON.parse(line) as JsonValue]
  } catch {
    return null
  }
}

export function nameOfLog(path: string): string {
  return basename(path).replace(LOG_NAME, '')
}
