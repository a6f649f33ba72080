import type { MailNumber, SessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import type {
  Admission,
  FoundEntries,
  Idempotent,
  NewMessage,
  Reply,
  SessionSummary,
  TranscriptEntry,
} from '../../runtime/runtime.ts'
import type { ChatSession } from '../conversation.ts'
import { readEvents } from './read-events.ts'
import {
  type ServerAnswer,
  ServerAwayError,
  ServerRefusedError,
  type ServerRequest,
  type ServerRequests,
} from './requests.ts'

/** A session that another process runs, by way of its HTTP API. */
export class ServerSession implements ChatSession {
  readonly id: SessionId
  readonly #requests: ServerRequests
  /** Sent messages by mail number: repeating one waits for its reply. */
  readonly #sent = new Map<MailNumber, { readonly key: string; readonly body: JsonObject }>()

  constructor(id: SessionId, requests: ServerRequests) {
    this.id = id
    this.#requests = requests
  }

  async summary(): Promise<SessionSummary | undefined> {
    const answer = await this.#send({ method: 'GET', path: '' })
    return isUnknown(answer) ? undefined : bodyOf<SessionSummary>(answer)
  }

  async admit({ key, parts, lane }: NewMessage): Promise<Admission> {
    const body = { parts, ...(lane !== undefined && { lane }) } as unknown as JsonObject
    const admission = await this.#ask({ method: 'POST', path: '/messages', key, body })
    if ('mail' in admission) this.#sent.set(admission.mail, { key, body })
    return admission
  }

  async stop({ key }: Idempotent): Promise<Admission> {
    return await this.#ask({ method: 'POST', path: '/stop', key })
  }

  async continue({ key }: Idempotent): Promise<Admission> {
    return await this.#ask({ method: 'POST', path: '/continue', key })
  }

  async compact({ key, focus }: Idempotent & { focus?: string }): Promise<Admission> {
    const body = focus === undefined ? {} : { focus }
    return await this.#ask({ method: 'POST', path: '/compactions', key, body })
  }

  async revert({ key }: Idempotent): Promise<Admission> {
    const summary = await this.summary()
    // Without one in effect the server refuses, whatever the number.
    const path = `/compactions/${summary?.compaction ?? 1}/revert`
    return await this.#ask({ method: 'POST', path, key })
  }

  async pin({
    key,
    name,
    text,
  }: Idempotent & { name: string; text: string | null }): Promise<Admission> {
    const path = `/pins/${encodeURIComponent(name)}`
    if (text === null) return await this.#ask({ method: 'DELETE', path, key })
    return await this.#ask({ method: 'PUT', path, key, body: { text } })
  }

  async controlOutcome(
    mail: MailNumber,
    signal: AbortSignal,
  ): ReturnType<ChatSession['controlOutcome']> {
    const path = `/mailbox/${mail}/outcome`
    const answer = await this.#send({ method: 'GET', path, signal }).catch((error: unknown) => {
      if (signal.aborted) return null
      throw error
    })
    if (answer === null) return null
    return bodyOf<{ outcome: Awaited<ReturnType<ChatSession['controlOutcome']>> }>(answer).outcome
  }

  async transcript({
    from,
    to,
  }: {
    from: number
    to: number
  }): Promise<readonly TranscriptEntry[] | undefined> {
    if (to < from) return []
    const path = `/transcript?from=${from}&limit=${to - from + 1}`
    const answer = await this.#send({ method: 'GET', path })
    if (isUnknown(answer)) return undefined
    return bodyOf<{ entries: readonly TranscriptEntry[] }>(answer).entries
  }

  async search({ text, limit }: { text: string; limit: number }): Promise<FoundEntries> {
    const path = `/search?${new URLSearchParams({ q: text, limit: `${limit}` })}`
    return bodyOf<FoundEntries>(await this.#send({ method: 'GET', path }))
  }

  async reply(mail: MailNumber, signal: AbortSignal): Promise<Reply | null> {
    const sent = this.#sent.get(mail)
    if (sent === undefined) throw new Error(`Message ${mail} was not sent here.`)
    for (;;) {
      const path = '/messages?wait=reply'
      const answer = await this.#send({ method: 'POST', path, signal, ...sent })
      // 202: no reply yet; wait again.
      if (answer.status === 202) continue
      this.#sent.delete(mail)
      return bodyOf<{ reply: Reply | null }>(answer).reply
    }
  }

  /**
   * Continues after the last stored event if the connection breaks. The partial answer shown so far
   * is withdrawn, because the server sends it again from the start.
   */
  async *events(
    { after }: { after?: number },
    signal: AbortSignal,
  ): AsyncGenerator<RuntimeEvent, void> {
    let last = after
    try {
      while (!signal.aborted) {
        const query = last === undefined ? '' : `?after=${last}`
        const path = `/v1/sessions/${this.id}/events${query}`
        for await (const event of readEvents(this.#requests.lines({ path, signal }))) {
          if ('cursor' in event) last = event.cursor
          yield event
        }
        yield this.#withdrawn()
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof ServerAwayError)) throw error
    }
  }

  #withdrawn(): RuntimeEvent {
    const attempt = { turn: 0, step: 0, attempt: '' }
    return { type: 'live', sessionId: this.id, kind: 'void', ...attempt }
  }

  async #send(asked: ServerRequest): Promise<ServerAnswer> {
    const path = `/v1/sessions/${this.id}${asked.path}`
    return await this.#requests.send({ ...asked, path })
  }

  async #ask(asked: ServerRequest): Promise<Admission> {
    return admissionOf(await this.#send(asked), this.id)
  }
}

/** The inverse of how the endpoints report an admission. */
function admissionOf({ status, body }: ServerAnswer, sessionId: SessionId): Admission {
  const mail = body['mail'] as MailNumber
  const limit = Number(body['limit'])
  switch (body['code']) {
    case undefined:
      return { kind: body['duplicate'] === true ? 'duplicate' : 'admitted', sessionId, mail }
    case 'turned-down': // It was accepted; its outcome says why it was turned down.
      return { kind: 'admitted', sessionId, mail }
    case 'key-conflict':
      return { kind: 'conflict', sessionId, mail }
    case 'mailbox-full':
      return { kind: 'full', limit }
    case 'unknown-session':
      return { kind: 'unknown' }
    case 'gone':
      return { kind: 'gone' }
    default:
      throw new ServerRefusedError({ status, ...body })
  }
}

function isUnknown({ body }: ServerAnswer): boolean {
  return body['code'] === 'unknown-session'
}

/** The server's schemas describe the body; the caller names the type that they have. */
export function bodyOf<Body>({ status, body }: ServerAnswer): Body {
  if (body['code'] !== undefined) throw new ServerRefusedError({ status, ...body })
  return body as Body
}
