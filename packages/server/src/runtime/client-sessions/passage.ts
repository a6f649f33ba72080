import type { Clock } from '#core/base/clock'
import type { JsonObject } from '#core/base/json'
import type { Store } from '#core/store/contract'
import type { Address, History } from '../../proxy/history.ts'
import type { Identity, Purpose } from '../../proxy/identify.ts'
import type { UpstreamReply } from '../../proxy/wire/wire.ts'
import type { ClientRequest } from './body-cache.ts'
import { type ClientCall, type ClientPrices, clientAttempt } from './client-call.ts'
import { idOf } from './client-sessions.ts'
import { requestedModel } from './frame.ts'

/** One request in progress, and the handling of its answer. */
export interface RecordedPassage {
  readonly send: readonly Buffer[]
  readonly purpose: Purpose | 'unknown'
  /** The handoff that was sent with it; 0: none. */
  readonly boundary: number
  /** For a request that the proxy answers itself: the item to answer with. */
  readonly compaction: Address | null
  /** An event of the answer, or the whole document, as it passes. */
  take(event: JsonObject): void
  /** Call this at the end of the answer, complete or not. Resolves when it is recorded. */
  end(): Promise<void>
}

export function passUntouched({ body }: ClientRequest): RecordedPassage {
  return {
    ...{ send: [body], purpose: 'unknown', boundary: 0, compaction: null },
    take: () => {},
    end: async () => {},
  }
}

/** Forwards a request that is not recorded, and hands its answer over to be counted. */
export function countedPassage(
  history: History,
  sent: Pick<RecordedPassage, 'send' | 'boundary' | 'purpose'>,
  take: (reply: UpstreamReply) => Promise<unknown>,
): RecordedPassage {
  const reader = history.wire.openReply()
  return {
    ...{ ...sent, compaction: null },
    take: (event) => reader.take(event),
    end: async () => {
      // The figures of one call are not worth an error.
      await take(reader.reply()).catch(() => {})
    },
  }
}

interface Books {
  readonly store: Pick<Store, 'findSession' | 'recordAttempt'>
  readonly clock: Pick<Clock, 'now'>
  readonly prices?: ClientPrices
}

/** A title or another small call: not part of the conversation, but of what it cost. */
export async function countBeside(
  books: Books,
  about: {
    readonly request: ClientRequest
    readonly identity: Identity
    readonly history: History
  },
  { usage, isWhole }: UpstreamReply,
): Promise<void> {
  const { request, identity, history } = about
  const { client, session, isHint } = identity
  if (usage === null || session === null || isHint === true) return
  // The conversation may have started while this call ran.
  const row = await books.store.findSession(idOf(identity))
  if (row?.state !== 'open') return
  const model = requestedModel(history)
  const { baseUrl } = request
  await recordCall(books, { sessionId: row.id, client, usage, isWhole, model, baseUrl })
}

export async function recordCall(
  { store, clock, prices }: Books,
  call: Omit<ClientCall, 'at'>,
): Promise<void> {
  await store.recordAttempt(clientAttempt({ ...call, at: clock.now() }, prices)).catch(() => {})
}
