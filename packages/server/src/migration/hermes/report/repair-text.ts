import { counted } from '../findings/finding.ts'
import type { Change, RepairReport } from '../repair/report.ts'

/** A repair report for people: every change, what was left and why, and what to do next. */
export function renderRepair(report: RepairReport): string {
  const { path, to, routingFile, changes, left, remarks } = report
  return [
    `${to} is a repaired copy of ${path}, which is as it was.`,
    ...remarks.map((remark) => `  ${remark}`),
    '',
    changes.length === 0
      ? 'Nothing had to be changed.'
      : `${counted(changes.length, 'change')}; nothing was removed:`,
    ...changes.map((change) => `  ${sentenceOf(change)}`),
    ...(left.length === 0 ? [] : ['', 'Left as it is:']),
    ...left.map(
      ({ title, sessionIds, advice }) => `  ${title} (${sessionIds.join(', ')})\n      ${advice}`,
    ),
    '',
    'Foreign keys, integrity and the search index were checked.',
    `To use it, stop Hermes, put it in the location of state.db${routingFile === null ? '' : `, and ${routingFile} in the location of sessions/sessions.json`}.`,
  ]
    .map((line) => `${unseen(line)}\n`)
    .join('')
}

function sentenceOf(change: Change): string {
  switch (change.kind) {
    case 'session-added':
      return `Session ${change.sessionId} was named and not there; it was added.`
    case 'session-reopened':
      return `Session ${change.sessionId} is open again: nothing continued it.`
    case 'shell-closed':
      return `Session ${change.sessionId} is closed: an empty shell behind ${change.parentId}.`
    case 'branch-closed':
      return `Session ${change.sessionId} is a branch of ${change.parentId} now and closed; ${change.tip} goes on.`
    case 'session-detached':
      return change.why === 'circle'
        ? `Session ${change.sessionId} now starts its conversation: its parent ${change.parentId} descended from it.`
        : `Session ${change.sessionId} no longer names ${change.parentId} as its parent: this version of Hermes would follow it there.`
    case 'closing-moved':
      return `Session ${change.sessionId} ends where ${change.next} begins: this version of Hermes looks only for sessions that began after the end.`
    case 'row-appended':
      return `Row ${change.ofRowId} of ${change.ofSessionId} was appended to ${change.sessionId} as row ${change.rowId}.`
    case 'route-moved':
      return `Route ${change.key} leads to ${change.to} instead of ${change.from}.`
    case 'reference-cleared':
      return `"${change.column}" in "${change.table}" named ${change.value}, which is nowhere; it is empty now.`
    case 'index-rebuilt':
      return `The index ${change.table} did not fit its rows and was built anew.`
    default:
      return change satisfies never
  }
}

/** Foreign ids may contain control characters, which a terminal must not execute. */
function unseen(line: string): string {
  return line.replace(/\p{Cf}|(?!\n)\p{Cc}/gu, '\ufffd')
}
