import type { SessionId } from '../base/ids.ts'
import { Recent } from '../base/recent.ts'
import type { Notice } from '../session/state.ts'
import type { SessionRow } from '../store/rows.ts'

const SESSIONS_MAX = 10_000

/**
 * What turns wait for, as far as this process knows: noted when a person is told, over when the turn
 * says something. It counts only for that turn and only while this process holds the session; of a
 * turn that ended otherwise, or went on elsewhere, nobody need tell us.
 */
export class Waits {
  readonly #noted = new Recent<SessionId, { readonly turn: number; readonly notice: Notice }>(
    SESSIONS_MAX,
  )

  note(id: SessionId, turn: number, notice: Notice): void {
    this.#noted.set(id, { turn, notice })
  }

  end(id: SessionId): void {
    this.#noted.delete(id)
  }

  of(
    { id, turn, runner }: Pick<SessionRow, 'id' | 'turn' | 'runner'>,
    ourselves: SessionRow['runner'],
  ): Notice | undefined {
    const noted = this.#noted.get(id)
    return noted?.turn === turn && runner === ourselves ? noted.notice : undefined
  }
}

/** What the person who waits is told. */
export const NOTICES: { readonly [notice in Notice]: string } = {
  'waiting-for-compaction':
    'Your message is safe. I am putting a long conversation in order and will answer right after.',
  'waiting-for-model':
    'Your message is safe. The model cannot be reached just now; I will answer when it is back.',
}
