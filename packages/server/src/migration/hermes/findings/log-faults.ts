import type { LogEvent } from '../read/log-event.ts'
import { counted, type Finding, finding, lineEvidence } from './finding.ts'
import type { Operation } from './operations.ts'

/** Faults that only the log shows: failed summaries, long pauses, dropped messages. */
export function findTornSummaries(pairs: readonly Operation[]): Finding[] {
  return pairs.flatMap(({ started, done, failures }) => {
    const { before, after, sessionId } = done.fact
    const failure = failures.at(-1)
    if (failure?.fact.kind !== 'summary-failed' || after >= before) return []
    const { error } = failure.fact
    const cause = causeOf(error)
    return [
      finding({
        kind: 'torn-summary',
        severity: 'harm',
        certainty: 'certain',
        sessionIds: [...new Set([started.fact.sessionId, sessionId])],
        title: `A compaction dropped ${counted(before - after, 'message')} without a summary of them`,
        explanation:
          `${CAUSES[cause]} The compaction went on all the same and kept ${after} of ${before} messages, ` +
          'with a stand-in text where the summary belongs. The agent continued without the middle of its work.',
        advice:
          'The rows are still in the store. Raise the time limit of the auxiliary model if it was a timeout; ' +
          'importing writes the summary anew from the rows.',
        from: started.at,
        to: done.at,
        clock: 'log',
        facts: { cause, error, messagesBefore: before, messagesAfter: after },
        lines: [started, failure, done].map(lineEvidence),
      }),
    ]
  })
}

type Cause = 'interrupted' | 'timeout' | 'connection' | 'other'

const CAUSES: { readonly [cause in Cause]: string } = {
  interrupted:
    'The call for the summary was interrupted: a message or a notification arrived while it ran.',
  timeout: 'The call for the summary ran out of time.',
  connection: 'The call for the summary failed on its connection.',
  other: 'The call for the summary failed.',
}

function causeOf(error: string): Cause {
  if (/interrupt/i.test(error)) return 'interrupted'
  if (isTimeout(error)) return 'timeout'
  return isConnectionError(error) ? 'connection' : 'other'
}

export function isTimeout(error: string): boolean {
  return /timed out|timeout/i.test(error)
}

export function isConnectionError(error: string): boolean {
  return /connection error|connection reset|client has been closed/i.test(error)
}

const SKIPS_MIN = 3

export function findPauses(events: readonly LogEvent[]): Finding[] {
  const skips = new Map<string, LogEvent[]>()
  const findings: Finding[] = []
  const settle = (sessionId: string) => {
    const lines = skips.get(sessionId) ?? []
    skips.delete(sessionId)
    if (lines.length < SKIPS_MIN) return
    findings.push(
      finding({
        kind: 'stuck-compaction',
        severity: 'risk',
        certainty: 'certain',
        sessionIds: [sessionId],
        title: `Compaction was due ${lines.length} times and skipped each time`,
        explanation:
          `${sessionId} was over its threshold, and each turn skipped compaction because of the pause after a failed summary. ` +
          'Its context only grew meanwhile.',
        advice:
          'Mend the auxiliary model, then send /compress in that conversation: it clears the pause.',
        from: lines[0]?.at ?? null,
        to: lines.at(-1)?.at ?? null,
        clock: 'log',
        facts: { skipped: lines.length },
        lines: lines.slice(0, LINES_MAX).map(lineEvidence),
      }),
    )
  }
  for (const event of events) {
    if (event.fact.kind === 'skipped') {
      const { sessionId } = event.fact
      const lines = skips.get(sessionId)
      if (lines === undefined) skips.set(sessionId, [event])
      else lines.push(event)
    }
    if (event.fact.kind === 'done') settle(event.fact.sessionId)
  }
  for (const sessionId of [...skips.keys()]) settle(sessionId)
  return findings
}

const LINES_MAX = 50

export function findDropped(events: readonly LogEvent[]): Finding[] {
  const dropped = Map.groupBy(
    events.filter(({ fact }) => fact.kind === 'dropped'),
    ({ fact }) => (fact.kind === 'dropped' ? fact.key : ''),
  )
  return [...dropped].map(([key, lines]) =>
    finding({
      kind: 'dropped-message',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: [],
      title: `${counted(lines.length, 'message was', 'messages were')} dropped because the queue was full`,
      explanation: `While the agent behind ${key} was busy its queue reached the limit; what came then was thrown away and stands nowhere.`,
      advice: 'Ask the senders to repeat; the platform may still have the messages.',
      from: lines[0]?.at ?? null,
      to: lines.at(-1)?.at ?? null,
      clock: 'log',
      facts: { key, messages: lines.length },
      lines: lines.slice(0, LINES_MAX).map(lineEvidence),
    }),
  )
}
