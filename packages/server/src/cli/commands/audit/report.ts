import type { AuditReport, JudgedLaw } from '#core/audit/audit'
import { AUDIT_LAWS } from '#core/audit/laws/laws'
import type { Paint } from '../../terminal/colours.ts'
import { countText, grouped } from '../../terminal/format.ts'

/** Offences listed per law; `--json` lists more, and the count is always complete. */
const OFFENCES_LISTED_MAX = 3

/** The verdicts for people: one row per law, the lines that break it, and what to do. */
export function renderAudit(report: AuditReport, paint: Paint): string {
  const broken = report.laws.filter((law) => !law.holds).length
  const verdict =
    broken === 0
      ? paint('green', `All ${report.laws.length} laws hold.`)
      : paint('red', `${broken} of ${report.laws.length} laws broken.`)
  const lines = [
    figuresOf(report),
    '',
    ...report.laws.flatMap((law) => rowOf(law, paint)),
    '',
    verdict,
    ...notesOf(report),
  ]
  return `${lines.join('\n')}\n`
}

function figuresOf({ figures, logs }: AuditReport): string {
  const { lines, sessions, compactions, messages, meanwhile, waiting } = figures
  return [
    countText(logs.length, 'log'),
    countText(lines, 'line'),
    `${countText(sessions, 'session')} in them`,
    countText(compactions, 'compaction'),
    `${countText(messages, 'message')} (${grouped(meanwhile)} arrived during compactions, ${grouped(waiting)} still queued)`,
  ].join(', ')
}

function rowOf(law: JudgedLaw, paint: Paint): readonly string[] {
  const { title, contract, advice } = AUDIT_LAWS[law.law]
  const numbers = paint('dim', `(${contract.join(', ')})`)
  if (law.holds) {
    const open = law.unproven === null ? [] : [`    ${paint('yellow', unprovenText(law))}`]
    return [`${paint('green', '✓')} ${title} ${numbers}`, ...open]
  }
  const listed = law.offences.slice(0, OFFENCES_LISTED_MAX)
  const rest = law.offencesCount - listed.length
  return [
    `${paint('red', '✗')} ${paint('bold', title)} ${numbers}`,
    ...listed.flatMap(({ sessionId, problem, lines }) => [
      `    ${sessionId === null ? '' : `${sessionId}: `}${problem}`,
      ...lines.map(({ path, line, text }) => `      ${path}:${line}${text ? `  ${text}` : ''}`),
    ]),
    ...(rest > 0 ? [`    and ${grouped(rest)} more`] : []),
    `    What to do: ${advice}`,
  ]
}

function unprovenText({ unproven }: JudgedLaw): string {
  const { count = 0, first = '' } = unproven ?? {}
  const others = count > 1 ? ` and ${grouped(count - 1)} more` : ''
  return `not in the logs: ${first}${others}; a process died before it could write the line`
}

function notesOf({ laws, logs }: AuditReport): readonly string[] {
  const torn = logs.filter((log) => log.isTorn).map((log) => log.path)
  const isStoreGiven = laws.some(({ law }) => law.startsWith('store-'))
  const isOpen = laws.some((law) => law.unproven !== null)
  return [
    ...torn.map(
      (path) => `note: the last line of ${path} is torn: its process was killed while writing it.`,
    ),
    ...(isOpen && !isStoreGiven
      ? ['note: name the store with --store to check what the logs do not contain.']
      : []),
  ]
}
