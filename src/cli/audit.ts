import { statSync } from 'node:fs'
import { styleText } from 'node:util'
import { Command } from 'commander'
import { type AuditProgress, type AuditReport, auditLogs } from '../events/audit.ts'
import { LAWS } from '../events/laws.ts'
import { tellAudit } from './audit-report.ts'
import { EXIT } from './exit.ts'
import { commandForm, currentPlace } from './hint.ts'
import { writeOutput } from './output.ts'
import { ProgressLine } from './progress.ts'

interface AuditFlags {
  readonly store?: string
  readonly json?: true
}

export function auditCommand(): Command {
  return new Command('audit')
    .description('Proves from audit logs that no session lost its identity or a message.')
    .argument('<log...>', 'audit logs, one per process, in any order; - is standard input')
    .option('--store <file>', 'hold the logs against this SQLite store, which is only read')
    .option('--json', 'print the verdicts as JSON')
    .addHelpText('after', () => helpAfter(commandForm(currentPlace())))
    .action(async (logs: string[], flags: AuditFlags) => {
      process.exitCode = await runAudit(logs, flags)
    })
}

const helpAfter = (program: string) => `
Exit codes:
  0  every law holds
  1  a law is broken; the lines that break it are shown
  2  wrong usage, or a log or store that cannot be read

Examples:
  ${program} audit audit/*.jsonl
  ${program} audit audit/*.jsonl --store throughline.db --json`

async function runAudit(paths: readonly string[], flags: AuditFlags): Promise<number> {
  // Asked for only here: the other commands must not pay for loading SQLite.
  const { openWitness } = await import('./audit-store.ts')
  const store = flags.store === undefined ? null : openWitness(flags.store)
  const progress = new ProgressLine('Reading the logs')
  try {
    const onProgress = (at: AuditProgress) => progress.update(progressText(at))
    const report = await auditLogs({ paths, witness: store, onProgress })
    progress.end()
    const text = flags.json ? `${JSON.stringify(plain(report), undefined, 2)}\n` : forPeople(report)
    await writeOutput('-', text)
    return report.holds ? EXIT.done : EXIT.failed
  } finally {
    progress.end()
    store?.close()
  }
}

function forPeople(report: AuditReport): string {
  const { stdout } = process
  return tellAudit(report, (colour, text) => styleText(colour, text, { stream: stdout }))
}

function plain({ holds, laws, figures, logs }: AuditReport) {
  const told = laws.map((law) => {
    const { title, contract, advice } = LAWS[law.law]
    return { ...law, title, contract, ...(law.holds ? {} : { advice }) }
  })
  return { holds, laws: told, figures, logs }
}

function progressText(at: AuditProgress): string {
  switch (at.stage) {
    case 'logs': {
      const size = at.path === '-' ? 0 : statSync(at.path).size
      const share = size === 0 ? '' : `, ${Math.floor((100 * at.bytes) / size)} %`
      return `Reading ${at.path}${share}`
    }
    case 'store':
      return `Reading the store, ${at.rows} rows`
    case 'lines':
      return 'Fetching the lines that break a law'
    default:
      return at satisfies never
  }
}
