import { decodeBase64 } from '../../base/bytes.ts'
import type { FilePart, ImagePart, TextPart } from '../message.ts'
import { textOf } from '../text.ts'
import type { Accepted } from './accepted.ts'

/**
 * Images and files that a provider accepts, judged by their content, because the sender's label may
 * be wrong. A provider refuses a whole request, and every later turn, for one file that it cannot
 * read, so a text that names it replaces a doubtful file. The transcript keeps it either way.
 */
export function sendableBlob(
  part: ImagePart | FilePart,
  { hears }: Pick<Accepted, 'hears'>,
): ImagePart | FilePart | TextPart {
  const { source } = part
  if (source.kind !== 'base64') return part
  const { mediaType, data } = source
  if (mediaType.startsWith('text/')) return { type: 'text', text: withText(part, data) }
  const beginning = BEGINNINGS[mediaType]
  if (beginning === undefined) {
    const isHeard = hears === true && /^(?:audio|video)\//.test(mediaType)
    return isHeard ? part : named(part, `models do not read ${label(mediaType)}`)
  }
  if (!beginsWith(data, beginning)) return named(part, `it is no ${label(mediaType)}`)
  const isTooLarge = mediaType.startsWith('image/') && data.length > IMAGE_CHARACTERS_MAX
  return isTooLarge ? named(part, 'it is too large for a model') : ofItsKind(part, mediaType)
}

/** Providers accept images only as images and documents only as files, whatever the part says. */
function ofItsKind(part: ImagePart | FilePart, mediaType: string): ImagePart | FilePart {
  const type = mediaType.startsWith('image/') ? 'image' : 'file'
  return part.type === type ? part : { type, source: part.source }
}

/** The first bytes of each type. */
const BEGINNINGS: { readonly [mediaType: string]: readonly number[] } = {
  'image/png': [0x89, 0x50, 0x4e, 0x47],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': [0x47, 0x49, 0x46, 0x38],
  'image/webp': [0x52, 0x49, 0x46, 0x46],
  'application/pdf': [0x25, 0x50, 0x44, 0x46],
}
/** The smallest limit of any provider for one image: Anthropic's 5 MiB, counted in base64. */
const IMAGE_CHARACTERS_MAX = 5 * 1024 * 1024
const BEGINNING_CHARACTERS = 16

function beginsWith(data: string, beginning: readonly number[]): boolean {
  const bytes = decodeBase64(data.slice(0, BEGINNING_CHARACTERS))
  return beginning.every((byte, index) => bytes[index] === byte)
}

/**
 * A context counts a file as one part and charges at most a share of the window for it, whatever
 * its size. This many characters fit that share in the smallest window.
 */
const TEXT_CHARACTERS_MAX = 30_000
const BASE64_PER_BYTE = 4 / 3

function withText(part: ImagePart | FilePart, data: string): string {
  // A UTF-8 character takes at most four bytes.
  const enough = Math.ceil(4 * TEXT_CHARACTERS_MAX * BASE64_PER_BYTE)
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    decodeBase64(data.slice(0, enough)),
  )
  const shown = text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed()
  const isWhole = text.length <= TEXT_CHARACTERS_MAX && data.length <= enough
  return `${textOf(part)}\n${shown}${isWhole ? '' : '\n[the rest of it is not shown]'}`
}

function named(part: ImagePart | FilePart, why: string): TextPart {
  return { type: 'text', text: `${textOf(part)} (not shown: ${why})` }
}

function label(mediaType: string): string {
  return mediaType.replaceAll(/[^\w/.+-]/g, '').slice(0, 60) || 'such files'
}
