import type { APIAttachment } from 'discord.js'
import type { UserPart } from '#core/message/message'
import { attachedName, attachedPart } from '../chat/attached.ts'

/**
 * Attachments of a message, fetched within limits and from Discord's own hosts only: an address in
 * a message must not make this process call another host. A file that cannot be fetched is replaced
 * by a note to the agent.
 */
export interface AttachmentTerms {
  /** As in a URL: the name, and the port if there is one. */
  readonly hosts: readonly string[]
  readonly bytesMax: number
}

const COUNT_MAX = 10
const FETCH_MS_MAX = 20_000

export async function fetchAttachments(
  attachments: readonly APIAttachment[],
  terms: AttachmentTerms,
): Promise<readonly UserPart[]> {
  const parts: UserPart[] = []
  let left = terms.bytesMax
  for (const attachment of attachments.slice(0, COUNT_MAX)) {
    const fetched = await fetchOne(attachment, { ...terms, bytesMax: left })
    if (typeof fetched === 'string') {
      const name = attachedName(attachment.filename)
      parts.push(textPart(`[${name} was attached and is not here: ${fetched}]`))
      continue
    }
    left -= fetched.byteLength
    const { filename: name, content_type: mediaType = 'application/octet-stream' } = attachment
    parts.push(attachedPart({ mediaType, name, bytes: fetched }))
  }
  const more = attachments.length - COUNT_MAX
  if (more > 0) parts.push(textPart(`[${more} more attachments are not here]`))
  return parts
}

function textPart(text: string): UserPart {
  return { type: 'text', text }
}

/** The bytes, or the reason why there are none. */
async function fetchOne(
  { url, size }: APIAttachment,
  { hosts, bytesMax }: AttachmentTerms,
): Promise<Uint8Array | string> {
  const address = URL.parse(url)
  if (address === null || !hosts.includes(address.host) || !isSafe(address)) {
    return 'it is not on a host that files are taken from'
  }
  const tooLarge = `it is larger than ${Math.floor(bytesMax / 1_024)} KiB`
  if (size > bytesMax) return tooLarge
  try {
    const signal = AbortSignal.timeout(FETCH_MS_MAX)
    const response = await fetch(address, { redirect: 'error', signal })
    if (!response.ok || response.body === null) return `the host answered ${response.status}`
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) return tooLarge
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch {
    return 'the host could not be reached'
  }
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1')
}
