import type { Burst, SessionSurvey } from '../diagnose/survey.ts'
import { counted, type Finding, finding, readEvidence } from './finding.ts'
import type { StoreView } from './identity.ts'
import type { Operation } from './operations.ts'

/**
 * Anomaly B in the store: all rows of a session were deleted and replaced by a shortened list. The
 * rewriter read the clock once and added a microsecond per row, which nothing else does; a handoff
 * among the rows shows that it was a compaction and not an undo.
 *
 * The store does not record how many rows were deleted. The ids missing before the first row are an
 * upper bound: /undo and /retry rewrite a session in the same way, so a row that they wrote again
 * used two ids. Nothing else helps: triggers remove deleted rows from the search tables,
 * `sqlite_sequence` has only the last id, and `message_count` is reset. The log, if present, counts
 * the messages that the compaction read, without tool rows: a lower bound.
 */
const ROWS_SURE = 5
/** A continuation rewritten while it was being created lost nothing: its parent has the rows. */
const BIRTH_SECONDS = 60
/** The time between a log line and its rewrite, apart from the time zone of the log. */
const LOG_SECONDS = 60
const ZONE_STEP_SECONDS = 900
const ZONE_SECONDS_MAX = 14 * 3_600

interface Rewrite {
  readonly survey: SessionSurvey
  readonly burst: Burst
  readonly gone: number
  /** No row of the session precedes it. */
  readonly isWhole: boolean
}

export function findRewrites(view: StoreView, logged: readonly Operation[]): Finding[] {
  if (view.schema.isExport) return []
  const rewrites = [...view.survey.sessions.values()].flatMap((survey) => rewriteOf(survey, view))
  return rewrites.map((rewrite) => tell(rewrite, { view, rewrites, read: readBy(rewrite, logged) }))
}

/** How many messages the compaction read, by the log; null: nothing plausible is logged. */
function readBy({ survey, burst, gone }: Rewrite, logged: readonly Operation[]): number | null {
  const own = logged.findLast(
    ({ done: { at, fact } }) =>
      fact.sessionId === survey.session.id &&
      fact.after === burst.rows &&
      at !== null &&
      isSameMoment(at - burst.firstAt),
  )
  const before = own?.done.fact.before ?? null
  return before === null || before > gone ? null : before
}

function rewriteOf(survey: SessionSurvey, view: StoreView): Rewrite[] {
  const { session, burst } = survey
  if (burst === null) return []
  const gone = view.survey.missingBetween(survey.bornAfterId, burst.firstId)
  if (gone === 0 && (burst.rows < ROWS_SURE || session.origin !== null)) return []
  const isWhole = survey.firstId === burst.firstId
  // A rewrite leaves no rows before it, so a short run of microseconds has another cause.
  if (!isWhole && (gone === 0 || burst.rows < ROWS_SURE)) return []
  // Compaction in place also writes such runs after what it archives, some versions every turn.
  if (!burst.isAlone) return []
  const continuesAnother = view.lineage.rootOf(session.id) !== session.id
  const age = burst.firstAt - (session.startedAt ?? Number.POSITIVE_INFINITY)
  // It begins with a handoff, which every undo writes again.
  if (continuesAnother && (gone === 0 || age < BIRTH_SECONDS || burst.hasTools)) return []
  return [{ survey, burst, gone, isWhole }]
}

function tell(
  { survey, burst, gone, isWhole }: Rewrite,
  {
    view,
    rewrites,
    read,
  }: {
    readonly view: StoreView
    readonly rewrites: readonly Rewrite[]
    readonly read: number | null
  },
): Finding {
  const { session, bornAfterId } = survey
  const at = burst.firstAt
  const ids = [burst.firstId, burst.handoffId ?? burst.firstId, burst.lastId]
  const times = [session.startedAt, view.survey.clockAt(bornAfterId)]
  const began = times.find((time) => time !== null && time < at) ?? null
  // Some missing ids may belong to another session.
  const isShared = rewrites.some(
    (other) =>
      other.survey !== survey &&
      other.survey.bornAfterId < burst.firstId &&
      bornAfterId < other.burst.firstId,
  )
  const isRoot = view.lineage.rootOf(session.id) === session.id
  const isSure = gone > 0 && burst.rows >= ROWS_SURE && isWhole && isRoot
  const goneText =
    gone === 0
      ? 'No row numbers are missing before it, so how much was deleted cannot be told.'
      : `${counted(gone, 'row number is', 'row numbers are')} missing between the beginning of the session and the rewrite: the deleted rows, and others if anything was deleted in that time for another reason (/undo and /retry write a whole session again${isShared ? '; another session was rewritten meanwhile' : ''}).`
  const logText =
    read === null
      ? ''
      : ` The log says that the compaction read ${counted(read, 'message')}, tool rows not counted.`
  return finding({
    kind: 'destructive-rewrite',
    severity: 'harm',
    certainty: isSure ? 'certain' : 'suspected',
    sessionIds: [session.id],
    title:
      gone === 0
        ? 'A session was deleted and written anew in a shorter form'
        : `${amountOf(gone, read)} deleted, and ${burst.rows} written in their place`,
    explanation:
      `Rows ${burst.firstId} to ${burst.lastId} of ${session.id} are a microsecond apart and hold a summary: ` +
      'the gateway compacted the session outside of the agent and replaced its transcript, deleting every row first. ' +
      `${goneText}${logText} ${
        burst.hasTools
          ? 'An undo later wrote the session again, with the tool calls made since.'
          : 'Tool calls and results are not among what was written back.'
      }`,
    advice:
      'The database cannot give the rows back. Look for a backup of state.db, for its -wal file of that day, ' +
      'for JSONL transcripts in sessions/, and for inbound messages in the logs.',
    from: began,
    to: at,
    facts: {
      sessionId: session.id,
      rowsGone: gone,
      isUpperBound: read !== gone,
      rowsGoneAtLeast: read,
      rowsWritten: burst.rows,
      rewrittenAt: at,
      toolCallsCounted: session.toolCallCount,
    },
    rows: readEvidence([...new Set(ids)], view.read),
    rowCount: burst.rows,
  })
}

function isSameMoment(seconds: number): boolean {
  const zone = Math.round(seconds / ZONE_STEP_SECONDS) * ZONE_STEP_SECONDS
  return Math.abs(zone) <= ZONE_SECONDS_MAX && Math.abs(seconds - zone) <= LOG_SECONDS
}

function amountOf(gone: number, read: number | null): string {
  const rows = counted(gone, 'row of a session was', 'rows of a session were')
  if (read === null) return `Up to ${rows}`
  return read === gone ? rows : `${read} to ${rows}`
}
