import type { ChildProcess } from 'node:child_process'
import { type Clock, pause } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import type { SessionId } from '#core/base/ids'
import { clip, indentLines } from '#core/base/line'
import type { Commits, Reads } from '#core/store/contract'
import { noticeBody } from '../own-mail.ts'
import type { ToolCall } from '../tool.ts'
import { Child, type ChildEnd, type ChildLimits } from './child.ts'
import {
  compilePatterns,
  Matches,
  type MatchNotice,
  NOTICE_LIMITS,
  type NoticeLimits,
} from './matches.ts'
import { endGroup, endStraysNow, processMark, startGroup } from './posix.ts'
import { ProgramRecords, programId, type RecordStore, type RecordsParts } from './records.ts'
import { Watchdog } from './watchdog.ts'

export interface ProcessLimits extends ChildLimits {
  readonly runningPerSessionMax: number
  readonly runningMax: number
  /** How many ended programs are kept, of one session and in total; each keeps its output in memory. */
  readonly endedPerSessionMax: number
  readonly endedMax: number
}

export const PROCESS_LIMITS: ProcessLimits = {
  timeMs: 3_600_000,
  outputBytesMax: 64 * 1024 * 1024,
  keptCharactersMax: 200_000,
  graceMs: 5_000,
  runningPerSessionMax: 8,
  runningMax: 64,
  endedPerSessionMax: 20,
  endedMax: 100,
}

export interface ProcessesParts extends RecordsParts {
  readonly store: RecordStore & Pick<Commits & Reads, 'admit' | 'findSession'>
  readonly clock: Clock
  readonly limits?: ProcessLimits
  readonly notices?: NoticeLimits
  /** A session received a notification. */
  readonly onAdmitted?: (sessionId: SessionId) => void
  readonly onCrash?: (error: unknown) => void
}

export interface Start {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly watch: readonly string[]
  readonly timeMs: number
  readonly reportsEnd: boolean
}

export type Started =
  | { readonly kind: 'started'; readonly job: Job }
  | { readonly kind: 'refused'; readonly problem: string }

/** One program of one session. */
export interface Job {
  readonly id: string
  readonly sessionId: SessionId
  readonly agent: string
  /** For people and models: program and arguments, clipped. */
  readonly title: string
  readonly reportsEnd: boolean
  /** Whether the store has a record of it: the agent waits for its end or for a line. */
  readonly isRecorded: boolean
  readonly child: Child
  readonly matches: Matches
}

const TITLE_MAX = 120

/**
 * All programs that this runtime's agents run in the background. They end with it: in order when it
 * closes, by an exit hook when it just ends, by the watchdog when it is killed. They end with their
 * session too. Programs of a process that was killed are reported by the next one, from the store.
 */
export class Processes {
  readonly #parts: ProcessesParts
  readonly #limits: ProcessLimits
  readonly #jobs = new Map<string, Job>()
  readonly #records: ProgramRecords
  readonly #watchdog = new Watchdog()
  readonly #work = new Set<Promise<void>>()
  /** Programs about to start: the calls of one reply arrive together. */
  readonly #starting: SessionId[] = []
  readonly #closing = new AbortController()
  /** Whether it was stopped because the runtime closes. */
  readonly #endedHere = new Set<string>()
  #notices = 0
  readonly #endAll = () => {
    for (const { child } of this.#running()) {
      const mark = processMark(child.pid)
      endGroup(child.pid, 'force')
      if (mark !== undefined) endStraysNow(mark)
    }
  }

  constructor(parts: ProcessesParts) {
    this.#parts = parts
    this.#limits = parts.limits ?? PROCESS_LIMITS
    this.#records = new ProgramRecords(parts)
  }

  get limits(): ProcessLimits {
    return this.#limits
  }

  async start(call: Omit<ToolCall, 'input'>, wanted: Start): Promise<Started> {
    const { sessionId } = call
    const problem = this.#problem(sessionId)
    if (problem !== null) return { kind: 'refused', problem }
    this.#starting.push(sessionId)
    try {
      return await this.#start(call, wanted)
    } finally {
      this.#starting.splice(this.#starting.indexOf(sessionId), 1)
    }
  }

  async #start(call: Omit<ToolCall, 'input'>, wanted: Start): Promise<Started> {
    const compiled = compilePatterns(wanted.watch)
    if (compiled.kind === 'refused') {
      return { kind: 'refused', problem: `The pattern ${compiled.pattern}: ${compiled.problem}` }
    }
    const title = clip([wanted.program, ...wanted.args].join(' '), TITLE_MAX)
    const program = { id: programId(call), sessionId: call.sessionId, title }
    const isRecorded = wanted.reportsEnd || wanted.watch.length > 0
    const problem = isRecorded ? await this.#records.open(program) : null
    if (problem !== null) return { kind: 'refused', problem }
    const begun = await begin(wanted)
    if (begun.kind === 'failed') {
      if (isRecorded) await this.#records.cancel(program)
      return { kind: 'refused', problem: `${wanted.program} did not start (${begun.code}).` }
    }
    const matches = new Matches(compiled.patterns, this.#parts.notices ?? NOTICE_LIMITS)
    const limits = { ...this.#limits, timeMs: Math.min(wanted.timeMs, this.#limits.timeMs) }
    const { clock } = this.#parts
    const child = new Child(begun, { clock, limits, matches, onMatch: () => this.#reportSoon(job) })
    const { agent } = call
    const job: Job = {
      ...program,
      agent,
      reportsEnd: wanted.reportsEnd,
      isRecorded,
      child,
      matches,
    }
    if (this.#jobs.size === 0) process.on('exit', this.#endAll)
    this.#jobs.set(job.id, job)
    this.#watchdog.add(child.pid)
    this.#own(this.#follow(job))
    if (this.#isClosed) this.#endHere(job)
    return { kind: 'started', job }
  }

  find(sessionId: SessionId, id: string): Job | undefined {
    const job = this.#jobs.get(id)
    return job?.sessionId === sessionId ? job : undefined
  }

  list(sessionId: SessionId): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => job.sessionId === sessionId)
  }

  /** Programs of this session that no process holds in memory, each with its outcome. */
  async listPast(sessionId: SessionId): Promise<readonly { id: string; text: string }[]> {
    const past = await this.#records.list(sessionId)
    return past.filter(({ id }) => this.find(sessionId, id) === undefined)
  }

  /** Ends programs whose session is gone, and reports those that ended with their process. */
  async look(): Promise<void> {
    const { store, onAdmitted, onCrash } = this.#parts
    try {
      const running = Map.groupBy(this.#running(), ({ sessionId }) => sessionId)
      for (const [id, jobs] of running) {
        if ((await store.findSession(id))?.state === 'open') continue
        for (const { child } of jobs) child.stop()
      }
      for (const id of await this.#records.reportLost()) onAdmitted?.(id)
    } catch (error) {
      if (!(error instanceof KnownError)) onCrash?.(error)
    }
  }

  /** Stops everything, reports it, and waits until it has ended. May be called twice. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    for (const job of this.#running()) this.#endHere(job)
    await Promise.all([...this.#jobs.values()].map(({ child }) => child.ended))
    await Promise.all(this.#work)
    this.#watchdog.close()
    this.#records.close()
    process.off('exit', this.#endAll)
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  #running(): readonly Job[] {
    return [...this.#jobs.values()].filter(({ child }) => child.end === null)
  }

  #problem(sessionId: SessionId): string | null {
    if (this.#isClosed) return 'The runtime is closing.'
    const running = [...this.#running().map((job) => job.sessionId), ...this.#starting]
    const { runningPerSessionMax, runningMax } = this.#limits
    const own = running.filter((each) => each === sessionId).length
    if (own >= runningPerSessionMax)
      return `${own} programs run already, the limit. Stop one first.`
    return running.length >= runningMax ? 'Too many programs run on this machine. Wait.' : null
  }

  #endHere({ id, child }: Job): void {
    this.#endedHere.add(id)
    child.stop()
  }

  async #follow(job: Job): Promise<void> {
    const end = await job.child.ended
    this.#watchdog.remove(job.child.pid)
    this.#forget(this.list(job.sessionId), this.#limits.endedPerSessionMax)
    this.#forget([...this.#jobs.values()], this.#limits.endedMax)
    if (!job.isRecorded) return
    // A notice in progress may still be put back; the owner reports the crash.
    await this.#reporting.get(job.id)?.catch(() => {})
    const isEndedHere = this.#endedHere.has(job.id)
    // The agent that stopped it knows.
    const isStopped = end.kind === 'stopped' && !isEndedHere
    const isWanted = job.reportsEnd || job.matches.unreported > 0 || isEndedHere
    const text = endText(job, isEndedHere ? 'was stopped: the server stopped' : explainEnd(end))
    await this.#until(async () => {
      if (isWanted && !isStopped) return await this.#reportEnd(job, text)
      await this.#records.cancel(job)
      return true
    })
  }

  async #reportEnd(job: Job, text: string): Promise<boolean> {
    const isTaken = await this.#records.report(job, text)
    if (isTaken) this.#parts.onAdmitted?.(job.sessionId)
    return isTaken
  }

  /** Retries until the store accepts it or we close; then the next process reports it. */
  async #until(run: () => Promise<boolean>): Promise<void> {
    const { clock, notices: { intervalMs } = NOTICE_LIMITS } = this.#parts
    const { signal } = this.#closing
    while (!(await knownFailure(run))) {
      if (signal.aborted) return
      await pause(clock, intervalMs, signal)
    }
  }

  /** Drops the oldest ended programs beyond a limit. */
  #forget(jobs: readonly Job[], keptMax: number): void {
    const ended = jobs.filter(({ child }) => child.end !== null)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - keptMax))) this.#jobs.delete(id)
  }

  readonly #timers = new Map<string, () => void>()
  readonly #reporting = new Map<string, Promise<void>>()

  #reportSoon(job: Job): void {
    const dueAt = job.matches.dueAt()
    if (dueAt === null || this.#isClosed || this.#timers.has(job.id)) return
    const { clock } = this.#parts
    const cancel = clock.after(Math.ceil(dueAt - clock.monotonic()), () => {
      this.#timers.delete(job.id)
      // The rest of the output is part of the last notice about a program.
      if (job.child.end !== null) return
      const report = this.#report(job)
      this.#reporting.set(job.id, report)
      const isOver = () => this.#reporting.get(job.id) === report && this.#reporting.delete(job.id)
      this.#own(report.finally(isOver))
    })
    this.#timers.set(job.id, cancel)
  }

  async #report(job: Job): Promise<void> {
    const notice = job.matches.next(this.#parts.clock.monotonic())
    // A timer may fire slightly early.
    if (notice === null) return this.#reportSoon(job)
    // A program belongs to one process, so a local count distinguishes its notices.
    const key = `${job.id}-${++this.#notices}`
    if (await this.#admit(job, key, matchText(job, notice))) return
    job.matches.putBack(notice)
    this.#reportSoon(job)
  }

  /** False: not accepted now; it will be retried. */
  async #admit({ sessionId, agent }: Job, key: string, text: string): Promise<boolean> {
    const { store, countTokens, onAdmitted } = this.#parts
    const body = noticeBody(text)
    return await knownFailure(async () => {
      const outcome = await store.admit({
        to: { sessionId },
        source: `process:${agent}`,
        key,
        lane: 'notification',
        body,
        tokens: countTokens(sessionId, JSON.stringify(body)),
      })
      if (outcome.kind === 'admitted') onAdmitted?.(sessionId)
      return outcome.kind !== 'full'
    })
  }

  #own(work: Promise<void>): void {
    const owned = work
      .catch((error: unknown) => this.#parts.onCrash?.(error))
      .finally(() => this.#work.delete(owned))
    this.#work.add(owned)
  }
}

/** Also false if the store cannot be reached. */
async function knownFailure(run: () => Promise<boolean>): Promise<boolean> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return false
  }
}

type Begun =
  | { readonly kind: 'begun'; readonly process: ChildProcess; readonly pid: number }
  | { readonly kind: 'failed'; readonly code: string }

function begin({ program, args, folder, env }: Start): Promise<Begun> {
  const { promise, resolve } = Promise.withResolvers<Begun>()
  const fail = (error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    resolve({ kind: 'failed', code })
  }
  try {
    const process = startGroup(program, args, { folder, env, isMarked: true })
    process.once('error', fail)
    process.once('spawn', () => {
      const { pid } = process
      if (pid !== undefined) resolve({ kind: 'begun', process, pid })
    })
  } catch (error) {
    fail(error)
  }
  return promise
}

function matchText({ id, title }: Job, { pattern, line, suppressed }: MatchNotice): string {
  const more = suppressed === 0 ? '' : `\n(${suppressed} further matches since the last notice)`
  return `Program ${id} (${title}) wrote a line that matches ${pattern}:\n${indentLines(line)}${more}`
}

const TAIL_CHARACTERS = 500

export function explainEnd(end: ChildEnd): string {
  switch (end.kind) {
    case 'exited':
      return end.signal === null ? `ended with code ${end.code}` : `was ended by ${end.signal}`
    case 'stopped':
      return 'was stopped'
    case 'out-of-time':
      return 'was stopped: its time was up'
    case 'too-much-output':
      return 'was stopped: it wrote more than the limit'
    default:
      return end satisfies never
  }
}

function endText({ id, title, child, matches }: Job, end: string): string {
  const { output } = child
  const { text } = output.read(output.end - TAIL_CHARACTERS, TAIL_CHARACTERS)
  const unreported =
    matches.unreported === 0 ? '' : `\n(${matches.unreported} matching lines were not reported)`
  return `Program ${id} (${title}) ${end}.${unreported}\nThe end of its output:\n${indentLines(text)}`
}
