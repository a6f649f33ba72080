import { isUtf8 } from 'node:buffer'
import type { UserPart } from '#core/message/message'

const PICTURES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
])
const WITHOUT_WORDS = /^(?:image|audio|video)\/|^application\/pdf$/
const PLAIN = 'text/plain'

/**
 * An attachment as a part of its message. Apps label text files with many media types, so anything
 * that decodes as text becomes text for the model.
 */
export function attachedPart(attached: {
  readonly mediaType: string
  readonly name?: string | undefined
  readonly bytes: Uint8Array
}): UserPart {
  const { name, bytes } = attached
  const [label = ''] = attached.mediaType.toLowerCase().split(';')
  const mediaType = isText(label, bytes) ? PLAIN : label
  const source = { kind: 'base64', mediaType, data: Buffer.from(bytes).toString('base64') } as const
  if (PICTURES.has(mediaType)) return { type: 'image', source }
  return { type: 'file', source, ...(name !== undefined && { name }) }
}

function isText(label: string, bytes: Uint8Array): boolean {
  return (
    !label.startsWith('text/') && !WITHOUT_WORDS.test(label) && isUtf8(bytes) && !bytes.includes(0)
  )
}
