import type { Dialect } from '../dialect.ts'
import type { FilePart, ImagePart, TextPart } from '../message.ts'
import { textOf } from '../text.ts'

/**
 * Images and files that a provider takes, judged by what they hold: their label comes from whoever
 * sent them and may say anything. A provider refuses the whole request for one that it cannot read,
 * and with it every turn from then on, so what is doubtful is named instead of sent. The transcript
 * keeps it either way.
 */
export function sendableBlob(
  part: ImagePart | FilePart,
  dialect: Dialect,
): ImagePart | FilePart | TextPart {
  const { source } = part
  if (source.kind !== 'base64') return part
  const { mediaType, data } = source
  if (mediaType.startsWith('text/')) return { type: 'text', text: withText(part, data) }
  const beginning = BEGINNINGS[mediaType]
  if (beginning === undefined) {
    const isHeard = dialect === 'gemini' && /^(?:audio|video)\//.test(mediaType)
    return isHeard ? part : named(part, `models do not read ${label(mediaType)}`)
  }
  if (!beginsWith(data, beginning)) return named(part, `it is no ${label(mediaType)}`)
  const isTooLarge = mediaType.startsWith('image/') && data.length > IMAGE_CHARACTERS_MAX
  return isTooLarge ? named(part, 'it is too large for a model') : ofItsKind(part, mediaType)
}

/** Providers take an image as an image alone and a document as a file, whatever the part says. */
function ofItsKind(part: ImagePart | FilePart, mediaType: string): ImagePart | FilePart {
  const type = mediaType.startsWith('image/') ? 'image' : 'file'
  return part.type === type ? part : { type, source: part.source }
}

/** The first bytes, in hexadecimal digits. */
const BEGINNINGS: { readonly [mediaType: string]: string } = {
  'image/png': '89504e47',
  'image/jpeg': 'ffd8ff',
  'image/gif': '47494638',
  'image/webp': '52494646',
  'application/pdf': '25504446',
}
/** The smallest limit of a provider for one image, Anthropic's: 5 MiB as it is sent. */
const IMAGE_CHARACTERS_MAX = 5 * 1024 * 1024
const BEGINNING_CHARACTERS = 16

function beginsWith(data: string, beginning: string): boolean {
  const bytes = Buffer.from(data.slice(0, BEGINNING_CHARACTERS), 'base64')
  return bytes.toString('hex').startsWith(beginning)
}

/**
 * A file is one part, which contexts count as no more than a share of the window whatever it holds;
 * so much fits the share of the smallest window.
 */
const TEXT_CHARACTERS_MAX = 30_000
const BASE64_PER_BYTE = 4 / 3

function withText(part: ImagePart | FilePart, data: string): string {
  // Four bytes are the most that a character takes.
  const enough = Math.ceil(4 * TEXT_CHARACTERS_MAX * BASE64_PER_BYTE)
  const text = Buffer.from(data.slice(0, enough), 'base64').toString('utf8')
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
