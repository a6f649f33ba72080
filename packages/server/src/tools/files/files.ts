import { createHash } from 'node:crypto'
import { type FileHandle, readdir } from 'node:fs/promises'
import { z } from 'zod'
import type { Reads } from '#core/store/contract'
import { defineTool, ok, type ParsedCall, refuse } from '../define-tool.ts'
import { callOf, type Tool, type ToolAnswer } from '../tool.ts'
import { openedFolder } from './opened-path.ts'
import { type Opened, Roots } from './roots.ts'
import { SeenFiles } from './seen.ts'

const LINES_MAX = 1_000_000

const input = z.strictObject({
  path: z.string().min(1).max(4_096).describe('A file to read, or a folder to list.'),
  offset: z.int().min(1).max(LINES_MAX).optional().describe('Begin with this line, from 1.'),
  limit: z.int().min(1).max(LINES_MAX).optional().describe('Read so many lines.'),
  again: z.boolean().optional().describe('Read it also if it has not changed.'),
})

export interface FilesParts {
  /** Folders that may be read; each must exist. Relative paths are resolved in the first. */
  readonly roots: readonly string[]
  /** Files and folders that are never read: the store, tokens, logs, keys. */
  readonly privatePaths?: readonly string[]
  readonly store: Pick<Reads, 'findSession' | 'readEntries'>
}

/** Longer files must be requested in pieces. */
const TEXT_CHARACTERS_MAX = 200_000
const NAMES_MAX = 500

/** Reads files within the allowed folders. Neither `..` nor a link leads outside. */
export function filesTool(parts: FilesParts): Tool {
  const roots = new Roots(parts.roots, parts.privatePaths)
  const seen = new SeenFiles(parts.store)
  return defineTool({
    name: 'files',
    description:
      'Read a text file, or list a folder. A file that you have read before and that has not ' +
      'changed is not sent again. ' +
      `Readable: ${roots.paths.join(', ') || 'nothing'}.`,
    input,
    isRepeatable: true,
    run: async (call) => {
      const { path } = call.input
      const opened = await roots.open(path)
      if (opened.kind !== 'opened') return refuse(explain(opened, path, roots))
      const { handle } = opened
      try {
        const stats = await handle.stat()
        if (stats.isDirectory()) return ok(await list(openedFolder(handle, opened.path)))
        if (!stats.isFile()) return refuse(`${path} is neither a file nor a folder.`)
        return await read(seen, opened, call)
      } finally {
        await handle.close()
      }
    },
  })
}

async function read(
  seen: SeenFiles,
  { handle, path: real }: Extract<Opened, { kind: 'opened' }>,
  call: ParsedCall<typeof input>,
): Promise<ToolAnswer> {
  const { sessionId, entry, input } = call
  const { path, offset, limit } = input
  const file = await readText(handle)
  if (file.kind === 'too-large') {
    return refuse(`${path} has ${file.bytes} bytes; at most ${READ_BYTES_MAX} are read.`)
  }
  if (file.kind === 'binary') {
    return refuse(
      `${path} is not text (${file.bytes} bytes that are not valid UTF-8 or hold zeros).`,
    )
  }
  const { text } = file
  if (offset !== undefined || limit !== undefined) return piece(text, offset ?? 1, limit)
  // Checked before hashing, which takes long for a large file: a file of this size was never read
  // whole.
  if (text.length > TEXT_CHARACTERS_MAX) {
    const { lines } = find(text, 1, LINES_MAX)
    return refuse(`${path} has ${text.length} characters in ${lines} lines: give offset and limit.`)
  }
  const hash = hashOf(text)
  const known = input.again === true ? undefined : await seen.find(sessionId, real, path)
  if (known?.hash === hash) return ok(unchanged(path, known.entry, hash))
  seen.note(sessionId, real, { hash, entry, call: callOf(call) })
  // Verbatim and nothing else, because a handoff takes the file's hash from this text.
  return ok(text)
}

function unchanged(path: string, entry: number | null, hash: string): string {
  const where = entry === null ? 'it was last read' : `entry ${entry}`
  const how = entry === null ? '' : `recall shows it (from: ${entry}); `
  return `${path} is unchanged since ${where} (sha256 ${hash}); ${how}again: true reads it again.`
}

function piece(text: string, offset: number, limit = LINES_MAX): ToolAnswer {
  const { from, to, last, lines } = find(text, offset, limit)
  if (offset > lines) return refuse(`There are ${lines} lines.`)
  if (to - from > TEXT_CHARACTERS_MAX) {
    return refuse(`These lines have ${to - from} characters: give a smaller limit.`)
  }
  const wanted = text.slice(from, to)
  return ok(last < lines ? `${wanted}\n[lines ${offset} to ${last} of ${lines}]` : wanted)
}

/** Where lines begin and end, and how many there are, without copying them. */
function find(text: string, offset: number, limit: number) {
  const last = offset - 1 + limit
  let [from, to, lines] = [0, text.length, 1]
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
    if (lines === last) to = end
    lines++
    if (lines === offset) from = end + 1
  }
  return { from, to, last: Math.min(last, lines), lines }
}

async function list(folder: string): Promise<string> {
  const found = await readdir(folder, { withFileTypes: true })
  const names = found
    .map((each) => oneLine(each.isDirectory() ? `${each.name}/` : each.name))
    .sort()
  const more = names.length > NAMES_MAX ? [`[${names.length - NAMES_MAX} more]`] : []
  return [...names.slice(0, NAMES_MAX), ...more].join('\n') || '(empty)'
}

/** A name with a line break in it could imitate another line. */
function oneLine(name: string): string {
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name
}

function explain(opened: Exclude<Opened, { kind: 'opened' }>, path: string, roots: Roots): string {
  switch (opened.kind) {
    case 'outside':
      return `${path} is outside of what may be read: ${roots.paths.join(', ')}.`
    case 'private':
      return `${path} belongs to Throughline itself (store, tokens, configuration, logs or keys) and is never read.`
    case 'missing':
      return `There is no ${path}.`
    case 'refused':
      return `${path} cannot be opened (${opened.code}).`
    default:
      return opened satisfies never
  }
}

/** Larger files are not read at all. */
export const READ_BYTES_MAX = 8 * 1024 * 1024

type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: number }
  | { readonly kind: 'too-large'; readonly bytes: number }

/** Reads a growing file only up to its size at the start, so the read always ends. */
async function readText(handle: FileHandle): Promise<FileText> {
  const { size } = await handle.stat()
  if (size > READ_BYTES_MAX) return { kind: 'too-large', bytes: size }
  const bytes = await readBounded(handle)
  if (bytes.length > READ_BYTES_MAX) return { kind: 'too-large', bytes: bytes.length }
  if (bytes.includes(0)) return { kind: 'binary', bytes: bytes.length }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { kind: 'text', text }
  } catch {
    return { kind: 'binary', bytes: bytes.length }
  }
}

/** In the form of a handoff's list of files. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

const CHUNK_BYTES = 256 * 1024

async function readBounded(handle: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  while (length <= READ_BYTES_MAX) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES)
    if (bytesRead === 0) break
    chunks.push(buffer.subarray(0, bytesRead))
    length += bytesRead
  }
  return Buffer.concat(chunks)
}
