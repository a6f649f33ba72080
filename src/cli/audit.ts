import { statSync } from 'node:fs'
import { Command } from 'commander'
import { type AuditProgress, type AuditReport, auditLogs } from '../events/audit.ts'
import { LAWS } from '../events/laws.ts'
import { tellAudit } from './audit-report.ts'
import { EXIT } from './exit.ts'
import { withHelp } from './help.ts'
import { writeOutput } from './output.ts'
import { paintOn } from './paint.ts'
import { ProgressLine } from './progress.ts'

interface AuditFlags {
  readonly store?: string
  readonly json?: true
}

export function auditCommand(): Command {
  const command = new Command('audit')
    .summary('prove what happened: no session lost its identity or a message')
    .description(
      'Proves from audit logs what happened: that no session lost its identity or a message. ' +
        '`doctor` finds what is broken, `rehearse` plays the worst day on this machine.',
    )
    .argument('<log...>', 'audit logs, one per process, in any order; - is standard input')
    .option(
      '--store <place>',
      'hold the logs against this store, a SQLite file or postgres://…; it is only read',
    )
    .option('--json', 'print the verdicts as JSON')
    .action(async (logs: string[], flags: AuditFlags) => {
      process.exitCode = await runAudit(logs, flags)
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'every law holds'],
      [EXIT.failed, 'a law is broken; the lines that break it are shown'],
      [EXIT.usage, 'wrong usage, or a log or store that cannot be read'],
    ],
    examples: [
      'throughline audit .throughline/audit/*.jsonl',
      'throughline audit .throughline/audit/*.jsonl --store .throughline/throughline.db --json',
    ],
  })
}

async function runAudit(paths: readonly string[], flags: AuditFlags): Promise<number> {
  // Asked for only here: the other commands must not pay for loading SQLite.
  const { openForReading } = await import('../runtime/open-store.ts')
  const store =
    flags.store === undefined ? null : await openForReading({ url: flags.store }, process.env)
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
    await store?.close()
  }
}

function forPeople(report: AuditReport): string {
  return tellAudit(report, paintOn(process.stdout))
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
