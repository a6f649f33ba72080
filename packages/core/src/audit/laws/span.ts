import type { InputLane } from '../../store/tables/rows.ts'
import type { AuditLine, MailRange } from '../log/line.ts'
import type { AuditFindings, AuditLawName, Mark } from './laws.ts'

/**
 * What one holder logged about one session under one fence. It is all in one log, in order, so it
 * is checked while it is read and only a summary is kept. The order of spans is checked after all
 * logs were read, by fence and entry and never by a clock.
 */
export interface ReadLine {
  readonly line: AuditLine
  readonly mark: Mark
}

export interface TurnMark {
  readonly id: string
  readonly mark: Mark
}

/** Mail acknowledged during a compaction that the next turn may have failed to take. */
export interface LeftWaiting extends MailRange {
  readonly marks: readonly Mark[]
}

const LANES = ['user', 'notification'] as const satisfies readonly InputLane[]

interface Owed {
  readonly mailbox: MailRange
  readonly mark: Mark
  turn: string | null
}

export class Span {
  readonly log: string
  readonly firstFence: number
  fence: number
  readonly acquired: Mark
  readonly firstEntry: number
  readonly firstBase: number
  lastEntry: number
  base: number
  /** Why the holder released the session; null: not logged. */
  end: string | null = null
  last: Mark
  /** The running compaction, and the range of entries of all compactions so far. */
  running: { readonly id: string; readonly mark: Mark } | null = null
  compactedFrom = Number.POSITIVE_INFINITY
  compactedTo = 0
  turn: TurnMark | null = null
  /** The first turn line, when it ends a turn that an earlier holder began. */
  inherited: TurnMark | null = null
  firstStarted: TurnMark | null = null
  readonly delivered: Record<InputLane, { first: Mark; from: number; to: number } | null> = {
    user: null,
    notification: null,
  }
  leftWaiting: LeftWaiting[] | null = null
  #appended: number
  #owed: Owed[] | null = null
  #tookUserMail = false
  #turnEndedAt: number | null = null
  #open: OpenMail | null = null

  constructor({ line, mark }: ReadLine) {
    this.log = line.log
    this.firstFence = line.fence ?? 0
    this.fence = this.firstFence
    this.acquired = mark
    this.last = mark
    this.firstEntry = line.entry ?? 0
    this.lastEntry = this.firstEntry
    this.#appended = this.firstEntry
    this.firstBase = line.base ?? 0
    this.base = this.firstBase
  }

  /** The holder released an idle session, so nothing can have happened without a line. */
  get isClean(): boolean {
    return this.end === 'released'
  }

  /** Whether the next acquisition by the same process can continue this summary. */
  get isAtRest(): boolean {
    return this.isClean && this.running === null && this.turn === null
  }

  /**
   * The same process acquires a session that it had released cleanly. No other holder was in
   * between, so both share one summary: releasing a session after every turn costs no memory.
   */
  reopen({ line, mark }: ReadLine, findings: AuditFindings): void {
    const broken = (law: AuditLawName, problem: string) =>
      findings.broken({ law, problem, sessionId: line.sessionId, marks: [this.last, mark] })
    const { entry = 0, base = 0 } = line
    if (entry < this.lastEntry) broken('entries', `entry ${entry} comes after ${this.lastEntry}`)
    if (base < this.base) broken('bases', `entry ${this.base} was the base, then ${base}`)
    this.fence = line.fence ?? this.fence
    this.end = null
    this.last = mark
    this.lastEntry = Math.max(this.lastEntry, entry)
    this.#appended = Math.max(this.#appended, entry)
    this.base = Math.max(this.base, base)
  }

  read(told: ReadLine, findings: AuditFindings): void {
    const { line, mark } = told
    const broken = (law: AuditLawName, problem: string, ...others: readonly Mark[]) =>
      findings.broken({ law, problem, sessionId: line.sessionId, marks: [...others, mark] })
    if (this.end !== null) {
      broken('fences', `fence ${this.fence} was given up, and then used again`, this.last)
    }
    this.#checkEntry(told, broken)
    this.last = mark
    switch (line.kind) {
      case 'message delivered':
        this.#deliver(told, broken)
        this.#open ??= new OpenMail()
        this.#open.deliver(told)
        break
      case 'context shown':
        this.#open?.judge(line, broken)
        break
      case 'turn started':
        this.#startTurn(told, broken)
        break
      case 'turn ended':
        this.#endTurn(told, broken)
        this.#open = this.#open?.endTurn(line) ?? null
        break
      case 'compaction started':
        this.#startCompaction(told, broken)
        break
      case 'compaction committed':
      case 'compaction failed':
      case 'compaction superseded':
        this.#endCompaction(told)
        break
      case 'compaction reverted':
        this.base = line.entry ?? this.base
        break
      case 'lease lost':
        this.end = line.reason ?? 'lost'
        break
      default:
        break // lines that other processes may also write are not part of a span
    }
  }

  #checkEntry({ line }: ReadLine, broken: Break): void {
    const { entry, kind } = line
    if (entry === undefined) return
    const count = kind === 'message delivered' && line.mailbox ? sizeOf(line.mailbox) : 1
    if (entry < this.lastEntry) {
      broken('entries', `entry ${entry} comes after entry ${this.lastEntry}`, this.last)
    } else if (APPENDING.includes(kind)) {
      if (entry - count < this.#appended) {
        broken('entries', `entry ${entry - count + 1} occurs twice`, this.last)
      }
      this.#appended = entry
    }
    this.lastEntry = Math.max(this.lastEntry, entry)
  }

  #deliver({ line, mark }: ReadLine, broken: Break): void {
    const { mailbox, reason } = line
    const lane = LANES.find((name) => name === reason)
    if (mailbox === undefined || lane === undefined) {
      broken('delivery', 'mail of a lane that is never delivered')
      return
    }
    const before = this.delivered[lane]
    if (before === null) this.delivered[lane] = { first: mark, ...mailbox }
    else {
      if (mailbox.from <= before.to) {
        broken('delivery', `message ${mailbox.from} comes after message ${before.to}, or twice`)
      }
      before.to = Math.max(before.to, mailbox.to)
    }
    if (lane === 'user') this.#tookUserMail = true
  }

  #startTurn({ line, mark }: ReadLine, broken: Break): void {
    const id = line.operationId ?? ''
    if (this.turn !== null) {
      broken('endings', `${this.turn.id} never ended, and ${id} started`, this.turn.mark)
    }
    this.turn = { id, mark }
    this.firstStarted ??= this.turn
    // A turn that begins in the commit that ended the last one answers its own input.
    if (line.entry === this.#turnEndedAt) return
    for (const owed of this.#owed ?? []) owed.turn ??= id
  }

  #endTurn({ line, mark }: ReadLine, broken: Break): void {
    const id = line.operationId ?? ''
    if (this.turn === null && this.firstStarted === null && this.inherited === null) {
      this.inherited = { id, mark }
    } else if (this.turn === null) broken('endings', `${id} ended without having started`)
    else if (this.turn.id !== id) {
      broken('identity', `${this.turn.id} started, and ${id} ended`, this.turn.mark)
    }
    this.turn = null
    this.#settleOwed({ line, mark }, id)
    this.#tookUserMail = false
    this.#turnEndedAt = line.entry ?? null
  }

  /** The next turn takes the waiting mail, people's first, up to its limit. */
  #settleOwed({ line, mark }: ReadLine, turn: string): void {
    if (this.#owed === null) return
    for (const owed of this.#owed) {
      const taken = this.delivered.user?.to ?? 0
      if (owed.turn !== turn || this.#tookUserMail || line.reason !== 'answered') continue
      if (owed.mailbox.to <= taken) continue
      const from = Math.max(owed.mailbox.from, taken + 1)
      this.leftWaiting ??= []
      this.leftWaiting.push({ from, to: owed.mailbox.to, marks: [owed.mark, mark] })
    }
    this.#owed = this.#owed.filter((owed) => owed.turn !== turn)
  }

  #startCompaction({ line, mark }: ReadLine, broken: Break): void {
    const id = line.operationId ?? ''
    if (this.running !== null) {
      broken('overlap', `${id} started while ${this.running.id} ran`, this.running.mark)
    }
    const base = line.base ?? 0
    if (base < this.base) {
      broken('bases', `${id} starts from entry ${base}, but entry ${this.base} is newer`)
    }
    this.running = { id, mark }
    this.compactedFrom = Math.min(this.compactedFrom, line.entry ?? 0)
  }

  #endCompaction({ line, mark }: ReadLine): void {
    const entry = line.entry ?? 0
    if (this.running?.id === line.operationId) this.running = null
    if (line.kind === 'compaction committed') this.base = entry
    this.compactedTo = Math.max(this.compactedTo, entry)
    if (line.mailbox === undefined) return
    this.#owed ??= []
    this.#owed.push({ mailbox: line.mailbox, mark, turn: null })
  }
}

export type Break = (law: AuditLawName, problem: string, ...others: readonly Mark[]) => void

/** Kinds whose entry is theirs alone: no other line may claim it. */
const APPENDING: readonly string[] = [
  'message delivered',
  'turn ended',
  'compaction committed',
  'compaction reverted',
]

export function sizeOf({ from, to }: MailRange): number {
  return to - from + 1
}

/**
 * Mail that one holder delivered and whose turn has not ended: every context that it logs must
 * contain each message whole, or one alone in shortened form (I34). Deliveries of earlier holders
 * are unknown here; the store checks those.
 */
class OpenMail {
  #runs: (MailRange & { readonly firstEntry: number })[] = []
  /** The newest entry in any context so far. */
  #upto = 0

  deliver({ line }: ReadLine): void {
    const { mailbox, entry } = line
    if (mailbox === undefined || entry === undefined) return
    this.#runs.push({ ...mailbox, firstEntry: entry - (mailbox.to - mailbox.from) })
  }

  judge({ operationId, entry = 0, whole, clipped = [] }: AuditLine, broken: Break): void {
    this.#upto = Math.max(this.#upto, entry)
    if (whole === undefined) return
    const due = this.#runs.flatMap(({ from, to, firstEntry }) =>
      Array.from(
        { length: Math.min(to, from + entry - firstEntry) - from + 1 },
        (_, at) => from + at,
      ),
    )
    const missing = due.find((number) => !isIn(whole, number) && !isIn(clipped, number))
    if (missing !== undefined) {
      broken(
        'unanswered',
        `message ${missing} is unanswered, and a context of ${operationId} lacks it`,
      )
    }
    const short = due.find((number) => isIn(clipped, number))
    if (short !== undefined && due.length > 1) {
      broken(
        'unanswered',
        `message ${short} is unanswered and was shortened although other messages were present`,
      )
    }
  }

  /** Null: no message is open. Only an answer shows how far the turn got. */
  endTurn({ reason }: AuditLine): OpenMail | null {
    if (reason !== 'answered') return null
    const upto = this.#upto
    this.#runs = this.#runs.filter(({ from, to, firstEntry }) => firstEntry + to - from > upto)
    return this.#runs.length === 0 ? null : this
  }
}

function isIn(ranges: readonly MailRange[], number: number): boolean {
  return ranges.some(({ from, to }) => from <= number && number <= to)
}
