import { useEffect, useState } from 'preact/hooks'
import type { BlobSource } from '../../core/src/message/message.ts'
import type { BlobView } from '../../server/src/runtime/runtime.ts'
import { call, sessionPath } from '../data/api.ts'

/**
 * An image of a conversation. Only pixel formats are shown, as data addresses: nothing is fetched from
 * other servers, and an SVG, which may contain more than pixels, is only named.
 */
const PIXELS = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/
const BLOB = 'blob:'

export function Picture(props: { readonly source: BlobSource; readonly sessionId: string }) {
  const { source, sessionId } = props
  const id = source.kind === 'id' ? source.id : ''
  const [blob, setBlob] = useState<BlobView | null>(null)
  useEffect(() => {
    if (!id.startsWith(BLOB)) return
    const controller = new AbortController()
    const path = sessionPath(sessionId, `/blobs/${id.slice(BLOB.length)}`)
    call<BlobView>(path, { signal: controller.signal }).then(setBlob, () => {})
    return () => controller.abort()
  }, [id, sessionId])
  const image = source.kind === 'base64' ? source : blob
  if (image !== null && PIXELS.test(image.mediaType)) {
    const address = `data:${image.mediaType};base64,${image.data}`
    return <img class="picture" src={address} alt="Part of this message" />
  }
  if (source.kind === 'url') return <p class="dim">Image at {source.url}</p>
  return (
    <p class="dim">
      Image{image === null ? '' : ` of type ${image.mediaType}`}, kept with the session
    </p>
  )
}
