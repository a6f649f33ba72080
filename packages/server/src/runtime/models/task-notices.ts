import type { SessionId } from '#core/base/ids'
import { Recent } from '#core/base/recent'
import type { LiveEvent } from '#core/session/events/runtime-event'

type Notice = Extract<LiveEvent, { kind: 'notice' }>
export type TaskNoticeCode = Extract<
  Notice['code'],
  'stop-deferred' | 'budget-spent' | 'message-shortened'
>

const SESSIONS_MAX = 10_000

/**
 * Notices beside the answer. Each is shown once, in the turn that it belongs to. An exhausted
 * budget is reported once per process.
 */
export class TaskNotices {
  readonly #onLive: (sessionId: SessionId, event: LiveEvent) => void
  readonly #turns = new Recent<SessionId, number>(SESSIONS_MAX)
  readonly #told = new Recent<string, true>(SESSIONS_MAX)

  constructor(onLive: (sessionId: SessionId, event: LiveEvent) => void) {
    this.#onLive = onLive
  }

  noteTurn(sessionId: SessionId, turn: number): void {
    this.#turns.set(sessionId, turn)
  }

  notify(sessionId: SessionId, code: TaskNoticeCode): void {
    const turn = this.#turns.get(sessionId) ?? 0
    const key = JSON.stringify(
      code === 'budget-spent' ? [sessionId, code] : [sessionId, code, turn],
    )
    if (this.#told.has(key)) return
    this.#told.set(key, true)
    this.#onLive(sessionId, { kind: 'notice', turn, code, text: TEXTS[code] })
  }
}

const TEXTS: { readonly [code in TaskNoticeCode]: string } = {
  'stop-deferred':
    'The summary of our conversation will still be finished, so that nothing is lost.',
  'budget-spent':
    'The budget for work beside our conversation is used up for now. Until there is more, summaries are made without a model; titles and descriptions of images wait.',
  'message-shortened':
    'Your message is stored whole, but it is too long for the model: it sees the beginning and the end. Send it in parts, or name a file or a page that it can read.',
}
