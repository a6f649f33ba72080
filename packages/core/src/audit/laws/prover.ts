import type { AuditLine, MailRange } from '../log/line.ts'
import { judgeDelivery } from './delivery.ts'
import { AuditFindings, type AuditLawName, type Mark, WAIT_CONFIGURED } from './laws.ts'
import { SessionRecord } from './session-record.ts'
import { type ReadLine, Span, sizeOf, type TurnMark } from './span.ts'

/**
 * Proves the laws from lines. Logs are read one after another in any order, and lines of one log in
 * theirs; memory grows with sessions, acquisitions and compactions, not with lines. The time of a
 * line is never used: spans of holders follow each other by their fence, and their entry numbers
 * must agree.
 */
export interface AuditedOperation {
  readonly sessionId: string
  readonly fence: number
  readonly base: number
  started: Mark | null
  ended: Mark | null
  end: string | null
  /** The entry of the commit. */
  entry: number | null
}

/** Facts that excuse a missing line: the answer to the commit was lost and not requested again. */
export interface Vouching {
  isBorn(sessionId: string): boolean
  withdrawnFrom(sessionId: string): Iterable<MailRange>
}

export interface Figures {
  lines: number
  sessions: number
  compactions: number
  messages: number
  /** Mail acknowledged while a compaction ran. */
  meanwhile: number
  waiting: number
}

export class Prover {
  readonly findings = new AuditFindings()
  readonly sessions = new Map<string, SessionRecord>()
  readonly operations = new Map<string, AuditedOperation>()
  readonly figures: Figures = {
    lines: 0,
    sessions: 0,
    compactions: 0,
    messages: 0,
    meanwhile: 0,
    waiting: 0,
  }

  read(told: ReadLine): void {
    const { line, mark } = told
    this.figures.lines += 1
    let session = this.sessions.get(line.sessionId)
    if (session === undefined) {
      session = new SessionRecord(mark)
      this.sessions.set(line.sessionId, session)
    }
    if (line.operationId !== undefined && COMPACTION_LINE.test(line.kind)) this.#follow(told)
    switch (line.kind) {
      case 'session created':
        this.#bear(session, told)
        break
      case 'message admitted':
        this.#admit(session, line)
        break
      case 'message withdrawn':
        if (line.mailbox !== undefined) session.withdrawn.add(line.mailbox.from, line.mailbox.to)
        break
      case 'lease acquired':
        this.#acquire(session, told)
        break
      case 'compaction abandoned':
        break // reported by the next holder, about an operation of its predecessor
      default:
        this.#readHeld(session, told)
    }
  }

  /**
   * Call it after all logs were read, or earlier with separate findings if more lines may follow.
   * Facts that the store confirms need not be in the logs.
   */
  judge(store: Vouching | null = null, findings = this.findings): void {
    let waiting = 0
    for (const [sessionId, session] of this.sessions) {
      if (session.births.length === 0 && store?.isBorn(sessionId) !== true) {
        const problem = 'no line records its creation'
        findings.broken({ law: 'births', problem, sessionId, marks: [session.first] })
      }
      for (const { from, to } of store?.withdrawnFrom(sessionId) ?? [])
        session.withdrawn.add(from, to)
      judgeSpans(sessionId, session, findings)
      waiting += judgeDelivery(sessionId, session, findings)
    }
    for (const [id, operation] of this.operations) this.#judgeOperation(id, operation, findings)
    this.figures.waiting = waiting
    this.figures.sessions = this.sessions.size
    this.figures.compactions = this.operations.size
  }

  #broken(law: AuditLawName, sessionId: string, problem: string, ...marks: readonly Mark[]): void {
    this.findings.broken({ law, problem, sessionId, marks })
  }

  #bear(session: SessionRecord, { line, mark }: ReadLine): void {
    if (!BIRTHS.includes(line.reason ?? '')) {
      this.#broken('births', line.sessionId, 'it was born in a way that does not exist', mark)
    }
    if (session.births.length > 0) {
      this.#broken('births', line.sessionId, 'it was born twice', ...session.births, mark)
    }
    if (session.births.length < 2) session.births.push(mark)
  }

  #admit(session: SessionRecord, { mailbox, reason }: AuditLine): void {
    if (mailbox === undefined) return
    const lane = reason === 'user' || reason === 'notification' ? reason : 'control'
    session.admitted[lane].add(mailbox.from, mailbox.to)
    this.figures.messages += sizeOf(mailbox)
  }

  #acquire(session: SessionRecord, told: ReadLine): void {
    const { line, mark } = told
    const fence = line.fence ?? 0
    const other = session.spans.get(fence)
    if (other !== undefined) {
      const problem = `fence ${fence} was acquired twice`
      this.#broken('fences', line.sessionId, problem, other.acquired, mark)
    }
    const newest = session.newest.get(line.log) ?? 0
    if (fence < newest) {
      const problem = `fence ${fence} was acquired after fence ${newest}`
      this.#broken('fences', line.sessionId, problem, mark)
    }
    session.newest.set(line.log, Math.max(newest, fence))
    if (other !== undefined) return
    const before = session.spans.get(fence - 1)
    if (before?.log === line.log && before.isAtRest) {
      session.spans.delete(fence - 1)
      session.spans.set(fence, before)
      before.reopen(told, this.findings)
    } else session.spans.set(fence, new Span(told))
  }

  /** Lines that only the holder of the session may write. */
  #readHeld(session: SessionRecord, told: ReadLine): void {
    const { line, mark } = told
    const fence = line.fence ?? 0
    const span = session.spans.get(fence)
    if (span === undefined || span.log !== line.log) {
      const problem = `written by a process that never acquired it under fence ${fence}`
      this.#broken('isolation', line.sessionId, problem, mark)
      return
    }
    const newest = session.newest.get(line.log) ?? fence
    if (fence < newest) {
      const problem = `fence ${fence} was used after fence ${newest} was acquired`
      this.#broken('fences', line.sessionId, problem, mark)
    }
    span.read(told, this.findings)
    const { mailbox, kind } = line
    if (mailbox === undefined) return
    if (
      kind === 'message delivered' &&
      (line.reason === 'user' || line.reason === 'notification')
    ) {
      session.delivered[line.reason].add(mailbox.from, mailbox.to)
    }
    if (ENDINGS.includes(kind)) this.figures.meanwhile += sizeOf(mailbox)
  }

  /** Every line about one operation, in any log and under any session. */
  #follow({ line, mark }: ReadLine): void {
    const id = line.operationId ?? ''
    const { sessionId, fence = 0, base = 0 } = line
    let operation = this.operations.get(id)
    if (operation === undefined) {
      operation = { sessionId, fence, base, started: null, ended: null, end: null, entry: null }
      this.operations.set(id, operation)
    }
    const known = operation.started ?? operation.ended
    for (const [what, was, is] of [
      ['session', operation.sessionId, sessionId],
      ['fence', operation.fence, fence],
      ['base', operation.base, base],
    ] as const) {
      if (was === is) continue
      const problem = `the ${what} of ${id} was ${was} and then ${is}`
      this.#broken('identity', operation.sessionId, problem, ...(known ? [known] : []), mark)
    }
    const isStart = line.kind === 'compaction started'
    if (isStart) this.#judgeWait(line, mark)
    const before = isStart ? operation.started : operation.ended
    if (before !== null) {
      const problem = isStart ? `${id} started twice` : `${id} ended twice`
      this.#broken('endings', sessionId, problem, before, mark)
    } else if (isStart) operation.started = mark
    else {
      operation.ended = mark
      operation.end = line.kind.slice('compaction '.length)
      if (line.kind === 'compaction committed') operation.entry = line.entry ?? null
    }
  }

  /** Lines of earlier versions do not name the writer, so this law cannot be checked for them. */
  #judgeWait({ sessionId, operationId, trigger, by, reason }: AuditLine, mark: Mark): void {
    const isWaitedFor = trigger === 'preflight' || trigger === 'reactive'
    const isOfModel = by === 'model' || by === 'rewrite'
    if (!isWaitedFor || !isOfModel || reason === WAIT_CONFIGURED) return
    this.#broken('prompt', sessionId, `a turn waited for the model of ${operationId}`, mark)
  }

  #judgeOperation(id: string, operation: AuditedOperation, findings: AuditFindings): void {
    const { sessionId, fence, started, ended, end } = operation
    if (started !== null && ended !== null) return
    const broken = (problem: string, mark: Mark) =>
      findings.broken({ law: 'endings', problem, sessionId, marks: [mark] })
    const session = this.sessions.get(sessionId)
    const span = session?.spans.get(fence)
    if (started === null) {
      // Claimed, but the process died before it logged the claim.
      const isLate = end === 'abandoned' && span?.isClean !== true
      if (isLate) findings.open('endings', `the start of ${id}`)
      else if (ended !== null) broken(`${id} ended without having started`, ended)
      return
    }
    const isLeft = span === undefined || span.running?.id !== id || span.isClean
    const isPast = [...(session?.spans.keys() ?? [])].some((other) => other > fence)
    if (isLeft) broken(`${id} never ended`, started)
    else if (isPast) findings.open('endings', `the end of ${id}`)
  }
}

const BIRTHS: readonly string[] = ['created', 'afresh', 'imported', 'forked']
const COMPACTION_LINE = /^compaction (?:started|committed|failed|superseded|abandoned)$/
const ENDINGS: readonly string[] = [
  'compaction committed',
  'compaction failed',
  'compaction superseded',
]

/** How the holders of one session followed each other. */
function judgeSpans(sessionId: string, session: SessionRecord, findings: AuditFindings): void {
  const broken = (law: AuditLawName, problem: string, ...marks: readonly Mark[]) =>
    findings.broken({ law, problem, sessionId, marks })
  let before: Span | null = null
  let turn: TurnMark | null = null
  let isSure = true
  for (const span of session.inOrder()) {
    if (before !== null) {
      const marks = [before.last, span.acquired]
      if (span.firstFence <= before.fence) {
        broken('fences', `fence ${before.fence} had two holders`, ...marks)
      }
      if (span.firstEntry < before.lastEntry) {
        const problem = `fence ${span.fence} begins at entry ${span.firstEntry}, fence ${before.fence} was at ${before.lastEntry}`
        broken('entries', problem, ...marks)
      }
      if (span.firstBase < before.base) {
        broken('bases', `entry ${before.base} was the base, then ${span.firstBase}`, ...marks)
      }
      if (before.compactedTo > span.compactedFrom) {
        broken('overlap', `compactions under fences ${before.fence} and ${span.fence}`, ...marks)
      }
    }
    isSure &&= before === null || before.isClean
    const { inherited, firstStarted } = span
    if (inherited !== null && inherited.id !== turn?.id) {
      if (!isSure) findings.open('endings', `the start of ${inherited.id}`)
      else broken('endings', `${inherited.id} ended without having started`, inherited.mark)
    }
    if (inherited === null && firstStarted !== null && turn !== null) {
      if (!isSure) findings.open('endings', `the end of ${turn.id}`)
      else broken('endings', `${turn.id} never ended`, turn.mark, firstStarted.mark)
    }
    if (inherited !== null || firstStarted !== null) {
      turn = span.turn
      isSure = true
    }
    before = span
  }
}
