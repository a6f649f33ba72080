import type { BlobSource } from '../../src/message/message.ts'

/**
 * An image of a conversation. Only pixels are shown, as a data address: nothing is fetched from
 * elsewhere, and an SVG, which may hold more than pixels, is named instead.
 */
const PIXELS = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/

export function Picture({ source }: { readonly source: BlobSource; readonly sessionId: string }) {
  if (source.kind === 'base64' && PIXELS.test(source.mediaType)) {
    const address = `data:${source.mediaType};base64,${source.data}`
    return <img class="picture" src={address} alt="Sent with this message" />
  }
  if (source.kind === 'url') return <p class="dim">Image at {source.url}</p>
  return (
    <p class="dim">
      Image {source.kind === 'id' ? source.id.slice(0, 17) : `of type ${source.mediaType}`}, kept
      with the session
    </p>
  )
}
