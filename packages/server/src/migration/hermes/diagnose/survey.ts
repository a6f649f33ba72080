import { callMark, Marks, markOf } from '../read/marks.ts'
import type { HermesRow, HermesSession } from '../read/rows.ts'

/**
 * The result of one pass over the rows: for each session the few facts that the detectors need, and
 * only the ids of rows, which are read again for quotations. A session takes about 650 bytes, so
 * 150,000 of them are examined in 220 MB (785 MB with their newest rows). Rows must come in id
 * order.
 *
 * Ids have no gaps and are never reused, so a missing id is a deleted row. To attribute it, the
 * survey records for each session the last id written before the session began. Copies keep their
 * old times, so the highest time seen so far serves as the clock.
 */
export interface SessionSurvey {
  readonly session: HermesSession
  rows: number
  live: number
  archived: number
  rewound: number
  firstId: number | null
  /** Rows without a time, or with one that is years away from the session's. */
  oddTimes: Sample
  lastAt: number | null
  /** The last id before the session began; at most the one before its first row. */
  bornAfterId: number
  handoffs: Sample
  /** Handoffs in the context that say their summary could not be written. */
  torn: Sample
  /** Its end lies before its beginning and its first row. */
  isEndedEarly: boolean
  /** Rows written after compaction closed the session. */
  late: Sample
  /** Rows with the same content and time as a row of the parent. */
  carried: Sample
  /** Live rows with the same content and time as another live row of this session. */
  doubled: Sample
  /** Results in the context without a call before them. */
  strayResults: Sample
  /** The newest unanswered calls in the context, each with its row. */
  openCalls: Map<string, number> | null
  /** The second ids of calls that have two; only the newest calls, open or not. */
  otherNames: Map<string, string> | null
  /** Rows whose calls have been open too long to be answered. */
  abandoned: Sample
  answered: Marks | null
  /** Rows with an unreadable `tool_calls`; then calls and results cannot be paired. */
  unreadableCalls: Sample
  /** Replies that sound like lost memory, each with the user's row before it. */
  denials: readonly Denial[]
  /** The last run that contains a handoff. */
  burst: Burst | null
  /** The run that may still continue. */
  run: Burst | null
  /** Content and time of the newest rows. */
  readonly marks: Marks
  /** Marks that a row of the parent also has. */
  carriedMarks: Set<number> | null
  /** The newest row, with the data that `Burst` needs; 0 if there is none. */
  lastId: number
  lastRowAt: number
  isLastHandoff: boolean
  /** The newest live row except results, which say nothing about the calls before them. */
  lastLiveId: number | null
  lastUserId: number | null
}

/** The first rows of a kind, and how many there are in all. */
export interface Sample {
  count: number
  readonly ids: number[]
}

export interface Denial {
  readonly id: number
  readonly askedId: number | null
}

/** Rows a microsecond apart, which only rewriting a whole session produces. */
export interface Burst {
  readonly firstId: number
  readonly firstAt: number
  /** Only rows that the user took back come before it. */
  readonly isAlone: boolean
  lastId: number
  rows: number
  handoffId: number | null
  /** Calls or results: an undo writes them again, a compaction outside of the agent does not. */
  hasTools: boolean
}

export interface Survey {
  readonly sessions: ReadonlyMap<string, SessionSurvey>
  readonly rows: number
  readonly liveRows: number
  /** Rows whose session does not exist, by the session id they name. */
  readonly homeless: ReadonlyMap<string, Sample>
  readonly lastAt: number | null
  /** How many ids are missing strictly between the two. */
  missingBetween(afterId: number, beforeId: number): number
  /** The highest time among the rows up to this id. */
  clockAt(id: number): number | null
}

const SAMPLE_MAX = 200
const OPEN_CALLS_MAX = 1_000
const BURST_STEP_SECONDS = 3e-6

/** Shared by all empty samples, since most sessions have no faults. */
const NONE: Sample = { count: 0, ids: [] }
const NO_DENIALS: readonly Denial[] = []

const HANDOFF_PREFIXES = ['[CONTEXT COMPACTION', '[CONTEXT SUMMARY]:']
const HANDOFF_MARK = '[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]'
/** Without a log, this placeholder text shows that a summary was never written. */
const TORN_MARK = 'Summary generation was unavailable'

type Told = Pick<HermesRow, 'role' | 'text' | 'isSummary'>

export function isHandoff({ role, text, isSummary }: Told): boolean {
  // An agent that reads its own logs gets the marks of a handoff in a tool result.
  if (isSummary || role === 'tool') return isSummary
  return HANDOFF_PREFIXES.some((prefix) => text.startsWith(prefix)) || text.includes(HANDOFF_MARK)
}

const DENIAL =
  /\b(?:no (?:record|memory|recollection|trace|knowledge) of|(?:don't|do not|can't|cannot) (?:have|see|find|recall|remember) (?:any |a |that |the |this |such )?(?:record|memory|message|request|instruction|result|delivery|conversation|context)|nothing (?:in my (?:context|memory|history)|arrived|was delivered)|never (?:received|saw|got) (?:it|that|any|your|the|this))/i

function soundsForgetful(text: string): boolean {
  return DENIAL.test(text)
}

export class Surveyor {
  readonly #sessions = new Map<string, SessionSurvey>()
  /** Sessions that begin after the clock of the rows, latest first. */
  readonly #unborn: SessionSurvey[]
  readonly #homeless = new Map<string, Sample>()
  /** Gaps in the ids: the id after each gap, and how many are missing up to there. */
  readonly #gapEnds: number[] = []
  readonly #gapSums: number[] = []
  /** The clock, recorded each time it advances by a minute or more. */
  readonly #clockIds: number[] = []
  readonly #clockTimes: number[] = []
  #missing = 0
  #lastId = 0
  #clock = Number.NEGATIVE_INFINITY
  #rows = 0
  #liveRows = 0

  constructor(sessions: Iterable<HermesSession>) {
    for (const session of sessions) {
      if (!this.#sessions.has(session.id)) this.#sessions.set(session.id, blank(session))
    }
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
      // A row without a session id is counted elsewhere.
      if (row.sessionId === '') return
      const gone = this.#homeless.get(row.sessionId) ?? NONE
      this.#homeless.set(row.sessionId, sample(gone, row.id))
      return
    }
    if (survey.firstId === null) survey.bornAfterId = Math.min(survey.bornAfterId, before)
    const isLed = isHandoff(row)
    note(survey, row, isLed)
    noteCopies(survey, row, this.#sessions.get(survey.session.parentId ?? ''))
    if (row.state === 'live') notePairs(survey, row)
    noteBurst(survey, row, isLed)
    if (row.role === 'user' && !isLed) survey.lastUserId = row.id
    if (row.state === 'live') survey.lastLiveId = row.role === 'tool' ? null : row.id
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

function note(survey: SessionSurvey, row: HermesRow, isLed: boolean): void {
  survey.rows += 1
  survey[row.state] += 1
  survey.firstId ??= row.id
  if (isOddTime(row.at, survey.session.startedAt)) {
    survey.oddTimes = sample(survey.oddTimes, row.id)
  }
  if (row.at !== null) survey.lastAt = Math.max(survey.lastAt ?? row.at, row.at)
  if (isLed) {
    survey.handoffs = sample(survey.handoffs, row.id)
    const isTorn = row.state === 'live' && row.text.includes(TORN_MARK)
    if (isTorn) survey.torn = sample(survey.torn, row.id)
  }
  const { endReason, endedAt } = survey.session
  if (survey.rows === 1) survey.isEndedEarly = isBefore(endedAt, row.at, survey.session.startedAt)
  const isClosed = endReason === 'compression' && endedAt !== null && !survey.isEndedEarly
  if (isClosed && row.state !== 'rewound' && row.at !== null && row.at > endedAt) {
    survey.late = sample(survey.late, row.id)
  }
  if (row.role === 'assistant' && survey.denials.length < SAMPLE_MAX && soundsForgetful(row.text)) {
    survey.denials = [...survey.denials, { id: row.id, askedId: survey.lastUserId }]
  }
}

/** Before its beginning and its first row: a stamp that says nothing about when it was closed. */
export function isBefore(
  endedAt: number | null,
  firstAt: number | null,
  startedAt: number | null,
): boolean {
  if (endedAt === null || firstAt === null || startedAt === null) return false
  return endedAt < startedAt && endedAt < firstAt
}

const YEARS_SECONDS = 10 * 365 * 86_400

function isOddTime(at: number | null, startedAt: number | null): boolean {
  if (at === null || at < 0) return true
  return startedAt !== null && Math.abs(at - startedAt) > YEARS_SECONDS
}

function noteCopies(
  survey: SessionSurvey,
  row: HermesRow,
  parent: SessionSurvey | undefined,
): void {
  const mark = markOf(row)
  if (mark === null || row.state === 'rewound') return
  if (parent?.marks.has(mark)) {
    survey.carried = sample(survey.carried, row.id)
    survey.carriedMarks ??= new Set()
    survey.carriedMarks.add(mark)
  }
  // Compaction in place leaves an archived original and its live copy.
  if (row.state === 'live' && survey.marks.isLive(mark)) {
    survey.doubled = sample(survey.doubled, row.id)
  }
  survey.marks.note(mark, row)
}

function notePairs(survey: SessionSurvey, row: HermesRow): void {
  if (row.callIds === null) survey.unreadableCalls = sample(survey.unreadableCalls, row.id)
  for (const id of row.callIds ?? []) {
    survey.openCalls ??= new Map()
    survey.openCalls.set(id, row.id)
  }
  for (const [other, id] of row.otherNames ?? []) {
    survey.otherNames ??= new Map()
    survey.otherNames.set(other, id)
    const [oldest] = survey.otherNames.keys()
    if (survey.otherNames.size > OPEN_CALLS_MAX) survey.otherNames.delete(oldest ?? '')
  }
  if (survey.openCalls !== null) giveUp(survey, survey.openCalls, row.id)
  if (row.role !== 'tool' || row.toolCallId === null) return
  const call = survey.otherNames?.get(row.toolCallId) ?? row.toolCallId
  const mark = callMark(call)
  if (survey.openCalls?.delete(call) === true) {
    survey.answered ??= new Marks()
    survey.answered.note(mark, row)
    if (survey.openCalls.size === 0) survey.openCalls = null
  } else if (survey.answered?.has(mark) !== true) {
    survey.strayResults = sample(survey.strayResults, row.id)
  }
}

/** Drops whole rows, oldest first, but never the newest. */
function giveUp(survey: SessionSurvey, openCalls: Map<string, number>, newestId: number): void {
  let givenUp: number | null = null
  for (const [call, rowId] of openCalls) {
    if (rowId !== givenUp) {
      if (openCalls.size <= OPEN_CALLS_MAX || rowId === newestId) return
      survey.abandoned = sample(survey.abandoned, rowId)
      givenUp = rowId
    }
    openCalls.delete(call)
  }
}

function noteBurst(survey: SessionSurvey, row: HermesRow, isLed: boolean): void {
  const at = row.at ?? 0
  const step = survey.rows === 1 ? 0 : at - survey.lastRowAt
  if (step > 0 && step < BURST_STEP_SECONDS) {
    const firstId = survey.lastId
    survey.run ??= {
      ...{ firstId, firstAt: survey.lastRowAt, lastId: firstId, rows: 1 },
      isAlone: survey.rows - 2 === survey.rewound,
      handoffId: survey.isLastHandoff ? firstId : null,
      hasTools: false,
    }
    survey.run.lastId = row.id
    survey.run.rows += 1
    if (isLed) survey.run.handoffId ??= row.id
    if (row.role === 'tool' || row.callIds?.length !== 0) survey.run.hasTools = true
    if (survey.run.handoffId !== null) survey.burst = survey.run
  } else survey.run = null
  survey.lastId = row.id
  survey.lastRowAt = at
  survey.isLastHandoff = isLed
}

/** The existing sample, or a new one in place of `NONE`. */
function sample(into: Sample, id: number): Sample {
  if (into === NONE) return { count: 1, ids: [id] }
  into.count += 1
  if (into.ids.length < SAMPLE_MAX) into.ids.push(id)
  return into
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

/** Written out, because an object built by spreading becomes a hash table of 1.5 kB. */
function blank(session: HermesSession): SessionSurvey {
  return {
    session,
    rows: 0,
    live: 0,
    archived: 0,
    rewound: 0,
    firstId: null,
    oddTimes: NONE,
    lastAt: null,
    bornAfterId: Number.POSITIVE_INFINITY,
    handoffs: NONE,
    torn: NONE,
    isEndedEarly: false,
    late: NONE,
    carried: NONE,
    doubled: NONE,
    strayResults: NONE,
    openCalls: null,
    otherNames: null,
    abandoned: NONE,
    answered: null,
    unreadableCalls: NONE,
    denials: NO_DENIALS,
    burst: null,
    run: null,
    marks: new Marks(),
    carriedMarks: null,
    lastId: 0,
    lastRowAt: 0,
    isLastHandoff: false,
    lastLiveId: null,
    lastUserId: null,
  }
}
