import { randomUUID } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import { type HostProcess, isGone, thisHost } from '#core/base/host'
import type { SessionId } from '#core/base/ids'
import { clip, oneLine } from '#core/base/line'
import { LIST_MAX } from '#core/store/bounds'
import type { Commits, Reads } from '#core/store/contract'
import type { ListSchedules, ScheduleRow } from '#core/store/operational-rows'
import type { RunnerRow } from '#core/store/tables/rows'
import { type Counting, callScopedId, noticeBody } from '../own-mail.ts'
import type { ToolCall } from '../tool.ts'

/**
 * The store's record of running programs, so that the end of each is reported even if the process
 * that ran it is gone. A record is a durable timer of the session that never comes due: it goes
 * with its session, and its notification is admitted exactly once when it is fired. It is written
 * before the program starts and says at first that the server stopped; the true end replaces that
 * text before it is fired.
 */
export type RecordStore = Pick<
  Commits & Reads,
  'putSchedule' | 'cancelSchedule' | 'fireSchedule' | 'listSchedules' | 'listRunners'
>

export interface RecordsParts extends Counting {
  readonly store: RecordStore
  readonly clock: Clock
  /** Called before a session receives mail. */
  readonly beforeFire?: (sessionId: SessionId) => Promise<void>
}

export interface Program {
  readonly id: string
  readonly sessionId: SessionId
  readonly title: string
}

const PREFIX = 'p'
/** The latest time that a Date can represent. */
const NEVER = 8_640_000_000_000_000
/** Twice the time after which a process that renews no lease counts as dead. */
const ABSENT_MS = 60_000
const KEPT_MAX = 20
const TEXT_MAX = 200

/** The records of this process that are open, for other runtimes in it. */
const living = new Set<string>()

export class ProgramRecords {
  readonly #parts: RecordsParts
  readonly #instance = randomUUID()
  /** By process name: since when none of its runners was seen. */
  readonly #absent = new Map<string, number>()

  constructor(parts: RecordsParts) {
    this.#parts = parts
    living.add(this.#instance)
  }

  /** Null: recorded. Otherwise why the program must not be started. */
  async open(program: Program): Promise<string | null> {
    const { id, title } = program
    const text =
      `Program ${id} (${title}) ended without a report: the server that ran it stopped, and the ` +
      'program with it. Output that you have not read is lost. Start it again if you still need it.'
    const { kind } = await this.#put(program, text)
    if (kind === 'scheduled') return null
    return kind === 'full'
      ? 'Too many reminders are planned; cancel one first.'
      : 'There is no such session.'
  }

  async cancel({ id }: Program): Promise<void> {
    await this.#parts.store.cancelSchedule({ id })
  }

  /** False: the mailbox accepts nothing now; the text is kept. */
  async report(program: Program, text: string): Promise<boolean> {
    await this.#put(program, text, NEVER)
    return await this.#fire(program)
  }

  /** The outcomes of programs that no process holds in memory, newest last. */
  async list(sessionId: SessionId): Promise<readonly { id: string; text: string }[]> {
    const rows = await this.#read({ sessionId })
    const newest = rows.toSorted((a, b) => a.at - b.at).slice(-KEPT_MAX)
    return newest.map((row) => ({ id: row.id, text: lineOf(row) }))
  }

  /** Reports the programs of dead processes; returns the sessions that received mail. */
  async reportLost(): Promise<readonly SessionId[]> {
    const rows = await this.#read({ state: 'waiting' })
    const others = rows.filter((row) => hostOf(row)?.instance !== this.#instance)
    if (others.length === 0) return []
    const runners = await this.#parts.store.listRunners()
    const woken: SessionId[] = []
    for (const { id, sessionId, repeat } of others) {
      if (!this.#isLost({ repeat }, runners)) continue
      if (await this.#fire({ id, sessionId })) woken.push(sessionId)
    }
    return woken
  }

  close(): void {
    living.delete(this.#instance)
  }

  #isLost(row: Pick<ScheduleRow, 'repeat'>, runners: readonly RunnerRow[]): boolean {
    const host = hostOf(row)
    if (host === undefined || living.has(host.instance)) return false
    const { clock } = this.#parts
    const { boot, process } = host
    const ours = thisHost()
    // Our process id but no runtime of ours: an earlier process had this id.
    const isBeforeUs = boot === ours.boot && process === ours.process
    if (isBeforeUs || isGone(host)) return true
    const name = `${boot} ${process}`
    if (runners.some((runner) => runner.boot === boot && runner.process === process)) {
      this.#absent.delete(name)
      return false
    }
    const since = this.#absent.get(name) ?? clock.monotonic()
    this.#absent.set(name, since)
    return clock.monotonic() - since >= ABSENT_MS
  }

  async #put({ id, sessionId, title }: Program, text: string, from?: number) {
    const { store, countTokens } = this.#parts
    const body = noticeBody(text, { program: title })
    return await store.putSchedule({
      ...{ id, sessionId, body, dueAt: NEVER },
      repeat: JSON.stringify({ ...thisHost(), instance: this.#instance }),
      tokens: countTokens(sessionId, JSON.stringify(body)),
      ...(from !== undefined && { from }),
    })
  }

  async #fire({ id, sessionId }: Pick<Program, 'id' | 'sessionId'>): Promise<boolean> {
    const { store, beforeFire } = this.#parts
    await beforeFire?.(sessionId)
    const outcome = await store.fireSchedule({ id, dueAt: NEVER, nextDueAt: null })
    // Otherwise it was fired before, or the session is gone.
    return outcome.kind !== 'full'
  }

  async #read(query: Pick<ListSchedules, 'sessionId' | 'state'>): Promise<readonly ScheduleRow[]> {
    const rows: ScheduleRow[] = []
    for (let after = `${PREFIX}-`; ; ) {
      const page = await this.#parts.store.listSchedules({ ...query, after, limit: LIST_MAX })
      const found = page.filter(isProgram)
      rows.push(...found)
      const last = found.at(-1)
      if (last === undefined || found.length < LIST_MAX) return rows
      after = last.id
    }
  }
}

/** The program that a call starts, and its record. */
export function programId(call: Pick<ToolCall, 'key'>): string {
  return callScopedId(PREFIX, call)
}

/** Not a reminder that the agent planned. */
export function isProgram({ id }: Pick<ScheduleRow, 'id'>): boolean {
  return id.startsWith(`${PREFIX}-`)
}

function hostOf({
  repeat,
}: Pick<ScheduleRow, 'repeat'>): (HostProcess & { readonly instance: string }) | undefined {
  try {
    return repeat === null ? undefined : JSON.parse(repeat)
  } catch {
    return undefined
  }
}

function lineOf({ id, state, body }: ScheduleRow): string {
  const { program, message } = JSON.parse(body) as {
    readonly program?: string
    readonly message?: { readonly parts?: readonly { readonly text?: string }[] }
  }
  if (state === 'waiting') return `${id} (${program}) was started by another process of the server`
  if (state === 'cancelled') return `${id} (${program}) was stopped`
  return clip(oneLine(message?.parts?.[0]?.text ?? id), TEXT_MAX)
}
