import { counted } from '../migration/hermes/findings/finding.ts'
import type { OwnDiagnosis, OwnFinding } from './finding.ts'

/** The state of one of our stores for people, worst first. */
export function renderOwn({ store, sessions, findings, fixed }: OwnDiagnosis): string {
  const rank = { fault: 0, warning: 1, note: 2 }
  const sorted = findings.toSorted((one, other) => rank[one.severity] - rank[other.severity])
  const shown = sorted.slice(0, FINDINGS_MAX)
  const verdict =
    findings.length === 0
      ? 'Nothing is wrong.'
      : `${counted(findings.length, 'finding')}, ${findings.filter(isFault).length} of them faults.`
  return [
    `${store}: ${counted(sessions, 'session')} in the store. ${verdict}`,
    ...shown.flatMap((finding) => ['', ...render(finding)]),
    ...(sorted.length > shown.length ? ['', `And ${sorted.length - shown.length} more.`] : []),
    ...(fixed.length > 0 ? ['', 'Repaired:', ...fixed.map((line) => `  ${line}`)] : []),
    '',
  ].join('\n')
}

const FINDINGS_MAX = 200
const NAMES_MAX = 8

function render({ kind, severity, what, since, advice, sessionIds }: OwnFinding): string[] {
  const time = since === null || !isMoment(since) ? '' : `  since ${new Date(since).toISOString()}`
  const unnamed = sessionIds.filter((id) => !what.includes(id))
  return [
    `${severity.toUpperCase()}  ${kind}${time}`,
    `  ${what}`,
    ...(unnamed.length > 0 ? [`  In ${namesOf(unnamed)}.`] : []),
    `  ${advice}`,
  ]
}

function namesOf(ids: readonly string[]): string {
  const shown = ids.slice(0, NAMES_MAX)
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : ''
  return `${ids.length === 1 ? 'session' : 'sessions'} ${shown.join(', ')}${more}`
}

/** A damaged row may contain any value. */
function isMoment(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime())
}

function isFault({ severity }: OwnFinding): boolean {
  return severity === 'fault'
}
