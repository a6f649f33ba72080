import {
  type AuditLawName,
  type AuditVerdict,
  LOG_LAWS,
  type Offence,
  STORE_LAWS,
  verdictsOf,
} from './laws/laws.ts'
import { type Figures, Prover } from './laws/prover.ts'
import { inAscii } from './log/line.ts'
import { AuditLogError, type LogSummary, readAuditLog } from './log/read-log.ts'
import { EvidenceCheck, type StoreEvidence } from './store-evidence.ts'

/**
 * Reads logs, checks the laws and shows the lines that break them. Logs are read a second time only
 * if a law is broken, to fetch the offending lines, which are not kept in memory.
 */
export interface AuditRequest {
  readonly paths: readonly string[]
  /** Null: check the logs alone. */
  readonly witness: StoreEvidence | null
  readonly onProgress?: (progress: AuditProgress) => void
}

export type AuditProgress =
  | { readonly stage: 'logs'; readonly path: string; readonly bytes: number }
  | { readonly stage: 'store'; readonly rows: number }
  | { readonly stage: 'lines' }

export interface QuotedLine {
  readonly path: string
  readonly line: number
  /** Printable ASCII, clipped; null when the log cannot be read again. */
  readonly text: string | null
}

export interface Broken {
  readonly problem: string
  readonly sessionId: string | null
  readonly lines: readonly QuotedLine[]
}

export interface JudgedLaw extends Omit<AuditVerdict, 'offences'> {
  readonly offences: readonly Broken[]
}

export interface AuditReport {
  readonly holds: boolean
  readonly laws: readonly JudgedLaw[]
  readonly figures: Readonly<Figures>
  readonly logs: readonly (LogSummary & { readonly path: string })[]
}

export async function auditLogs({
  paths,
  witness,
  onProgress,
}: AuditRequest): Promise<AuditReport> {
  const prover = new Prover()
  const logs: (LogSummary & { path: string })[] = []
  const known = new Map<string, string>()
  for (const [file, path] of paths.entries()) {
    const summary = await readAuditLog(path, {
      line(line, number) {
        const other = known.get(line.log)
        if (number === 1 && other !== undefined) {
          throw new AuditLogError({
            path,
            problem: `it is the same log as ${other}. Name it once.`,
          })
        }
        if (number === 1) known.set(line.log, path)
        prover.read({ line, mark: { file, line: number } })
      },
      damage(problem, number) {
        const marks = [{ file, line: number }]
        prover.findings.broken({ law: 'whole', problem, sessionId: null, marks })
      },
      progress: (bytes) => onProgress?.({ stage: 'logs', path, bytes }),
    })
    logs.push({ path, ...summary })
  }
  const [first] = logs
  if (witness === null && first !== undefined && logs.every(({ lines }) => lines === 0)) {
    throw new AuditLogError({ path: first.path, problem: 'there is no audit line in it.' })
  }

  const check = witness === null ? null : new EvidenceCheck(witness, prover)
  await check?.run((rows) => onProgress?.({ stage: 'store', rows }))
  prover.judge(check)

  const laws: readonly AuditLawName[] = witness === null ? LOG_LAWS : [...LOG_LAWS, ...STORE_LAWS]
  const verdicts = verdictsOf(prover.findings, laws)
  const holds = verdicts.every((verdict) => verdict.holds)
  if (!holds) onProgress?.({ stage: 'lines' })
  const quote = holds ? () => [] : await quotesFor(paths, verdicts)
  const judged = verdicts.map((verdict) => ({
    ...verdict,
    offences: verdict.offences.map((offence) => ({
      problem: shown(offence.problem),
      sessionId: offence.sessionId === null ? null : shown(offence.sessionId),
      lines: quote(offence),
    })),
  }))
  return { holds, laws: judged, figures: prover.figures, logs }
}

async function quotesFor(
  paths: readonly string[],
  verdicts: readonly AuditVerdict[],
): Promise<(offence: Offence) => readonly QuotedLine[]> {
  const offences = verdicts.flatMap((verdict) => verdict.offences)
  const wanted = new Map<string, string | null>()
  for (const { marks } of offences) for (const mark of marks) wanted.set(nameOf(mark), null)
  const admissions = new Map<string, QuotedLine | null>()
  for (const { sessionId, mail } of offences) {
    if (mail !== undefined) admissions.set(`${mail} ${sessionId}`, null)
  }
  for (const [file, path] of paths.entries()) {
    if (path === '-') continue
    await readAuditLog(path, {
      line(line, number, text) {
        const name = nameOf({ file, line: number })
        if (wanted.has(name)) wanted.set(name, text)
        if (line.kind !== 'message admitted') return
        const admission = `${line.mailbox?.from} ${line.sessionId}`
        if (admissions.has(admission)) admissions.set(admission, { path, line: number, text })
      },
      damage(_problem, number, text) {
        const name = nameOf({ file, line: number })
        if (wanted.has(name)) wanted.set(name, shown(text))
      },
    })
  }
  return ({ marks, sessionId, mail }) => {
    const lines = marks.map((mark) => ({
      path: paths[mark.file] ?? '',
      line: mark.line,
      text: wanted.get(nameOf(mark)) ?? null,
    }))
    const admission = mail === undefined ? null : (admissions.get(`${mail} ${sessionId}`) ?? null)
    return admission === null ? lines : [admission, ...lines]
  }
}

function nameOf({ file, line }: { readonly file: number; readonly line: number }): string {
  return `${file}:${line}`
}

const QUOTE_LENGTH_MAX = 400

function shown(text: string): string {
  const clipped = inAscii(text.slice(0, QUOTE_LENGTH_MAX))
  return text.length > QUOTE_LENGTH_MAX ? `${clipped}...` : clipped
}
