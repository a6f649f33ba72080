import type { SessionId } from '../base/ids.ts'
import type { BlobSource, Message, Part, UserPart } from '../message/message.ts'
import type { Store } from '../store/contract.ts'
import type { BlobRow } from '../store/tables/rows.ts'

/**
 * Images and files are kept once per session, by their hash, beside the transcript (decision 26).
 * An entry has the reference `blob:<hash>`; the bytes are restored for a model request.
 */
const PREFIX = 'blob:'
/** Smaller ones stay inline. */
const BYTES_MIN = 2_048

export type StagedParts =
  | { readonly kind: 'staged'; readonly parts: readonly UserPart[]; readonly hashes: string[] }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'gone' }

export async function stageParts(
  store: Pick<Store, 'stageBlob'>,
  sessionId: SessionId,
  parts: readonly UserPart[],
): Promise<StagedParts> {
  const hashes: string[] = []
  const kept: UserPart[] = []
  for (const part of parts) {
    const source = sourceOf(part)
    if (source?.kind !== 'base64' || source.data.length < BYTES_MIN) {
      kept.push(part)
      continue
    }
    const bytes = Buffer.from(source.data, 'base64')
    // An unusual base64 spelling could not be restored exactly.
    if (bytes.toString('base64') !== source.data) {
      kept.push(part)
      continue
    }
    const staged = await store.stageBlob({ sessionId, mediaType: source.mediaType, bytes })
    if (staged.kind !== 'staged') return staged
    hashes.push(staged.hash)
    const id = `${PREFIX}${staged.hash}`
    kept.push({ ...part, source: { kind: 'id', id } } as UserPart)
  }
  return { kind: 'staged', parts: kept, hashes }
}

/** Where the bytes come from: a store, or a session that is read over the network. */
export interface BlobReads {
  findBlob(query: {
    sessionId: SessionId
    hash: string
  }): Promise<Pick<BlobRow, 'mediaType' | 'bytes'> | undefined>
}

/** The messages with bytes in place of references; a note replaces a missing blob. */
export async function loadParts(
  store: BlobReads,
  sessionId: SessionId,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  if (!messages.some(refersToBlob)) return messages
  return await Promise.all(
    messages.map(async (message) => {
      if (!refersToBlob(message) || message.role === 'handoff') return message
      const parts = await Promise.all(
        (message.parts as readonly Part[]).map((part) => withBytes(store, sessionId, part)),
      )
      return { ...message, parts } as Message
    }),
  )
}

async function withBytes(store: BlobReads, sessionId: SessionId, part: Part): Promise<Part> {
  const hash = hashIn(part)
  if (hash === undefined) return part
  const blob = await store.findBlob({ sessionId, hash })
  if (blob === undefined) return { type: 'text', text: '[image or file: erased]' }
  const data = Buffer.from(blob.bytes).toString('base64')
  return { ...part, source: { kind: 'base64', mediaType: blob.mediaType, data } } as Part
}

function refersToBlob(message: Message): boolean {
  if (message.role === 'handoff') return false
  return (message.parts as readonly Part[]).some((part) => hashIn(part) !== undefined)
}

function hashIn(part: Part): string | undefined {
  const source = sourceOf(part)
  if (source?.kind !== 'id' || !source.id.startsWith(PREFIX)) return undefined
  return source.id.slice(PREFIX.length)
}

function sourceOf(part: Part): BlobSource | undefined {
  return part.type === 'image' || part.type === 'file' ? part.source : undefined
}
