import type { InputLane } from '../../store/tables/rows.ts'
import type { AuditFindings } from './laws.ts'
import { RangeSet } from './ranges.ts'
import type { SessionRecord } from './session-record.ts'
import type { Span } from './span.ts'

const INPUT_LANES = ['user', 'notification'] as const

/**
 * Checks that acknowledged messages were delivered, after all logs were read: one process may admit
 * a message, another withdraw it and a third deliver it. Returns how many still wait.
 */
export function judgeDelivery(
  sessionId: string,
  session: SessionRecord,
  findings: AuditFindings,
): number {
  const spans = session.inOrder()
  const law = 'delivery'
  let waiting = 0
  const doubled = findDoubled(session)
  if (doubled !== null) {
    const problem = `message ${doubled} was admitted twice`
    findings.broken({ law, problem, sessionId, marks: [], mail: doubled })
  }
  for (const lane of INPUT_LANES) {
    judgeOrder(sessionId, spans, lane, findings)
    const delivered = session.delivered[lane]
    for (const { from, to } of session.admitted[lane].without(delivered, session.withdrawn)) {
      if (from > delivered.max) waiting += to - from + 1
      else if (isUntold(spans, lane, from)) findings.open(law, `message ${from} of ${sessionId}`)
      else {
        const problem = `message ${from} (${lane}) was passed over: ${delivered.max} was delivered`
        findings.broken({ law, problem, sessionId, marks: [], mail: from })
      }
    }
  }
  for (const span of spans) {
    for (const { from, to, marks } of span.leftWaiting ?? []) {
      const left = new RangeSet()
      left.add(from, to)
      const missing = intersect(left, session.admitted.user, session.withdrawn)
      if (missing === null) continue
      const problem = `message ${missing} arrived during a compaction, and the next turn did not take it`
      findings.broken({ law, problem, sessionId, marks, mail: missing })
    }
  }
  return waiting
}

function findDoubled({ admitted }: SessionRecord): number | null {
  const all = new RangeSet()
  for (const lane of ['control', ...INPUT_LANES] as const) {
    const { doubled } = admitted[lane]
    if (doubled !== null) return doubled
    for (const { from, to } of admitted[lane].ranges()) all.add(from, to)
  }
  return all.doubled
}

/** The first number that is in both and not in `gone`. */
function intersect(left: RangeSet, right: RangeSet, gone: RangeSet): number | null {
  const outside = new RangeSet()
  for (const { from, to } of left.without(right)) outside.add(from, to)
  for (const { from } of left.without(outside, gone)) return from
  return null
}

function judgeOrder(
  sessionId: string,
  spans: readonly Span[],
  lane: InputLane,
  findings: AuditFindings,
): void {
  let newest = 0
  for (const { delivered } of spans) {
    const own = delivered[lane]
    if (own === null) continue
    if (own.from <= newest) {
      const problem = `message ${own.from} comes after message ${newest}, or twice`
      findings.broken({ law: 'delivery', problem, sessionId, marks: [own.first] })
    }
    newest = Math.max(newest, own.to)
  }
}

/**
 * Whether the delivery of a message may have been committed by a process that died before it could
 * write the line: the transcript had grown when the next holder acquired it.
 */
function isUntold(spans: readonly Span[], lane: InputLane, mail: number): boolean {
  const next = spans.findIndex(({ delivered }) => (delivered[lane]?.to ?? 0) > mail)
  if (next < 0 || (spans[next]?.delivered[lane]?.from ?? 0) <= mail) return false
  for (let index = next; index > 0; index--) {
    const before = spans[index - 1]
    if (before === undefined) break
    const grown = (spans[index]?.firstEntry ?? 0) > before.lastEntry
    if (!before.isClean && grown) return true
    if ((before.delivered[lane]?.to ?? 0) > 0) break
  }
  return false
}
