import { type Api, GrammyError } from 'grammy'
import type { UserPart } from '#core/message/message'
import { attachedName, attachedPart, attachedType } from '../chat/attached.ts'
import type { RemoteFile } from './updates.ts'

/** The Bot API's own limit. */
const BYTES_MAX = 20 * 1024 * 1024
const FETCH_MS_MAX = 60_000
const TRIES_MAX = 3
const AGAIN_MS = 500
/** Relative and without `..`, so it can name only files of the configured server. */
const PATH = /^(?!.*(?:^|\/)\.\.?(?:\/|$))[\w.-][\w./ -]{0,300}$/

/**
 * Fetches pictures and files from the configured server only, whatever a message or an answer says;
 * no redirect is followed. A note replaces a missing file, so it never holds up a message.
 */
export class TelegramFiles {
  readonly #api: Api
  readonly #root: string
  readonly #signal: AbortSignal

  /** `root`: `https://api.telegram.org/file/bot<token>`. */
  constructor(api: Api, root: string, signal: AbortSignal) {
    this.#api = api
    this.#root = root
    this.#signal = signal
  }

  async fetchAll(files: readonly RemoteFile[]): Promise<readonly UserPart[]> {
    return await Promise.all(files.map((file) => this.#fetch(file)))
  }

  async #fetch(file: RemoteFile): Promise<UserPart> {
    if ((file.bytes ?? 0) > BYTES_MAX) return missing(file, 'it is larger than 20 MB')
    for (let tries = 1; ; tries++) {
      try {
        return await this.#download(file)
      } catch (error) {
        // We are closing: the update is not acknowledged and will be sent again.
        if (this.#signal.aborted) throw error
        if (tries === TRIES_MAX || error instanceof GrammyError) {
          return missing(file, 'it could not be fetched')
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS * tries))
      }
    }
  }

  async #download(file: RemoteFile): Promise<UserPart> {
    const { file_path: path } = await this.#api.getFile(file.id)
    if (path === undefined || !PATH.test(path)) return missing(file, 'it could not be fetched')
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(FETCH_MS_MAX)])
    const response = await fetch(`${this.#root}/${path}`, { redirect: 'error', signal })
    if (!response.ok || response.body === null) throw new Error('The file was refused.')
    const bytes = await readBounded(response.body)
    if (bytes === null) return missing(file, 'it is larger than 20 MB')
    return attachedPart({ mediaType: file.mediaType, name: file.name, bytes })
  }
}

async function readBounded(body: ReadableStream<Uint8Array>): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    // Leaving the loop cancels the download.
    if (length > BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function missing({ name, mediaType }: RemoteFile, why: string): UserPart {
  const what = name === undefined ? attachedType(mediaType) : attachedName(name)
  return { type: 'text', text: `[A file came with this (${what}); ${why}.]` }
}
