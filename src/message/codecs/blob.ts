import type { JsonObject } from '../../base/json.ts'
import type { FormatName } from '../codec.ts'
import type { BlobSource, FilePart, ImagePart, Origin } from '../message.ts'
import { kindredOrigin, originOf, originOfPart, type Place } from './origin.ts'

const DATA_URL = /^data:([^;,]{1,100});base64,/

/** A `data:` address becomes bytes with a type; anything else stays an address. */
export function readUrl(url: string): BlobSource {
  const match = DATA_URL.exec(url)
  if (match === null) return { kind: 'url', url }
  return { kind: 'base64', mediaType: match[1] ?? '', data: url.slice(match[0].length) }
}

/** An address for everything but a provider's file id, which means nothing elsewhere. */
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

/** An id always keeps its origin: it belongs to the provider that gave it. */
export function originOfBlob(
  source: BlobSource,
  { format, at }: Place,
  fields?: JsonObject,
  ...words: readonly (string | false)[]
): { readonly origin?: Origin } {
  if (source.kind === 'id') return { origin: originOf(format, at, fields, ...words) }
  return originOfPart(format, at, fields, ...words)
}

export function foreignId(part: ImagePart | FilePart, format: FormatName): boolean {
  return (
    part.source.kind === 'id' &&
    part.origin !== undefined &&
    kindredOrigin(part, format) === undefined
  )
}
