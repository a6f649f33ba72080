import { closeSync, openSync, readSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { UsageError } from '../../host/errors.ts'

/** The whole conversation is in memory, once as text and once as messages. */
const INPUT_BYTES_MAX = 256 * 1024 * 1024

/**
 * The text of a file, or of standard input for `-`. Gzipped input is recognized by its first bytes.
 */
export async function readInputText(path: string): Promise<string> {
  const raw = path === '-' ? await readStandardInput() : readBytes(path, INPUT_BYTES_MAX)
  return decode(isGzip(raw) ? unzip(raw, path) : raw, path)
}

/** A text file of ordinary size that a flag names, such as a prompt. */
export function readTextFile(path: string, bytesMax: number): string {
  return decode(readBytes(path, bytesMax), path)
}

async function readStandardInput(): Promise<Buffer> {
  if (process.stdin.isTTY) {
    process.stderr.write('Reading the conversation from the terminal; end it with Ctrl-D.\n')
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    size += chunk.length
    if (size > INPUT_BYTES_MAX) throw tooLarge('-', INPUT_BYTES_MAX)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Counts the bytes: a pipe or a device has no size and may have no end. */
function readBytes(path: string, bytesMax: number): Buffer {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const chunks: Buffer[] = []
    for (let size = 0; size <= bytesMax; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const length = readSync(file, chunk)
      if (length === 0) return Buffer.concat(chunks)
      chunks.push(chunk.subarray(0, length))
      size += length
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`, { cause: error })
  } finally {
    if (file !== undefined) closeSync(file)
  }
  throw tooLarge(path, bytesMax)
}

const CHUNK_BYTES = 1024 * 1024

const READ_ERRORS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'permission denied',
}

export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return READ_ERRORS[code ?? ''] ?? message
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

function unzip(bytes: Buffer, path: string): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: INPUT_BYTES_MAX })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path, INPUT_BYTES_MAX)
    throw new UsageError(`${nameOf(path)} looks gzipped but cannot be unpacked: ${message}.`, {
      cause: error,
    })
  }
}

function decode(bytes: Buffer, path: string): string {
  try {
    // Strict: a silently replaced byte would be a silently changed conversation.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new UsageError(`${nameOf(path)} is not UTF-8 text. Convert it first (iconv -t UTF-8).`, {
      cause,
    })
  }
}

function tooLarge(path: string, bytesMax: number): UsageError {
  const limit = bytesMax >= 1024 * 1024 ? `${bytesMax / 1024 / 1024} MB` : `${bytesMax} bytes`
  return new UsageError(`${nameOf(path)} exceeds the ${limit} input limit.`)
}

function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : path
}
