import type { ChildProcess } from 'node:child_process'
import { type Clock, pause } from '../../base/clock.ts'
import { KnownError } from '../../base/errors.ts'
import type { SessionId } from '../../base/ids.ts'
import { clip } from '../../base/line.ts'
import type { Commits } from '../../store/contract.ts'
import { type Counting, idFor, noticeBody } from '../own-mail.ts'
import type { ToolCall } from '../tool.ts'
import { Child, type ChildEnd, type ChildLimits } from './child.ts'
import {
  compilePatterns,
  Matches,
  type MatchNotice,
  NOTICE_LIMITS,
  type NoticeLimits,
} from './matches.ts'
import { endGroup, endStraysNow, markOf, startGroup } from './posix.ts'
import { Watchdog } from './watchdog.ts'

export interface ProcessLimits extends ChildLimits {
  readonly runningPerSessionMax: number
  readonly runningMax: number
}

export const PROCESS_LIMITS: ProcessLimits = {
  timeMs: 3_600_000,
  outputBytesMax: 64 * 1024 * 1024,
  keptCharactersMax: 200_000,
  graceMs: 5_000,
  runningPerSessionMax: 8,
  runningMax: 64,
}

export interface ProcessesParts extends Counting {
  readonly store: Pick<Commits, 'admit'>
  readonly clock: Clock
  readonly limits?: ProcessLimits
  readonly notices?: NoticeLimits
  /** A session got a notification. */
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
  readonly tellsEnd: boolean
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
  readonly tellsEnd: boolean
  readonly child: Child
  readonly matches: Matches
}

/** Of one session, and of all: each keeps what it wrote. */
const ENDED_KEPT_MAX = 20
const ALL_ENDED_KEPT_MAX = 100
const TITLE_MAX = 120

/**
 * All programs that this runtime's agents run in the background. They end with it: in order when it
 * closes, by an exit hook when it just ends, by the watchdog when it is killed.
 */
export class Processes {
  readonly #parts: ProcessesParts
  readonly #limits: ProcessLimits
  readonly #jobs = new Map<string, Job>()
  readonly #watchdog = new Watchdog()
  readonly #work = new Set<Promise<void>>()
  /** Of programs that are about to run: calls of one reply come all at once. */
  readonly #starting: SessionId[] = []
  readonly #closing = new AbortController()
  #notices = 0
  readonly #endAll = () => {
    for (const { child } of this.#running()) {
      const mark = markOf(child.pid)
      endGroup(child.pid, 'force')
      if (mark !== undefined) endStraysNow(mark)
    }
  }

  constructor(parts: ProcessesParts) {
    this.#parts = parts
    this.#limits = parts.limits ?? PROCESS_LIMITS
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
    const begun = await begin(wanted)
    if (begun.kind === 'failed') {
      return { kind: 'refused', problem: `${wanted.program} did not start (${begun.code}).` }
    }
    const matches = new Matches(compiled.patterns, this.#parts.notices ?? NOTICE_LIMITS)
    const { sessionId, agent } = call
    const limits = { ...this.#limits, timeMs: Math.min(wanted.timeMs, this.#limits.timeMs) }
    const { clock } = this.#parts
    const child = new Child(begun, { clock, limits, matches, onMatch: () => this.#tellSoon(job) })
    const title = clip([wanted.program, ...wanted.args].join(' '), TITLE_MAX)
    const id = idFor('p', call)
    const job: Job = { id, sessionId, agent, title, tellsEnd: wanted.tellsEnd, child, matches }
    if (this.#jobs.size === 0) process.on('exit', this.#endAll)
    this.#jobs.set(id, job)
    this.#watchdog.add(child.pid)
    this.#own(this.#follow(job))
    if (this.#isClosed) child.stop()
    return { kind: 'started', job }
  }

  find(sessionId: SessionId, id: string): Job | undefined {
    const job = this.#jobs.get(id)
    return job?.sessionId === sessionId ? job : undefined
  }

  list(sessionId: SessionId): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => job.sessionId === sessionId)
  }

  /** Stops everything and waits until it has ended. May be called twice. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    for (const { child } of this.#running()) child.stop()
    await Promise.all([...this.#jobs.values()].map(({ child }) => child.ended))
    await Promise.all(this.#work)
    this.#watchdog.close()
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

  async #follow(job: Job): Promise<void> {
    const end = await job.child.ended
    this.#watchdog.remove(job.child.pid)
    this.#forget(this.list(job.sessionId), ENDED_KEPT_MAX)
    this.#forget([...this.#jobs.values()], ALL_ENDED_KEPT_MAX)
    // Whoever stopped it knows; a runtime that closes tells nobody.
    if (this.#isClosed || end.kind === 'stopped') return
    // What of it is being told at this moment may yet be put back; its crash is told by its owner.
    await this.#telling.get(job.id)?.catch(() => {})
    if (job.tellsEnd || job.matches.untold > 0) await this.#tellEnd(job, end)
  }

  /** Until it is taken: who waits for a program to end hears of it once, and from nobody else. */
  async #tellEnd(job: Job, end: ChildEnd): Promise<void> {
    const text = endText(job, end)
    const { clock, notices: { intervalMs } = NOTICE_LIMITS } = this.#parts
    const { signal } = this.#closing
    while (!(await this.#admit(job, `${job.id}-end`, text))) {
      if (signal.aborted) return
      await pause(clock, intervalMs, signal)
    }
  }

  /** The oldest of those that have ended, beyond so many. */
  #forget(jobs: readonly Job[], keptMax: number): void {
    const ended = jobs.filter(({ child }) => child.end !== null)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - keptMax))) this.#jobs.delete(id)
  }

  readonly #timers = new Map<string, () => void>()
  readonly #telling = new Map<string, Promise<void>>()

  #tellSoon(job: Job): void {
    const dueAt = job.matches.dueAt()
    if (dueAt === null || this.#isClosed || this.#timers.has(job.id)) return
    const { clock } = this.#parts
    const cancel = clock.after(Math.ceil(dueAt - clock.monotonic()), () => {
      this.#timers.delete(job.id)
      // What is left when a program ends is part of the last word about it.
      if (job.child.end !== null) return
      const telling = this.#tell(job)
      this.#telling.set(job.id, telling)
      const isOver = () => this.#telling.get(job.id) === telling && this.#telling.delete(job.id)
      this.#own(telling.finally(isOver))
    })
    this.#timers.set(job.id, cancel)
  }

  async #tell(job: Job): Promise<void> {
    const notice = job.matches.next(this.#parts.clock.monotonic())
    // A timer may ring a moment early.
    if (notice === null) return this.#tellSoon(job)
    // A program lives in one process of ours, so that a count of ours tells its notices apart.
    const key = `${job.id}-${++this.#notices}`
    if (await this.#admit(job, key, matchText(job, notice))) return
    job.matches.putBack(notice)
    this.#tellSoon(job)
  }

  /** False: not taken now, and nothing is lost but the time. */
  async #admit({ sessionId, agent }: Job, key: string, text: string): Promise<boolean> {
    const { store, countTokens, onAdmitted } = this.#parts
    const body = noticeBody(text)
    try {
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
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      return false
    }
  }

  #own(work: Promise<void>): void {
    const owned = work
      .catch((error: unknown) => this.#parts.onCrash?.(error))
      .finally(() => this.#work.delete(owned))
    this.#work.add(owned)
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
  return `Program ${id} (${title}) wrote a line that matches ${pattern}:\n${line}${more}`
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

function endText({ id, title, child, matches }: Job, end: ChildEnd): string {
  const { output } = child
  const { text } = output.read(output.end - TAIL_CHARACTERS, TAIL_CHARACTERS)
  const untold = matches.untold === 0 ? '' : `\n(${matches.untold} matching lines were not told)`
  return `Program ${id} (${title}) ${explainEnd(end)}.${untold}\nThe end of its output:\n${text}`
}
