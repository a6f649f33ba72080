import type { SessionId } from '../base/ids.ts'
import { Recent } from '../base/recent.ts'
import type { Notice } from '../session/state.ts'
import type { SessionRow } from '../store/rows.ts'
import type { LiveEvent } from './runtime.ts'

const SESSIONS_MAX = 10_000

interface Noted {
  readonly id: SessionId
  readonly turn: number
  readonly notice: Notice
  /** Whether people are told of it. */
  readonly isTold: boolean
}

/** What a person is told who waits. */
export type WaitNotice = Extract<LiveEvent, { kind: 'notice' }>
type Asking = Pick<SessionRow, 'id' | 'turn' | 'runner'>

/**
 * What turns wait for, as far as this process knows: noted when a person is told, over when the turn
 * says something. It counts only for that turn and only while this process holds the session; of a
 * turn that ended otherwise, or went on elsewhere, nobody need tell us.
 */
export class Waits {
  readonly #noted = new Recent<SessionId, Noted>(SESSIONS_MAX)

  note(noted: Noted): void {
    this.#noted.set(noted.id, noted)
  }

  end(id: SessionId): void {
    this.#noted.delete(id)
  }

  of({ id, turn, runner }: Asking, ourselves: SessionRow['runner']): Notice | undefined {
    const noted = this.#noted.get(id)
    return noted?.turn === turn && runner === ourselves ? noted.notice : undefined
  }

  /** Sessions of which people were told that they wait; whether they still do is to be asked. */
  get told(): readonly SessionId[] {
    return [...this.#noted.values()].flatMap(({ id, isTold }) => (isTold ? [id] : []))
  }

  /** What was told and still holds, for somebody who was not there. One that is over is forgotten. */
  noticeOf(session: Asking, ourselves: SessionRow['runner']): WaitNotice | undefined {
    const notice = this.of(session, ourselves)
    if (notice === undefined) this.end(session.id)
    const { isTold = false } = this.#noted.get(session.id) ?? {}
    return notice === undefined || !isTold ? undefined : waitNotice(session.turn, notice)
  }
}

export function waitNotice(turn: number, code: Notice): WaitNotice {
  return { kind: 'notice', turn, code, text: NOTICES[code] }
}

const NOTICES: { readonly [notice in Notice]: string } = {
  'waiting-for-compaction':
    'Your message is safe. I am putting a long conversation in order and will answer right after.',
  'waiting-for-model':
    'Your message is safe. The model cannot be reached just now; I will answer when it is back.',
}
