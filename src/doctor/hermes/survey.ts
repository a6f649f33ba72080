import { Marks, markOf } from './marks.ts'
import { Recent } from './recent.ts'
import type { HermesRow, HermesSession } from './rows.ts'

/**
 * What one pass over the rows leaves behind: per session the few facts and rows that the detectors
 * ask for, never the messages themselves. Rows must come in the order of their ids.
 *
 * Ids are given out without gaps and are never used twice, so a missing id is a deleted row. To say
 * whose, the survey remembers for each session the last id that was written before it began. Copies
 * keep their old times, hence the highest time seen so far stands for the clock.
 */
export interface SessionSurvey {
  readonly session: HermesSession
  rows: number
  live: number
  archived: number
  rewound: number
  firstId: number | null
  firstAt: number | null
  lastAt: number | null
  /** The last id before the session began; at the latest the one before its first row. */
  bornAfterId: number
  readonly handoffs: Sample
  /** Rows later than the closing by compaction. */
  readonly late: Sample
  /** Rows that say what a row of the parent says, at the same time. */
  readonly carried: Sample
  /** Live rows that say again what a live row of this session says, at the same time. */
  readonly doubled: Sample
  /** Results in the context whose call is not before them. */
  readonly strayResults: Sample
  /** Calls in the context that nothing has answered yet, with a row of each; the newest ones. */
  readonly openCalls: Map<string, HermesRow>
  /** Rows with calls that were open for so long that they are not waited for. */
  readonly abandoned: Sample
  readonly answered: Recent<string, true>
  /** Rows whose `tool_calls` cannot be read; pairs cannot be judged then. */
  readonly unreadableCalls: Sample
  /** What the agent said that sounds like a lost memory, with the user's row before it. */
  readonly denials: { readonly row: HermesRow; readonly asked: HermesRow | null }[]
  /** Rows a microsecond apart, as only the rewriting of a whole session leaves them. */
  readonly bursts: Burst[]
  /** What the newest rows said and when. */
  readonly marks: Marks
  /** Those that a row of the parent has too. */
  readonly carriedMarks: Set<number>
  lastLive: HermesRow | null
  lastUser: HermesRow | null
}

/** The first rows of a kind, and how many there are in all. */
export interface Sample {
  count: number
  readonly rows: HermesRow[]
}

export interface Burst {
  readonly first: HermesRow
  last: HermesRow
  rows: number
  handoff: HermesRow | null
}

export interface Survey {
  readonly sessions: ReadonlyMap<string, SessionSurvey>
  readonly rows: number
  readonly liveRows: number
  /** Rows whose session does not exist, by the session they name. */
  readonly homeless: ReadonlyMap<string, Sample>
  readonly lastAt: number | null
  /** How many ids are missing between the two, both excluded. */
  missingBetween(afterId: number, beforeId: number): number
  /** The time that stood highest when this id had been written. */
  clockAt(id: number): number | null
}

const SAMPLE_MAX = 200
const ANSWERED_MAX = 500
const OPEN_CALLS_MAX = 1_000
const BURST_STEP_SECONDS = 3e-6

const HANDOFF_PREFIXES = ['[CONTEXT COMPACTION', '[CONTEXT SUMMARY]:']
const HANDOFF_MARK = '[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]'

export function isHandoff({ text, isSummary }: Pick<HermesRow, 'text' | 'isSummary'>): boolean {
  return (
    isSummary ||
    HANDOFF_PREFIXES.some((prefix) => text.startsWith(prefix)) ||
    text.includes(HANDOFF_MARK)
  )
}

const DENIAL =
  /\b(?:no (?:record|memory|recollection|trace|knowledge) of|(?:don't|do not|can't|cannot) (?:have|see|find|recall|remember) (?:any |a |that |the |this |such )?(?:record|memory|message|request|instruction|result|delivery|conversation|context)|nothing (?:in my (?:context|memory|history)|arrived|was delivered)|never (?:received|saw|got) (?:it|that|any|your|the|this))/i

function soundsForgetful(text: string): boolean {
  return DENIAL.test(text)
}

export class Surveyor {
  readonly #sessions = new Map<string, SessionSurvey>()
  /** Sessions that the clock of the rows has not reached, latest first. */
  readonly #unborn: SessionSurvey[]
  readonly #homeless = new Map<string, Sample>()
  /** Where ids are missing: the id behind each gap, and how many are missing up to there. */
  readonly #gapEnds: number[] = []
  readonly #gapSums: number[] = []
  /** The clock, noted each time it moves on by a minute or more. */
  readonly #clockIds: number[] = []
  readonly #clockTimes: number[] = []
  #missing = 0
  #lastId = 0
  #clock = Number.NEGATIVE_INFINITY
  #rows = 0
  #liveRows = 0

  constructor(sessions: readonly HermesSession[]) {
    for (const session of sessions) this.#sessions.set(session.id, blank(session))
    this.#unborn = [...this.#sessions.values()]
      .filter(({ session }) => session.startedAt !== null)
      .sort((one, other) => (other.session.startedAt ?? 0) - (one.session.startedAt ?? 0))
  }

  take(row: HermesRow): void {
    this.#countGap(row)
    const before = this.#lastId
    this.#lastId = row.id
    this.#moveClock(row, before)
    this.#rows += 1
    if (row.state === 'live') this.#liveRows += 1
    const survey = this.#sessions.get(row.sessionId)
    if (survey === undefined) {
      const gone = this.#homeless.get(row.sessionId) ?? none()
      sample(gone, row)
      this.#homeless.set(row.sessionId, gone)
      return
    }
    if (survey.firstId === null) survey.bornAfterId = Math.min(survey.bornAfterId, before)
    note(survey, row)
    noteCopies(survey, row, this.#sessions.get(survey.session.parentId ?? ''))
    if (row.state === 'live') notePairs(survey, row)
    noteBurst(survey, row)
    if (row.role === 'user' && !isHandoff(row)) survey.lastUser = row
    if (row.state === 'live') survey.lastLive = row
  }

  end(): Survey {
    const gapEnds = this.#gapEnds
    const gapSums = this.#gapSums
    const missingUpTo = (id: number) => {
      const index = lastAtMost(gapEnds, id)
      return index < 0 ? 0 : (gapSums[index] ?? 0)
    }
    return {
      sessions: this.#sessions,
      rows: this.#rows,
      liveRows: this.#liveRows,
      homeless: this.#homeless,
      lastAt: Number.isFinite(this.#clock) ? this.#clock : null,
      missingBetween: (after, before) => missingUpTo(before) - missingUpTo(after),
      clockAt: (id) => this.#clockTimes[lastAtMost(this.#clockIds, id)] ?? null,
    }
  }

  #countGap({ id }: HermesRow): void {
    const gap = id - this.#lastId - 1
    if (gap <= 0) return
    this.#missing += gap
    this.#gapEnds.push(id)
    this.#gapSums.push(this.#missing)
  }

  #moveClock({ id, at }: HermesRow, before: number): void {
    if (at === null || at <= this.#clock) return
    this.#clock = at
    const last = this.#clockTimes.at(-1)
    if (last === undefined || at - last >= 60) {
      this.#clockIds.push(id)
      this.#clockTimes.push(at)
    }
    for (;;) {
      const next = this.#unborn.at(-1)
      if (next === undefined || (next.session.startedAt ?? 0) > at) return
      next.bornAfterId = Math.min(next.bornAfterId, before)
      this.#unborn.pop()
    }
  }
}

function note(survey: SessionSurvey, row: HermesRow): void {
  survey.rows += 1
  survey[row.state] += 1
  survey.firstId ??= row.id
  if (row.at !== null) {
    survey.firstAt = Math.min(survey.firstAt ?? row.at, row.at)
    survey.lastAt = Math.max(survey.lastAt ?? row.at, row.at)
  }
  if (isHandoff(row)) sample(survey.handoffs, row)
  const { endReason, endedAt } = survey.session
  const isClosed = endReason === 'compression' && endedAt !== null
  if (isClosed && row.state !== 'rewound' && row.at !== null && row.at > endedAt) {
    sample(survey.late, row)
  }
  if (row.role === 'assistant' && survey.denials.length < SAMPLE_MAX && soundsForgetful(row.text)) {
    survey.denials.push({ row, asked: survey.lastUser })
  }
}

function noteCopies(
  survey: SessionSurvey,
  row: HermesRow,
  parent: SessionSurvey | undefined,
): void {
  const mark = markOf(row)
  if (mark === null || row.state === 'rewound') return
  if (parent?.marks.has(mark)) {
    sample(survey.carried, row)
    survey.carriedMarks.add(mark)
  }
  // An archived original and its live copy are how compaction in place works.
  if (row.state === 'live' && survey.marks.isLive(mark)) sample(survey.doubled, row)
  survey.marks.note(mark, row)
}

function notePairs(survey: SessionSurvey, row: HermesRow): void {
  if (row.callIds === null) sample(survey.unreadableCalls, row)
  for (const id of row.callIds ?? []) survey.openCalls.set(id, row)
  for (const open of survey.openCalls.values()) {
    if (survey.openCalls.size <= OPEN_CALLS_MAX || open === row) break
    for (const id of open.callIds ?? []) survey.openCalls.delete(id)
    sample(survey.abandoned, open)
  }
  if (row.role !== 'tool' || row.toolCallId === null) return
  if (survey.openCalls.delete(row.toolCallId)) survey.answered.set(row.toolCallId, true)
  else if (survey.answered.get(row.toolCallId) === undefined) sample(survey.strayResults, row)
}

function noteBurst(survey: SessionSurvey, row: HermesRow): void {
  const burst = survey.bursts.at(-1)
  const step = burst === undefined ? null : (row.at ?? 0) - (burst.last.at ?? 0)
  const handoff = isHandoff(row) ? row : null
  if (burst !== undefined && step !== null && step > 0 && step < BURST_STEP_SECONDS) {
    burst.last = row
    burst.rows += 1
    burst.handoff ??= handoff
    return
  }
  // Only what can still matter is kept: a run of one row, or one without a handoff, is none.
  if (burst !== undefined && (burst.rows === 1 || burst.handoff === null)) survey.bursts.pop()
  survey.bursts.push({ first: row, last: row, rows: 1, handoff })
}

function none(): Sample {
  return { count: 0, rows: [] }
}

export function sample(into: Sample, row: HermesRow): void {
  into.count += 1
  if (into.rows.length < SAMPLE_MAX) into.rows.push(row)
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

function blank(session: HermesSession): SessionSurvey {
  return {
    session,
    ...{ rows: 0, live: 0, archived: 0, rewound: 0 },
    ...{ firstId: null, firstAt: null, lastAt: null, bornAfterId: Number.POSITIVE_INFINITY },
    ...{ handoffs: none(), late: none(), carried: none(), doubled: none() },
    ...{ strayResults: none(), abandoned: none(), unreadableCalls: none() },
    openCalls: new Map(),
    answered: new Recent(ANSWERED_MAX),
    denials: [],
    bursts: [],
    marks: new Marks(),
    carriedMarks: new Set(),
    lastLive: null,
    lastUser: null,
  }
}
