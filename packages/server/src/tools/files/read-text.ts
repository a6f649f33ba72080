import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** More than this is not read at all. */
export const FILE_BYTES_MAX = 8 * 1024 * 1024

export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: number }
  | { readonly kind: 'too-large'; readonly bytes: number }

/** A growing file is read as far as it was; nothing makes this read without end. */
export async function readText(handle: FileHandle): Promise<FileText> {
  const { size } = await handle.stat()
  if (size > FILE_BYTES_MAX) return { kind: 'too-large', bytes: size }
  const bytes = await readBounded(handle)
  if (bytes.length > FILE_BYTES_MAX) return { kind: 'too-large', bytes: bytes.length }
  if (bytes.includes(0)) return { kind: 'binary', bytes: bytes.length }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { kind: 'text', text }
  } catch {
    return { kind: 'binary', bytes: bytes.length }
  }
}

/** As a handoff's list of files writes it. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

const CHUNK_BYTES = 256 * 1024

async function readBounded(handle: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  while (length <= FILE_BYTES_MAX) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES)
    if (bytesRead === 0) break
    chunks.push(buffer.subarray(0, bytesRead))
    length += bytesRead
  }
  return Buffer.concat(chunks)
}
