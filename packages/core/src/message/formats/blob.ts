import type { JsonObject } from '../../base/json.ts'
import type { BlobSource, FilePart, ImagePart, Origin } from '../message.ts'
import { textOf } from '../text.ts'
import type { CodecName } from './names.ts'
import { originOf, originOfPart, type Position, sameFamilyOrigin } from './origin.ts'

const DATA_URL = /^data:([^;,]{1,100});base64,/

/** A `data:` URL becomes bytes with a media type; any other URL stays as it is. */
export function readUrl(url: string): BlobSource {
  const match = DATA_URL.exec(url)
  if (match === null) return { kind: 'url', url }
  return { kind: 'base64', mediaType: match[1] ?? '', data: url.slice(match[0].length) }
}

/** A URL for every source except a provider's file id, which is useless elsewhere. */
export function writeUrl(source: BlobSource): string | undefined {
  switch (source.kind) {
    case 'url':
      return source.url
    case 'base64':
      return `data:${source.mediaType};base64,${source.data}`
    case 'id':
      return undefined
  }
}

/** A file id always keeps its origin, because only the provider that issued it can use it. */
export function originOfBlob(
  source: BlobSource,
  { format, at }: Position,
  fields?: JsonObject,
  ...words: readonly (string | false)[]
): { readonly origin?: Origin } {
  if (source.kind === 'id') return { origin: originOf(format, at, fields, ...words) }
  return originOfPart(format, at, fields, ...words)
}

const CHAT_PARTS: readonly CodecName[] = ['openai-chat', 'hermes', 'langchain']

/** Whether the format can express an image or file from such a source. */
export function canSay(part: ImagePart | FilePart, format: CodecName): boolean {
  const { kind } = part.source
  if (format === 'pi') return part.type === 'image' && kind === 'base64'
  if (kind !== 'id') return true
  // The SDK has no file ids, chat none for images; elsewhere an id works for its own provider.
  if (format === 'ai-sdk') return false
  if (part.type === 'image' && CHAT_PARTS.includes(format)) return false
  return part.origin === undefined || sameFamilyOrigin(part, format) !== undefined
}

/** The substitute for an image or file that the format cannot express. */
export function blobText(part: ImagePart | FilePart): {
  readonly type: 'text'
  readonly text: string
} {
  const address = part.source.kind === 'url' ? ` ${part.source.url}` : ''
  return { type: 'text', text: `${textOf(part)}${address}` }
}
