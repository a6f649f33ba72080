import type { SessionId } from '#core/base/ids'
import { Recent } from '#core/base/recent'
import type { CurrentNotice, WaitNotice } from '#core/session/events/runtime-event'
import type { Notice } from '#core/session/protocol/state'
import type { Reads } from '#core/store/contract'
import { DamagedRowError } from '#core/store/errors'
import type { SessionRow } from '#core/store/tables/rows'
import { failureIn } from '../../auxiliary/breaker.ts'
import { explainOutcome, prospectOf } from '../../model/outcomes/outcome.ts'
import { calledIn } from '../../model/routes/route.ts'
import type { SpendingTurn } from '../models/spend-caps.ts'
import { TURN } from '../models/turn-calls.ts'

const SESSIONS_MAX = 10_000
const LONG_RETRY_MS = 5_000

interface Noted {
  readonly id: SessionId
  readonly turn: number
  readonly notice: Notice
  /** Whether people get a notice. */
  readonly isVisible: boolean
  readonly why?: string
  readonly nextTryAt?: number
}

type Turn = Pick<SessionRow, 'id' | 'turn' | 'turnState' | 'runner'>

/** The sources of the reason why a turn of another process waits. */
export interface WaitEvidence {
  readonly store: Pick<Reads, 'readAttempts'>
  /** Why the limits let this turn call no model now; null: they do. */
  readonly reasonToPause: (turn: SpendingTurn) => Promise<string | null>
}

/**
 * Why turns wait, as far as this process knows: recorded with the notice, cleared when the turn
 * writes. A reason is valid only for its turn and only while this process holds the session, so a
 * turn that ended otherwise or continued elsewhere needs no cleanup.
 */
export class WaitNotices {
  readonly #noted = new Recent<SessionId, Noted>(SESSIONS_MAX)

  note(noted: Noted): void {
    this.#noted.set(noted.id, noted)
  }

  /** The next try within one model call: a provider may ask for a minute. Short pauses are no news. */
  noteRetry(
    id: SessionId,
    { turn, text: why, nextTryAt = 0 }: Pick<WaitNotice, 'turn' | 'text' | 'nextTryAt'>,
    now: number,
  ): void {
    if (nextTryAt - now < LONG_RETRY_MS) return
    this.note({ id, turn, notice: 'waiting-for-model', isVisible: true, why, nextTryAt })
  }

  end(id: SessionId): void {
    this.#noted.delete(id)
  }

  of(session: Turn, ourselves: SessionRow['runner']): WaitNotice | undefined {
    const noted = this.#find(session, ourselves)
    return noted && waitNotice(noted)
  }

  /** Also why a turn that this process does not hold waits, as far as the store says. */
  async ofAny(
    evidence: WaitEvidence,
    session: Turn & Pick<SessionRow, 'agent'>,
    ourselves: SessionRow['runner'],
  ): Promise<WaitNotice | undefined> {
    return ourselves !== null && session.runner === ourselves
      ? this.of(session, ourselves)
      : await readWaitElsewhere(evidence, session)
  }

  /** The notices that are still valid, for new listeners. */
  async readCurrent(
    store: Pick<Reads, 'findSession'>,
    { only, ourselves }: { only: SessionId | undefined; ourselves: SessionRow['runner'] },
  ): Promise<readonly CurrentNotice[]> {
    const current: CurrentNotice[] = []
    for (const { id, isVisible: isTold } of [...this.#noted.values()]) {
      if (!isTold || (only ?? id) !== id) continue
      const session = await findReadable(store, id)
      if (session === undefined) continue
      const noted = this.#find(session, ourselves)
      if (noted?.isVisible) current.push({ sessionId: id, ...waitNotice(noted) })
      else this.#forgetIfOver(session)
    }
    return current
  }

  /** A later turn than the row's was recorded after the row was read; it still waits. */
  #forgetIfOver({ id, turn, turnState }: Turn): void {
    const waitedIn = this.#noted.get(id)?.turn ?? turn
    if (waitedIn < turn || (waitedIn === turn && turnState === 'idle')) this.end(id)
  }

  #find({ id, turn, turnState, runner }: Turn, ourselves: SessionRow['runner']): Noted | undefined {
    const noted = this.#noted.get(id)
    const holds = noted?.turn === turn && turnState === 'running' && runner === ourselves
    return holds ? noted : undefined
  }
}

/**
 * Why a turn of another process waits: it has spent what it may, or its last model call failed and is
 * tried again. When the next try is, and whether its answer has begun, only that process knows.
 */
async function readWaitElsewhere(
  { store, reasonToPause }: WaitEvidence,
  { id: sessionId, agent, turn, turnState }: Turn & Pick<SessionRow, 'agent'>,
): Promise<WaitNotice | undefined> {
  if (turnState !== 'running') return undefined
  const spent = await reasonToPause({ sessionId, agent, turn })
  if (spent !== null) return waitNotice({ turn, notice: 'waiting-for-approval', why: spent })
  const [last] = await store.readAttempts({ sessionId, task: TURN, since: 0, limit: 1 })
  const failure = last?.turn === turn ? failureIn(last.outcome) : null
  if (last === undefined || failure === null || prospectOf(failure) !== 'heals') return undefined
  const why = explainOutcome(failure, calledIn(last.modelRoute))
  return waitNotice({ turn, notice: 'waiting-for-model', why })
}

/** A damaged row must not end the stream of all other sessions. */
async function findReadable(
  store: Pick<Reads, 'findSession'>,
  id: SessionId,
): Promise<SessionRow | undefined> {
  try {
    return await store.findSession(id)
  } catch (error) {
    if (error instanceof DamagedRowError) return undefined
    throw error
  }
}

export function waitNotice({
  turn,
  notice: code,
  why,
  nextTryAt,
}: Omit<Noted, 'id' | 'isVisible'>): WaitNotice {
  const text = NOTICES[code](why ?? '')
  return { kind: 'notice', turn, code, text, ...(nextTryAt !== undefined && { nextTryAt }) }
}

const NOTICES: { readonly [notice in Notice]: (why: string) => string } = {
  'waiting-for-compaction': () =>
    'Your message is safe. I am putting a long conversation in order and will answer right after.',
  'waiting-for-model': (why) =>
    `${why === '' ? 'The model cannot be reached just now.' : why} Your message is safe; I will answer when the model is back.`,
  'waiting-for-approval': (why) =>
    `Paused. ${why} The operator can allow the same amount once more, on the page or with /continue in the terminal; /stop ends this turn.`,
}
