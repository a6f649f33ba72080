import { KnownError } from '#core/base/errors'
import type { SessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { parsePreview } from '#core/session/context/parse-preview'
import type { Reads } from '#core/store/contract'
import { canonicalJson, sha256 } from '#core/store/integrity/canonical'

/**
 * A preview travels to a client and back, and later contexts quote it as what people said and what
 * tools found. So it carries a seal that only processes with this store can make: over every byte of
 * the handoff, its figures and the session. The store keeps no previews, and any process on the
 * store can install one.
 */
export async function sealPreview(
  store: Pick<Reads, 'readStore'>,
  sessionId: SessionId,
  preview: JsonObject,
): Promise<JsonObject> {
  return { ...preview, seal: await sealOf(store, sessionId, preview) }
}

/** The preview as it was made, without its seal. */
export async function openPreview(
  store: Pick<Reads, 'readStore'>,
  sessionId: SessionId,
  { seal, ...preview }: JsonObject,
): Promise<JsonObject> {
  const isOurs =
    parsePreview(preview) !== null && seal === (await sealOf(store, sessionId, preview))
  if (!isOurs) throw new ChangedPreviewError()
  return preview
}

export class ChangedPreviewError extends KnownError {
  override readonly name = 'ChangedPreviewError'
  readonly code = 'changed-preview'
  readonly retryable = false

  constructor() {
    super('This is not a preview of this session as it was made. Make one, and send it unchanged.')
  }
}

/** The store's id is random and leaves the store with no request. */
async function sealOf(
  store: Pick<Reads, 'readStore'>,
  sessionId: SessionId,
  preview: JsonObject,
): Promise<string> {
  const { id } = await store.readStore()
  return sha256(`preview ${id} ${sha256(canonicalJson([sessionId, preview]))}`)
}
