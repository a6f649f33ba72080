import { isUtf8 } from 'node:buffer'
import { clip, oneLine } from '#core/base/line'
import type { UserPart } from '#core/message/message'

const PICTURES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
])
const WITHOUT_WORDS = /^(?:image|audio|video)\/|^application\/pdf$/
const PLAIN = 'text/plain'
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/
const UNKNOWN = 'application/octet-stream'
const NAME_CHARACTERS_MAX = 120

/**
 * An attachment as a part of its message. Apps label text files with many media types, so anything
 * that decodes as text becomes text for the model.
 */
export function attachedPart(attached: {
  readonly mediaType: string
  readonly name?: string | undefined
  readonly bytes: Uint8Array
}): UserPart {
  const { bytes } = attached
  const name = attached.name === undefined ? undefined : attachedName(attached.name)
  const label = attachedType(attached.mediaType)
  const mediaType = isText(label, bytes) ? PLAIN : label
  const source = { kind: 'base64', mediaType, data: Buffer.from(bytes).toString('base64') } as const
  if (PICTURES.has(mediaType)) return { type: 'image', source }
  return { type: 'file', source, ...(name !== undefined && { name }) }
}

/**
 * The name of a file is as foreign as its content and appears between words of ours: a line break in
 * it could imitate another speaker, a bracket the end of our note.
 */
export function attachedName(name: string): string {
  return clip(oneLine(name.replaceAll(/[[\]\p{Cc}\p{Cf}]/gu, ' ')), NAME_CHARACTERS_MAX)
}

/** The sender chooses this as well. */
export function attachedType(mediaType: string): string {
  const [label = ''] = mediaType.toLowerCase().split(';')
  return MEDIA_TYPE.test(label) ? label : UNKNOWN
}

function isText(label: string, bytes: Uint8Array): boolean {
  return (
    !label.startsWith('text/') && !WITHOUT_WORDS.test(label) && isUtf8(bytes) && !bytes.includes(0)
  )
}
