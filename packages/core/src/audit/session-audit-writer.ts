import type { JsonObject } from '../base/json.ts'
import type { MailRange } from './log/line.ts'
import { type AuditWriter, type OperationIdentity, operationIdentity } from './log/log.ts'

/**
 * Writes the audit lines of one session under one lease. The holder calls it with every view of the
 * session that it reads. A line is written when its effect appears in a view, so a commit whose
 * answer was lost is still logged, and one that never happened is not. At most one commit lies
 * between two views.
 *
 * The types below list only the fields of the store's rows that are needed.
 */
export interface PictureFacts {
  readonly session: SessionFacts
  /** Mail that may be delivered next. */
  readonly waiting: readonly { readonly number: number; readonly lane: string }[]
  /** Newest first. */
  readonly operations: readonly OperationFacts[]
  readonly context?: { readonly tokens: number }
}

export interface SessionFacts {
  readonly tail: number
  readonly base: number
  /** The compaction in effect. */
  readonly effective: number
  readonly mail: number
  readonly delivered: Readonly<Record<'user' | 'notification', number>>
  readonly turn: number
  readonly turnState: 'idle' | 'running'
}

export interface OperationFacts {
  readonly id: string
  readonly fence: number
  readonly base: number
  readonly trigger: string
  readonly by: string
  readonly reason: string
  readonly state: 'running' | 'committed' | 'failed' | 'superseded' | 'abandoned'
  readonly result: JsonObject
}

/** Unanswered mail in a context, by number, oldest first: whole, and shortened. */
export interface VisibleMail {
  readonly whole: readonly number[]
  readonly clipped: readonly number[]
}

export type LeaseEnd = 'released' | 'shutdown' | 'lost' | 'crashed'

interface Followed {
  readonly identity: OperationIdentity
  readonly mail: number
  isEnded: boolean
}

export class SessionTrail {
  readonly #log: AuditWriter
  readonly #lease: { readonly sessionId: string; readonly fence: number }
  readonly #abandoned: string | null
  readonly #operations = new Map<string, Followed>()
  #turnEnd: string | null = null
  #shown = ''
  #before: PictureFacts | null = null
  #isOver = false

  constructor(
    log: AuditWriter,
    lease: { readonly sessionId: string; readonly fence: number },
    abandoned: string | null,
  ) {
    this.#log = log
    this.#lease = Object.freeze({ sessionId: lease.sessionId, fence: lease.fence })
    this.#abandoned = abandoned
  }

  /** Call it before a commit that would end the turn, with the outcome, which no view shows. */
  endsTurn(how: 'answered' | 'stopped' | 'failed'): void {
    this.#turnEnd = how
  }

  /** Call it with every view, before anything is decided from it. */
  looked(picture: PictureFacts): void {
    if (this.#isOver) return
    const before = this.#before
    if (before === null) this.#tellAcquired(picture)
    else {
      this.#tellDelivered(before, picture)
      this.#tellTurn(before.session, picture.session)
    }
    this.#tellOperations(picture)
    // After the compaction that a revert superseded in the same commit.
    if (before !== null) this.#tellReverted(before.session, picture.session)
    this.#turnEnd = null
    this.#before = picture
  }

  /** Call it before a step begins with this context; logged if it differs from the last one. */
  shows(turn: number, entry: number, mail: VisibleMail): void {
    const { base = 0 } = this.#before?.session ?? {}
    const [whole, clipped] = [rangesOf(mail.whole), rangesOf(mail.clipped)]
    const shown = JSON.stringify([turn, base, whole, clipped])
    if (this.#isOver || shown === this.#shown) return
    this.#shown = shown
    const told = { operationId: turnName(turn), entry, base, whole, clipped }
    this.#log.write({ kind: 'context shown', ...this.#lease, ...told })
  }

  /** Call it once, when the session is released or lost; nothing is logged afterwards. */
  lost(reason: LeaseEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    // Nothing was logged under this lease, not even its acquisition.
    if (this.#before !== null) this.#log.write({ kind: 'lease lost', ...this.#lease, reason })
  }

  #tellAcquired({ session, operations }: PictureFacts): void {
    const gone = operations.find(({ id }) => id === this.#abandoned)
    // Before our own first line, so that its reader also finds the end of the predecessor.
    if (gone !== undefined) {
      const reason = textOf(gone.result['reason']) ?? 'owner gone'
      const identity = this.#identityOf(gone)
      this.#log.write({ kind: 'compaction abandoned', ...identity, entry: session.tail, reason })
    }
    const { tail: entry, base } = session
    this.#log.write({ kind: 'lease acquired', ...this.#lease, entry, base })
  }

  /** Logs mail that waited and is now before the lane's cursor: lanes are delivered in order. */
  #tellDelivered(before: PictureFacts, { session }: PictureFacts): void {
    const runs: { lane: string; from: number; to: number }[] = []
    for (const { number, lane } of before.waiting) {
      if (lane !== 'user' && lane !== 'notification') continue
      if (number <= before.session.delivered[lane] || number > session.delivered[lane]) continue
      const last = runs.at(-1)
      if (last?.lane === lane && last.to === number - 1) last.to = number
      else runs.push({ lane, from: number, to: number })
    }
    let entry = before.session.tail
    for (const { lane, from, to } of runs) {
      entry += to - from + 1
      const told = { entry, mailbox: { from, to }, reason: lane }
      this.#log.write({ kind: 'message delivered', ...this.#lease, ...told })
    }
  }

  #tellTurn(before: SessionFacts, now: SessionFacts): void {
    const { tail: entry, base } = now
    const isOther = now.turn !== before.turn
    if (before.turnState === 'running' && (isOther || now.turnState === 'idle')) {
      const operationId = turnName(before.turn)
      const reason = this.#turnEnd ?? 'unknown'
      this.#log.write({ kind: 'turn ended', ...this.#lease, operationId, entry, base, reason })
    }
    if (isOther && now.turnState === 'running') {
      const operationId = turnName(now.turn)
      this.#log.write({ kind: 'turn started', ...this.#lease, operationId, entry, base })
    }
  }

  /** Only a revert puts an older compaction into effect. */
  #tellReverted(before: SessionFacts, now: SessionFacts): void {
    if (now.effective >= before.effective) return
    const told = { entry: now.base, base: before.effective }
    this.#log.write({ kind: 'compaction reverted', ...this.#lease, ...told })
  }

  #tellOperations(picture: PictureFacts): void {
    const { session } = picture
    for (const row of picture.operations.toReversed()) {
      if (row.fence !== this.#lease.fence) continue
      const followed = this.#operations.get(row.id) ?? this.#tellStarted(row, picture)
      // An abandoned compaction has a next holder, which logs it.
      if (followed.isEnded || row.state === 'running' || row.state === 'abandoned') continue
      followed.isEnded = true
      this.#tellEnded(row, followed, session)
    }
    const known = new Set(picture.operations.map(({ id }) => id))
    for (const id of this.#operations.keys()) if (!known.has(id)) this.#operations.delete(id)
  }

  #tellStarted(row: OperationFacts, { session, waiting, context }: PictureFacts): Followed {
    const identity = this.#identityOf(row)
    const numbers = waiting.map(({ number }) => number)
    this.#log.write({
      kind: 'compaction started',
      ...identity,
      entry: session.tail,
      mailbox: mailRange(Math.min(...numbers), Math.max(...numbers)),
      trigger: row.trigger,
      by: row.by,
      tokensBefore: context?.tokens,
      reason: row.reason,
    })
    const followed = { identity, mail: session.mail, isEnded: false }
    this.#operations.set(row.id, followed)
    return followed
  }

  #tellEnded(row: OperationFacts, { identity, mail }: Followed, session: SessionFacts): void {
    const { result } = row
    const entry = countOf(result['entry']) ?? session.tail
    const told = { ...identity, entry, mailbox: mailRange(mail + 1, session.mail) }
    if (row.state === 'committed') {
      this.#log.write({
        kind: 'compaction committed',
        ...told,
        tokensBefore: countOf(result['tokensBefore']),
        tokensAfter: countOf(result['tokensAfter']),
        messagesBefore: countOf(result['messagesBefore']),
        messagesAfter: countOf(result['messagesAfter']),
      })
    } else if (row.state !== 'running') {
      const reason = textOf(result['reason']) ?? row.state
      this.#log.write({ kind: `compaction ${row.state}`, ...told, reason })
    }
  }

  #identityOf({ id, fence, base }: OperationFacts): OperationIdentity {
    const { sessionId } = this.#lease
    return operationIdentity({ operationId: id, sessionId, fence, base })
  }
}

export function turnName(turn: number): string {
  return `turn-${turn}`
}

function rangesOf(numbers: readonly number[]): readonly MailRange[] {
  const ranges: { from: number; to: number }[] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && last.to === number - 1) last.to = number
    else ranges.push({ from: number, to: number })
  }
  return ranges
}

function mailRange(from: number, to: number): MailRange | undefined {
  return from <= to ? { from, to } : undefined
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
